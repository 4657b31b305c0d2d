# Sourced by run.sh: new data on both links at once (concurrent multipath transfer, CMT), over wires of 20 Mbit/s and 20 ms.
#
# That CMT happens is seen in the capture: so much of the DATA by each link, and both of them busy at the same time. One case has no CMT:
# there the check must fail.
#
# What a part provides, besides what run.sh lists: $cmt (options that switch CMT on in theirs), and wires of wires.sh.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154
. ./wires.sh

# Long enough that slow start is not all of it: messages of several packets, and many small ones on streams of their own.
combined="--send 750 --size 8192 --streams 4"
half_combined="--send 375 --size 8192 --streams 4"
all_combined=$(received 750 6144000)
all_half_combined=$(received 375 3072000)
small_combined="--send 4000 --size 1000 --streams 10"
all_small_combined=$(received 4000 4000000)
# With RTO.Min of RFC 9260 every timeout is a second in which one link is idle.
short_rto="--rto-min 200 --rto-initial 500 --rto-max 1000"

of_capture() { # FILE FILTER FIELD...: these fields of the packets that it lets through, one a line, separated by tabs
    local file=$1 filter=$2 fields=()
    shift 2
    for field in "$@"; do fields+=(-e "$field"); done
    tshark -n -d udp.port==9899,sctp -d udp.port==9900,sctp -r "$file" -Y "$filter" -T fields -E occurrence=f "${fields[@]}" 2>/dev/null
}

# links_used FILE HOST: how DATA left the host (1: ours, 2: theirs, as its addresses end), in per cent of the bytes by link 1 and by link 2, and
# of the tenths of a second with DATA the per cent in which both links had some.
links_used() {
    of_capture "$1" sctp.data_tsn frame.time_relative ip.src frame.len | awk -v host="$2" '
        split($2, part, ".") == 4 && part[4] == host {
            bytes[part[3]] += $3
            all += $3
            tenth = int($1 * 10)
            if (!((tenth, part[3]) in seen)) {
                seen[tenth, part[3]] = 1
                if (++links[tenth] == 1) used++
                if (links[tenth] == 2) together++
            }
        }
        END { if (all) printf "%d %d %d\n", bytes[1] * 100 / all, bytes[2] * 100 / all, together * 100 / used; else print "0 0 0" }'
}

# by_both_links HOST SHARE TOGETHER: each link has carried SHARE per cent, and both at once in TOGETHER per cent of the time.
by_both_links() {
    local one two at_once said
    read -r one two at_once < <(links_used "$recording" "$1")
    said="DATA of host $1: $one % by link 1, $two % by link 2, both at once in $at_once % of the time"
    if [ "$one" -ge "$2" ] && [ "$two" -ge "$2" ] && [ "$at_once" -ge "$3" ]; then pass "$said"; else fail "$said, not $2, $2, $3"; fi
}

# not_by_both_links HOST SHARE TOGETHER: by_both_links fails. It is tried in a shell of its own, where its failure does not count.
not_by_both_links() {
    local verdict
    verdict=$(by_both_links "$@")
    if [[ $verdict =~ ^FAIL.*:\ (98|99|100)\ %\ by\ link\ 1 ]]; then pass "the check fails, as it must: ${verdict#FAIL }"; else fail "without CMT: $verdict"; fi
}

# acknowledged_with CHUNK: both hosts have sent this one, sack or nr_sack, and never the other.
acknowledged_with() {
    local used
    used=$(of_capture "$recording" sctp.sack_cumulative_tsn_ack ip.src | awk -F. '{ print "sack from " $4 }' | sort -u | tr '\n' ' ')
    used+=$(of_capture "$recording" sctp.nr_sack_cumulative_tsn_ack ip.src | awk -F. '{ print "nr_sack from " $4 }' | sort -u | tr '\n' ' ')
    if [ "$used" = "$1 from 1 $1 from 2 " ]; then pass "acknowledged with: $used"; else fail "acknowledged with: $used, not $1"; fi
}

# told_for_good HOST: in its NR-SACKs it has said of something behind a gap that it will not be dropped.
told_for_good() {
    local many
    many=$(of_capture "$recording" "sctp.nr_sack_number_of_nr_gap_blocks > 0" ip.src | grep -c "\.$1\$")
    if [ "$many" -gt 0 ]; then pass "$many NR-SACKs of host $1 have NR gap ack blocks"; else fail "no NR-SACK of host $1 has NR gap ack blocks"; fi
}

# combining CASE...: a capture of each. A case ends it with stop_recording before it looks at it.
combining() {
    local one recording sack
    for one in "$@"; do
        # shellcheck disable=SC2053
        [[ $one == ${ONLY:-*} ]] || continue
        running=("$one")
        recording="$work/${part// /-}-$one.pcap" sack=SACK
        record "$our_host" "$recording"
        "$one"
        judge_recording "$recording" INIT DATA "$sack" SHUTDOWN_COMPLETE
    done
}

combining_neither() {
    pair ours --listen -- theirs $to_ours $combined
    stop_recording "$recording"
    check "6 MB from theirs, nobody combines" first "$all_combined" "$graceful" -- second "$graceful"
    not_by_both_links 2 25 40
}

# Ours knows of nothing: whoever sends combines.
combining_theirs() {
    pair ours --listen -- theirs $to_ours $combined $cmt $short_rto
    stop_recording "$recording"
    check "6 MB from theirs, which combines" first "$all_combined" "$graceful" -- second "$graceful"
    by_both_links 2 25 40
}

combining_ours() {
    pair theirs --listen -- ours $to_theirs $combined --combine
    stop_recording "$recording"
    check "6 MB from ours, which combines" first "$all_combined" "$graceful" -- second "$graceful"
    by_both_links 1 25 40
}

combining_both() {
    pair theirs --listen $combined --expect 750 $cmt $short_rto -- ours $to_theirs $combined --expect 750 --combine
    stop_recording "$recording"
    check "6 MB each way, both combine" first "$all_combined" "$graceful" -- second "$all_combined" "$graceful"
    by_both_links 1 25 40
    by_both_links 2 25 40
}

# A link goes silent half way; up to there both have carried what they could.
combining_ours_cut() {
    cut_on_progress
    pair theirs --listen $quick --progress 3000000 -- ours $to_theirs $quick $combined --combine
    stop_recording "$recording"
    mend_link 1
    check "6 MB from ours, which combines, a link cut" first "$all_combined" "$graceful" -- \
        second "\"address\":\"$their_first\",\"state\":\"unreachable\"" "$graceful"
    by_both_links 1 15 15
}

combining_theirs_cut() {
    cut_on_progress
    pair ours --listen $quick --progress 3000000 -- theirs $to_ours $quick $combined $cmt
    stop_recording "$recording"
    mend_link 1
    check "6 MB from theirs, which combines, a link cut" first "$all_combined" "$graceful" -- \
        second "\"address\":\"$our_first\",\"state\":\"unreachable\"" "$graceful"
    by_both_links 2 15 15
}

# What only usrsctp has: coupled windows, delayed acknowledgements for CMT, and NR-SACK.
combining_theirs_coupled() {
    local kind
    for kind in rpv1 rpv2 mptcp; do
        [ -f "$recording" ] || record "$our_host" "$recording"
        pair ours --listen -- theirs $to_ours $half_combined --cmt $kind --dac $short_rto
        stop_recording "$recording"
        check "3 MB from theirs, coupled: $kind" first "$all_half_combined" "$graceful" -- second "$graceful"
        by_both_links 2 15 40
        [ $kind = mptcp ] || judge_recording "$recording" INIT DATA SACK SHUTDOWN_COMPLETE
    done
}

# Small messages of several streams, and losses on both links: behind the gaps there is what has been delivered. (RFC 5061 section 4.2.7 has
# the chunk type in Supported Extensions.)
combining_with_nr_sack() {
    wire 1 loss 0.5%
    wire 2 loss 0.5%
    pair theirs --listen $small_combined --expect 4000 $cmt --dac --nr-sack $short_rto -- \
        ours $to_theirs $small_combined --expect 4000 --combine --dac --nr-sack $short_rto
    stop_recording "$recording"
    wire 1 loss 0
    wire 2 loss 0
    sack=NR_SACK
    check "4 MB each way, both combine, with NR-SACK" first "$all_small_combined" "$graceful" -- second "$all_small_combined" "$graceful"
    by_both_links 1 15 40
    by_both_links 2 15 40
    acknowledged_with nr_sack
    told_for_good 1
    told_for_good 2
}

# Offered by one end it is nobody's.
combining_nr_sack_refused() {
    pair theirs --listen $small_combined --expect 4000 $cmt --nr-sack $short_rto -- ours $to_theirs $small_combined --expect 4000 --combine
    stop_recording "$recording"
    check "4 MB each way, NR-SACK offered by theirs alone" first "$all_small_combined" "$graceful" -- second "$all_small_combined" "$graceful"
    acknowledged_with sack
}

# Over UDP, with $to_ours and all else that usrsctp_part has said.
usrsctp_several_paths() {
    local part="usrsctp by several paths" cmt="--cmt on" emulator
    [ -c /dev/net/tun ] || { echo "skipped: emulated links need /dev/net/tun" && return; }
    cut_link() { wire "$1" cut; }
    mend_link() { wire "$1" mend; }
    echo "--- $part"
    emulator=$(program whimbrel-emulator bin whimbrel-wire) || { fail "no emulated wires" && return; }
    wires_up "$name" "$emulator" --rate 20mbit --delay 10ms --queue 50000bytes || { fail "no emulated links" && wires_down "$name" && return; }
    combining combining_neither combining_theirs combining_ours combining_both combining_ours_cut combining_theirs_cut \
        combining_theirs_coupled combining_with_nr_sack combining_nr_sack_refused
    wires_down "$name"
}
