#!/bin/bash
# check_capture.sh [-t] [-p UDP_PORT]... FILE...
# Reads captures with tshark as SCTP, raw and in UDP on the given ports (9899, say, or 9899-9900; default 9899), and with -t as TCP, too. Fails when a
# packet is malformed, has a bad checksum or an expert error, or when a file has no SCTP (with -t: no TCP) in it.
# Prints a line per file: packets, chunks by type; and every offending packet.
set -u
ports=() with_tcp=
while getopts p:t option; do
    case $option in
    p) ports+=("$OPTARG") ;;
    t) with_tcp=' || tcp' ;;
    *) sed -n '2,5s/^# //p' "$0" >&2 && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" >&2 && exit 2; }
[ ${#ports[@]} -gt 0 ] || ports=(9899)

# "CRC 32c" in exactly this spelling: any other is accepted and checks nothing.
options=(-n -o "sctp.checksum:CRC 32c" -o ip.check_checksum:FALSE -o sctp.try_heuristic_first:FALSE)
[ -z "$with_tcp" ] || options+=(-o tcp.check_checksum:TRUE)
for port in "${ports[@]}"; do options+=(-d "udp.port==$port,sctp"); done
# User data is ours, not a protocol that tshark could guess from an SCTP port.
options+=(-d sctp.port==0-65535,data)

read_capture() { tshark "${options[@]}" -r "$file" "$@" 2>/dev/null; }

bad_files=0
for file in "$@"; do
    # An ICMP error quotes the start of a packet only, so what it quotes is not judged.
    summary=$(read_capture -Y "(sctp || _ws.malformed$with_tcp) && !icmp && !icmpv6" -T fields -e sctp.chunk_type -e sctp.checksum.status \
        -e _ws.malformed -e _ws.expert.severity -e frame.number -e tcp.checksum.status -E occurrence=a | awk -F'\t' -v tcp="$with_tcp" '
        BEGIN { split("DATA INIT INIT_ACK SACK HEARTBEAT HEARTBEAT_ACK ABORT SHUTDOWN SHUTDOWN_ACK ERROR COOKIE_ECHO COOKIE_ACK ECNE CWR SHUTDOWN_COMPLETE AUTH", name, " ")
                name[17] = "NR_SACK"; name[65] = "I_DATA"; name[129] = "ASCONF_ACK"; name[131] = "RE_CONFIG"; name[133] = "PAD"
                name[193] = "FORWARD_TSN"; name[194] = "ASCONF"; name[195] = "I_FORWARD_TSN" }
        {
            packets++
            count = split($1, chunk, ",")
            for (i = 1; i <= count; i++) {
                if (!(chunk[i] in seen)) order[++kinds] = chunk[i]
                seen[chunk[i]]++
            }
            why = ""
            if ($3 != "") why = why " malformed"
            # 1 is good; a packet with checksum 0 and none checked must not pass either
            if ($6 != "" && tcp) {
                tcp_packets++
                if ($6 != 1) why = why " checksum"
            } else if ($2 !~ /^1(,1)*$/) why = why " checksum"
            split($4, severity, ",")
            for (i in severity) if (severity[i] + 0 >= 8388608) why = why " expert-error"
            if (why != "") { bad++; if (bad <= 10) list = list "\n  packet " $5 ":" why }
        }
        END {
            printf "%d packets, %d bad:", packets, bad
            for (i = 1; i <= kinds; i++) {
                k = order[i]
                printf " %s=%d", ((k + 1) in name) ? name[k + 1] : k, seen[k]
            }
            if (tcp) printf " TCP=%d", tcp_packets
            print list
            exit !((tcp ? tcp_packets : packets) > 0 && bad == 0)
        }')
    status=$?
    if [ "$status" = 0 ]; then
        echo "ok   $file: $summary"
    else
        echo "FAIL $file: $summary"
        bad_files=$((bad_files + 1))
    fi
done
exit $((bad_files > 0))
