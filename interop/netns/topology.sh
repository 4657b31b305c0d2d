# Sourced: a mobile node, a correspondent node and the network between, as network namespaces. Needs root.
#
#   mn --- wifi (10.61.1.0/24) ---\           /--- cn1 (10.61.11.0/24) --- cn
#      --- lte  (10.61.2.0/24) --- net (.1) --
#                                             \--- cn2 (10.61.12.0/24) ---
#
# wifi and lte are emulated cables (whimbrel-wire) with rate and delay; hosts are .2, the network .1. Wants $work (a directory),
# $wire (the program) and $name (prefix of the namespaces).
#
#   topology_up           everything but the mobile node's addresses
#   attach wifi|lte [ADDRESS]   the mobile node gets its address and a default route there
#   detach wifi|lte       the interface goes down, as when the cable is pulled or the radio loses its network
#   unaddress wifi|lte    only the address is deleted
#   sever/mend wifi|lte    silently: nothing is delivered, and the mobile node's interface stays up
#   tune wifi|lte COMMAND a command of whimbrel-wire
#   on_mn, on_net, on_cn COMMAND...
# shellcheck shell=bash
declare -A net_of=([wifi]=10.61.1 [lte]=10.61.2) metric_of=([wifi]=100 [lte]=600) wire_pid=() wire_in=()

on_mn() { ip netns exec "$name-mn" "$@"; }
on_net() { ip netns exec "$name-net" "$@"; }
on_cn() { ip netns exec "$name-cn" "$@"; }

# cable NAME OPTION...: a wire between mn-NAME in the mobile node and ap-NAME in the network
cable() {
    local link=$1 fd
    shift
    mkfifo "$work/$link.in"
    exec {fd}<>"$work/$link.in"
    wire_in[$link]=$fd
    "$wire" "mn-$link" "ap-$link" "$@" <"$work/$link.in" >"$work/$link.wire" 2>&1 {fd}<&- &
    wire_pid[$link]=$!
    for ((i = 0; i < 500; i++)); do
        grep -qs ready "$work/$link.wire" && break
        sleep 0.02
    done
    grep -q ready "$work/$link.wire" || { cat "$work/$link.wire" && return 1; }
    ip link set "mn-$link" netns "$name-mn"
    ip link set "ap-$link" netns "$name-net"
    ip -n "$name-net" addr add "${net_of[$link]}.1/24" dev "ap-$link"
    ip -n "$name-net" link set "ap-$link" up
}

topology_up() {
    local ns
    for ns in mn net cn; do
        ip netns add "$name-$ns" || return
        ip -n "$name-$ns" link set lo up
        ip netns exec "$name-$ns" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
            net.ipv6.conf.all.disable_ipv6=1
    done
    on_net sysctl -qw net.ipv4.ip_forward=1
    for link in 1 2; do
        ip -n "$name-net" link add "cn$link" type veth peer name "core$link" netns "$name-cn"
        ip -n "$name-net" addr add "10.61.1$link.1/24" dev "cn$link"
        ip -n "$name-net" link set "cn$link" up
        ip -n "$name-cn" addr add "10.61.1$link.2/24" dev "core$link"
        ip -n "$name-cn" link set "core$link" up
        ip -n "$name-cn" route add default via "10.61.1$link.1" dev "core$link" metric "${link}00"
    done
    cable wifi ${wifi:---rate 20mbit --delay 10ms --queue 100} || return
    cable lte ${lte:---rate 10mbit --delay 30ms --queue 100}
}

attach() {
    local address=${2:-${net_of[$1]}.2}
    ip -n "$name-mn" link set "mn-$1" up
    ip -n "$name-mn" addr add "$address/24" dev "mn-$1"
    ip -n "$name-mn" route add default via "${net_of[$1]}.1" dev "mn-$1" metric "${metric_of[$1]}"
}
detach() {
    ip -n "$name-mn" link set "mn-$1" down
    ip -n "$name-mn" addr flush dev "mn-$1"
}
unaddress() { ip -n "$name-mn" addr flush dev "mn-$1"; }
tune() { echo "${@:2}" >&"${wire_in[$1]}"; }
sever() { tune "$1" cut; }
mend() { tune "$1" mend; }

topology_down() {
    local ns pids link fd
    for link in "${!wire_in[@]}"; do
        fd=${wire_in[$link]}
        kill "${wire_pid[$link]}" 2>/dev/null && wait "${wire_pid[$link]}" 2>/dev/null
        exec {fd}>&-
        rm -f "$work/$link.in"
        unset "wire_in[$link]" "wire_pid[$link]"
    done
    for ns in mn net cn; do
        pids=$(ip netns pids "$name-$ns" 2>/dev/null) && [ -n "$pids" ] && kill $pids 2>/dev/null
        ip netns del "$name-$ns" 2>/dev/null
    done
    return 0
}
