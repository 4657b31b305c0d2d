# The network of gateway.sh and gateway_sipp.sh, which source this: two gateways (g1, g2), a host (mn) with a link to each, and a server (cn) behind them,
# in namespaces. $whimbrel is the program, $keep says that the namespaces stay.
work=$(mktemp -d)
name=gw$$
hosts=(cn g1 g2 mn core air)
failed=0

down() {
    local host tries
    for host in "${hosts[@]}"; do ip netns pids "$name-$host" 2>/dev/null | xargs -r kill 2>/dev/null; done
    sleep 0.2
    # A gateway finishes handovers that are under way, and says so to its sessions.
    for host in "${hosts[@]}"; do
        for tries in {1..50}; do
            [ -n "$(ip netns pids "$name-$host" 2>/dev/null)" ] || break
            sleep 0.1
        done
        ip netns pids "$name-$host" 2>/dev/null | xargs -r kill -9 2>/dev/null
    done
    for host in "${hosts[@]}"; do ip netns del "$name-$host" 2>/dev/null; done
}
trap '[ -n "${keep:-}" ] || { down; rm -rf "$work"; }' EXIT
trap 'exit 1' INT TERM

# on HOST COMMAND... - each host has a key, and a place for sockets, of its own
on() {
    local host=$1
    shift
    ip netns exec "$name-$host" env HOME="$work/$host" XDG_CONFIG_HOME="$work/$host" XDG_RUNTIME_DIR="$work/$host" "$@"
}
ip_in() { local host=$1; shift; ip -n "$name-$host" "$@"; }
key_of() { on "$1" "$whimbrel" key 2>/dev/null | grep -o 'whk1[a-z0-9]*' | head -n 1; }

# address NET HOST - of IPv4 or IPv6, as $family says
address() { if [ "$family" = 4 ]; then echo "10.$1.0.$2"; else echo "fd00:$1::$2"; fi; }
length() { if [ "$family" = 4 ]; then echo 24; else echo 64; fi; }
network() { if [ "$family" = 4 ]; then echo "10.$1.0.0/24"; else echo "fd00:$1::/64"; fi; }

up() {
    local host i
    down
    rm -rf "${work:?}"/*
    for host in "${hosts[@]}"; do
        ip netns add "$name-$host" && mkdir -p "$work/$host" && ip_in "$host" link set lo up || return
        on "$host" sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0
    done
    ip_in core link add wire type bridge && ip_in core link set wire up
    for host in cn g1 g2; do
        ip_in core link add "p$host" type veth peer name core netns "$name-$host"
        ip_in core link set "p$host" master wire up
        ip_in "$host" link set core up
    done
    i=1
    for host in cn g1 g2; do ip_in "$host" addr add "$(address 0 $i)/$(length)" dev core && i=$((i + 1)); done
    for i in 1 2; do
        ip_in mn link add "radio$i" type veth peer name radio netns "$name-g$i"
        ip_in "g$i" link set radio up
        ip_in "g$i" addr add "$(address $i 1)/$(length)" dev radio
        on "g$i" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
        ip_in cn route add "$(network $i)" via "$(address 0 $((i + 1)))"
        on "g$i" tc qdisc add dev radio root tbf rate "${radio_rate:-80mbit}" burst "${radio_burst:-32k}" latency 50ms
        on mn tc qdisc add dev "radio$i" root tbf rate "${radio_rate:-80mbit}" burst "${radio_burst:-32k}" latency 50ms
    done
    ip_in g1 route add "$(network 2)" via "$(address 0 3)"
    ip_in g2 route add "$(network 1)" via "$(address 0 2)"
    ip_in mn link set radio1 up
    ip_in mn addr add "$(address 1 50)/$(length)" dev radio1
    ip_in mn route add default via "$(address 1 1)"
    settings 1 2 && settings 2 1
    printf '%s\n' '#!/bin/sh -e' 'n=${WHIMBREL_ESSID#net}' 'ip link set radio$((3 - n)) down' "sleep ${radio_gap:-0.05}" 'ip link set radio$n up' \
        "ip addr add \$WHIMBREL_ADDRESS/$(length) dev radio\$n" 'ip route replace default via $WHIMBREL_GATEWAY' >"$work/attach"
    chmod +x "$work/attach"
}

# After up: the host has one interface, on the air between two networks. The command of --attach changes the network and nothing else.
one_interface() {
    local i
    for i in 1 2; do
        ip_in mn link del "radio$i"
        ip_in air link add "net$i" type bridge && ip_in air link set "net$i" up
        ip_in air link add "g$i" type veth peer name radio netns "$name-g$i"
        ip_in air link set "g$i" master "net$i" up
        ip_in "g$i" link set radio up
        ip_in "g$i" addr add "$(address $i 1)/$(length)" dev radio
    done
    ip_in air link add mn type veth peer name radio netns "$name-mn"
    ip_in air link set mn master net1 up
    ip_in mn link set radio up
    ip_in mn addr add "$(address 1 50)/$(length)" dev radio
    ip_in mn route add default via "$(address 1 1)"
    on mn tc qdisc add dev radio root tbf rate "${radio_rate:-80mbit}" burst "${radio_burst:-32k}" latency 50ms
    printf '%s\n' '#!/bin/sh -e' "ip -n $name-air link set mn nomaster" 'sleep 0.05' \
        "ip -n $name-air link set mn master \$WHIMBREL_ESSID" >"$work/attach"
}

# settings N OTHER - the file of gateway N
settings() {
    cat >"$work/g$1.toml" <<EOF
address = "$(address "$1" 1)"
[access]
interface = "radio"
addresses = ["$(address "$1" 100)-$(address "$1" 199)"]
prefix-length = $(length)
essid = "net$1"
delay-ms = 1
[resources]
throughput = "${throughput:-80M}"
per-terminal = "${per_terminal:-40M}"
buffer = "4Mi"
least-buffer = "256Ki"
[[gateways]]
name = "g$2"
address = "$(address "$2" 1)"
key = "$(key_of "g$2")"
[[hosts]]
name = "mn"
key = "$(key_of mn)"
[[hosts]]
name = "cn"
key = "$(key_of cn)"
${more_settings:-}
EOF
}

bracketed() { if [ "$family" = 4 ]; then echo "$1"; else echo "[$1]"; fi; }
sip_of() { echo "sip:$(key_of "g$1")@$(bracketed "$(address "$1" 1)")"; }

wait_for() { # FILE PATTERN [SECONDS]
    local i
    for ((i = 0; i < ${3:-8} * 20; i++)); do grep -qs -- "$2" "$1" && return; sleep 0.05; done
    echo "FAIL $case: '$2' is not in ${1##*/}:" && tail -n 15 "$1" | sed 's/^/    /'
    failed=$((failed + 1))
    return 1
}
