# Sourced: a mobile node, a correspondent node and the network between, as network namespaces. Needs root.
#
#   mn --- wifi (10.61.1.0/24) ---\           /--- cn1 (core_of, /24) --- cn
#      --- lte  (10.61.2.0/24) --- net (.1) --
#                                             \--- cn2 (core_of, /24) ---
#
# wifi and lte (and what else `links` names) are emulated cables (whimbrel-wire) with rate and delay; hosts are .2, the network .1. Wants
# $work (a directory), $wire (the program) and $name (prefix of the namespaces). Nothing is outside the namespaces, so several of these
# can be up at a time under different names. With families=46 there is IPv6 beside IPv4: 2001:db8:61:N::/64 where IPv4 has 10.61.N.0/24.
#
#   topology_up           everything but the mobile node's addresses
#   attach wifi|lte [ADDRESS]   the mobile node gets its address and a default route there
#   attach6 wifi|lte      the same for IPv6
#   detach wifi|lte       the interface goes down, as when the cable is pulled or the radio loses its network
#   unaddress wifi|lte    only the address is deleted
#   sever/mend wifi|lte    silently: nothing is delivered, and the mobile node's interface stays up
#   tune wifi|lte COMMAND a command of whimbrel-wire
#   correspondent_attach, correspondent_detach 1|2   the same for the host that usually stays; correspondent_attach6 1|2
#   nat_up                each access network is behind a NAT of its own, which gives out ports as it likes
#   nat_forget            the NATs forget all they know, and give out other ports from now on
#   nat_move              the same, but other addresses
#   on_mn, on_net, on_cn COMMAND...
# shellcheck shell=bash
links=(wifi lte) families=4
declare -A net_of=([wifi]=10.61.1 [lte]=10.61.2 [wired]=10.61.3 [satellite]=10.61.4)
declare -A net6_of=([wifi]=2001:db8:61:1 [lte]=2001:db8:61:2 [wired]=2001:db8:61:3 [satellite]=2001:db8:61:4)
declare -A metric_of=([wifi]=100 [lte]=600 [wired]=50 [satellite]=700)
declare -A core_of=([1]=10.61.11 [2]=10.61.12) core6_of=([1]=2001:db8:61:11 [2]=2001:db8:61:12) wire_pid=() wire_in=()

on_mn() { ip netns exec "$name-mn" "$@"; }
on_net() { ip netns exec "$name-net" "$@"; }
on_cn() { ip netns exec "$name-cn" "$@"; }

# cable NAME OPTION...: a wire between mn-NAME in the mobile node and ap-NAME in the network
cable() {
    local link=$1 fd
    shift
    # The last run's words would be taken for this one's before the new process has opened the file.
    rm -f "$work/$link.wire"
    mkfifo "$work/$link.in"
    exec {fd}<>"$work/$link.in"
    wire_in[$link]=$fd
    ip netns exec "$name-net" "$wire" "mn-$link" "ap-$link" "$@" <"$work/$link.in" >"$work/$link.wire" 2>&1 {fd}<&- &
    wire_pid[$link]=$!
    for ((i = 0; i < 3000; i++)); do
        grep -qs ready "$work/$link.wire" && break
        sleep 0.02
    done
    grep -q ready "$work/$link.wire" || { cat "$work/$link.wire" && return 1; }
    ip -n "$name-net" link set "mn-$link" netns "$name-mn"
    ip -n "$name-net" addr add "${net_of[$link]}.1/24" dev "ap-$link"
    ip -n "$name-net" link set "ap-$link" up
    [ $families = 4 ] || ip -n "$name-net" addr add "${net6_of[$link]}::1/64" dev "ap-$link" nodad
}

topology_up() {
    local ns link options no_ipv6=1
    [ $families = 4 ] || no_ipv6=0
    for ns in mn net cn; do
        ip netns add "$name-$ns" || return
        ip -n "$name-$ns" link set lo up
        ip netns exec "$name-$ns" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
            net.ipv6.conf.all.disable_ipv6=$no_ipv6 net.ipv6.conf.default.accept_ra=0
    done
    on_net sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
    for link in 1 2; do
        ip -n "$name-net" link add "cn$link" type veth peer name "core$link" netns "$name-cn"
        ip -n "$name-net" addr add "${core_of[$link]}.1/24" dev "cn$link"
        ip -n "$name-net" link set "cn$link" up
        [ $families = 4 ] || ip -n "$name-net" addr add "${core6_of[$link]}::1/64" dev "cn$link" nodad
        correspondent_attach $link
    done
    for link in "${links[@]}"; do
        options=--rate\ 20mbit\ --delay\ 10ms
        case $link in
        lte) options=--rate\ 10mbit\ --delay\ 30ms ;;
        satellite) options=--rate\ 10mbit\ --delay\ 120ms ;;
        esac
        cable "$link" $options --queue 100 || return
    done
}

correspondent_attach() {
    ip -n "$name-cn" link set "core$1" up
    ip -n "$name-cn" addr add "${core_of[$1]}.2/24" dev "core$1"
    ip -n "$name-cn" route add default via "${core_of[$1]}.1" dev "core$1" metric "${1}00"
}
correspondent_attach6() {
    ip -n "$name-cn" link set "core$1" up
    ip -n "$name-cn" addr add "${core6_of[$1]}::2/64" dev "core$1" nodad
    ip -n "$name-cn" route add default via "${core6_of[$1]}::1" dev "core$1" metric "${1}00"
}
correspondent_detach() {
    ip -n "$name-cn" link set "core$1" down
    ip -n "$name-cn" addr flush dev "core$1"
}

# Ports are never kept, and nothing unasked gets in: the strict kind of NAT.
nat_up() {
    local host
    for host in 11 12 21 22; do ip -n "$name-net" addr add 192.0.2.$host/32 dev lo; done
    on_net iptables -A INPUT -i cn+ -d 192.0.2.0/24 -j DROP
    on_net iptables -A FORWARD -i cn+ -m conntrack --ctstate NEW,INVALID -j DROP
    nat_ports 20000-29999
}
# nat_ports PORTS [TENS]: of the outer addresses 192.0.2.TENS1 and 192.0.2.TENS2
nat_ports() {
    local protocol
    for protocol in udp tcp; do
        on_net iptables -t nat -A POSTROUTING -p $protocol -s 10.61.1.0/24 -o cn+ -j SNAT --to-source "192.0.2.${2:-1}1:$1"
        on_net iptables -t nat -A POSTROUTING -p $protocol -s 10.61.2.0/24 -o cn+ -j SNAT --to-source "192.0.2.${2:-1}2:$1"
    done
}
nat_forget() { nat_begin_anew 30000-39999; }
nat_move() { nat_begin_anew 20000-29999 2; }
nat_begin_anew() {
    on_net iptables -t nat -F POSTROUTING
    nat_ports "$@"
    # Netlink to the connection tracker: delete, without saying what, is delete all (NFNL_SUBSYS_CTNETLINK, IPCTNL_MSG_CT_DELETE).
    on_net python3 -c '
import socket, struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
s.send(struct.pack("=IHHIIBBH", 20, 1 << 8 | 2, 5, 1, 0, 0, 0, 0))
error = struct.unpack_from("=IHHIIi", s.recv(4096))[5]
raise SystemExit(error)'
}

attach() {
    local address=${2:-${net_of[$1]}.2}
    ip -n "$name-mn" link set "mn-$1" up
    ip -n "$name-mn" addr add "$address/24" dev "mn-$1"
    ip -n "$name-mn" route add default via "${net_of[$1]}.1" dev "mn-$1" metric "${metric_of[$1]}"
}
attach6() {
    ip -n "$name-mn" link set "mn-$1" up
    ip -n "$name-mn" addr add "${net6_of[$1]}::2/64" dev "mn-$1" nodad
    ip -n "$name-mn" route add default via "${net6_of[$1]}::1" dev "mn-$1" metric "${metric_of[$1]}"
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
