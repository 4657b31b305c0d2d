#!/bin/bash
# gateway.sh [-k] [-p FILE] - a host that goes where its network says, on real interfaces.
#
# Two gateways, a host (mn) with a link to each, and a server (cn) behind them, in namespaces. The host sends a file at 80 Mbit/s; after a second the
# network wants it at the other gateway, its link breaks, and 50 ms later the other one is there. Says what the server saw: whether the file has
# come whole, and the longest time in which no data came. Beside that: the same break without gateways, where the host decides by itself; a target that is
# dead; a link that cannot be attached; a gateway that crashes in mid-transfer, that is told to end and comes back, or does not know the host any more; IPv6. Fails if a file is not whole, or a handover does not end as it should.
# tshark must find the paper's messages, in their order, in what the gateways write down of SIP. -p FILE draws one handover, SIP beside the data (SVG), and that is all.
# -k keeps the namespaces, for whoever wants to try more (docs/gateway.md). Needs root and tshark. A minute.
set -u
here=$(cd "$(dirname "$0")" && pwd)
keep= picture=
while getopts kp: option; do
    case $option in
    k) keep=1 ;;
    p) picture=$OPTARG ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
. "$here/../programs.sh"
whimbrel=$(program whimbrel-cli bin whimbrel) || exit
. "$here/gateway_world.sh"

# Everybody is there, and the file is on its way. Options are those of the sender.
begin() {
    local i
    for i in 1 2; do on "g$i" "$whimbrel" gateway run "$work/g$i.toml" --metrics 9464 --capture "$work/g$i.pcapng" >"$work/g$i.log" 2>&1 & done
    mkdir -p "$work/in" && head -c "${size:-45000000}" /dev/urandom >"$work/file"
    on cn "$whimbrel" recv --dir "$work/in" --ticket-file "$work/ticket" --once --gateway "$(sip_of 1),$(sip_of 2)" >"$work/cn.log" 2>&1 &
    for i in 1 2; do wait_for "$work/g$i.log" listening || return; done
    wait_for "$work/cn.log" 'ticket is in' || return
    on cn tcpdump -i core -nn -tt -q "greater 300 and dst host $(address 0 1) and udp" >"$work/dump" 2>/dev/null &
    dump=$!
    sleep 0.3
    on mn "$whimbrel" send "$work/file" --ticket-file "$work/ticket" "$@" >"$work/mn.log" 2>&1 &
    sender=$!
    wait_for "$work/mn.log" 'connected to'
    sleep 1
}

# The transfer ends well; the longest time without data is in $gap, in ms.
end() {
    wait "$sender" || { echo "FAIL $case: the sender failed:" && tail -n 10 "$work/mn.log" && failed=$((failed + 1)) && return 1; }
    cmp -s "$work/file" "$work/in/file" || { echo "FAIL $case: the file is not whole" && failed=$((failed + 1)) && return 1; }
    sleep 0.2
    kill "$(pgrep -P "$dump" -f 'tcpdump -i core' | head -n 1)" 2>/dev/null || pkill -f -- "tcpdump -i core -nn -tt -q greater 300 and dst host $(address 0 1) and udp"
    gap=$(awk 'p && $1 - p > g { g = $1 - p } { p = $1 } END { printf "%.0f", g * 1000 }' "$work/dump")
}

# counted N SAMPLE VALUE - what gateway N tells Prometheus
counted() {
    local text
    text=$(on "g$1" python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:9464/metrics").read().decode())')
    grep -qxF "whimbrel_gateway_$2 $3" <<<"$text" ||
        { echo "FAIL $case: g$1 has not counted $2 $3"; grep -F "$2" <<<"$text"; failed=$((failed + 1)); }
}
# messages N - what gateway N has said and heard: time, from, to, method or status, and the method it belongs to
messages() {
    tshark -r "$work/g$1.pcapng" -d udp.port==5061,sip -Y sip -T fields -E separator=' ' -e frame.time_epoch -e ip.src -e ip.dst \
        -e sip.Method -e sip.Status-Code -e sip.CSeq.method 2>/dev/null
}
move() { on g1 "$whimbrel" gateway move "$(address 1 50)" "$@" 2>&1; }
say() { printf '%-46s %s\n' "$case" "$*"; }

# What the gateways have written down is drawn, if it is the paper's eight messages in their order.
draw() {
    messages 1 >"$work/north" && messages 2 >"$work/south"
    python3 "$here/gateway_picture.py" "$work/north" "$work/south" "$work/dump" >"$work/picture.svg" || { echo "FAIL $case: no picture" && failed=$((failed + 1)); }
}

for family in 4 6; do
    case="handover by the network, IPv$family"
    up && begin --gateway "$(sip_of 1)" --attach "$work/attach" || exit 1
    move --to g2 >"$work/move.log" || { echo "FAIL $case: $(cat "$work/move.log")" && failed=$((failed + 1)); }
    wait_for "$work/g2.log" 'has come after' && wait_for "$work/mn.log" 'arrived with address'
    for host in mn cn; do
        on "$host" "$whimbrel" paths --once >"$work/paths" 2>&1
        grep -q "$(address 2 100).* in use.*by the network" "$work/paths" || { echo "FAIL $case: $host does not say who has ordered the move:" && cat "$work/paths" && failed=$((failed + 1)); }
    done
    end && say "nothing for $gap ms; $(grep -o 'arrived with.*' "$work/mn.log")"
    wait_for "$work/g2.log" 'is over'
    counted 1 'handovers_total{end="gone"}' 1 && counted 2 'arrivals_total{end="come"}' 1 && counted 2 sessions 0
    [ "$family" = 6 ] || draw
    [ -z "$picture" ] || { cp "$work/picture.svg" "$picture"; exit "$failed"; }
done

family=4
case="one interface, which gets its address"
up && one_interface && begin --gateway "$(sip_of 1)" --attach "$work/attach" || exit 1
move --to g2 >"$work/move.log" || { echo "FAIL $case: $(cat "$work/move.log")" && failed=$((failed + 1)); }
wait_for "$work/mn.log" 'arrived with address'
end && say "nothing for $gap ms; $(grep -o 'arrived with.*' "$work/mn.log")"

case="the host decides by itself"
up && begin || exit 1
ip netns exec "$name-mn" env WHIMBREL_ESSID=net2 WHIMBREL_ADDRESS=10.2.0.100 WHIMBREL_GATEWAY=10.2.0.1 "$work/attach"
end && say "nothing for $gap ms"

case="the target is dead"
up && begin --gateway "$(sip_of 1)" --attach "$work/attach" || exit 1
ip netns pids "$name-g2" | xargs -r kill -9
move --to g2 >"$work/move.log" && { echo "FAIL $case: the host has gone" && failed=$((failed + 1)); }
end && say "$(cat "$work/move.log")"

case="the link cannot be attached"
up && begin --gateway "$(sip_of 1)" --attach false || exit 1
move --to g2 >"$work/move.log" || { echo "FAIL $case: $(cat "$work/move.log")" && failed=$((failed + 1)); }
wait_for "$work/mn.log" 'it decides by itself'
end && say "nothing for $gap ms, and on by the old link"

case="the gateway crashes"
size=90000000
up && begin --gateway "$(sip_of 1)" --attach "$work/attach" || exit 1
unset size
ip netns pids "$name-g1" | xargs -r kill -9
wait_for "$work/mn.log" 'the gateway is silent' 15
end && say "nothing for $gap ms; the host decides by itself"

case="the gateway is told to end, and comes back"
size=180000000
up && begin --gateway "$(sip_of 1)" --attach "$work/attach" || exit 1
unset size
ip netns pids "$name-g1" | xargs -r kill -TERM
wait_for "$work/mn.log" 'the gateway is silent' 2
wait_for "$work/g1.log" 'is over' 3
sleep 2.5
ip netns pids "$name-g1" | grep -q . && { echo "FAIL $case: it has not ended" && failed=$((failed + 1)); }
on g1 "$whimbrel" gateway run "$work/g1.toml" >"$work/g1.log" 2>&1 &
wait_for "$work/g1.log" 'session of' 12
end && say "nothing for $gap ms; the host decides by itself, and has a session again"

case="the file is read anew, without the host"
size=90000000
up && begin --gateway "$(sip_of 1)" --attach "$work/attach" || exit 1
unset size
sed -i "s/$(key_of mn)/$(key_of air)/; s/80M/70M/" "$work/g1.toml"
ip netns pids "$name-g1" | xargs -r kill -HUP
wait_for "$work/g1.log" 'read anew: 1 other gateways, 2 hosts; resources as before'
wait_for "$work/mn.log" 'the gateway is silent' 15
end && say "nothing for $gap ms; the host decides by itself"

[ "$failed" = 0 ] || echo "$failed failed"
[ "$failed" = 0 ]
