# Sourced: two hosts, each in its own network namespace, joined by two bridged links. Needs root.
#
#   topology_up NAME    namespaces NAME-a, NAME-b (hosts) and NAME-m (the links' middle)
#                       link 1: 10.131.1.1 - 10.131.1.2, link 2: 10.131.2.1 - 10.131.2.2
#   topology_cut NAME LINK, topology_mend NAME LINK
#                       silently: neither host loses its carrier, address or route
#   topology_down NAME   ends what still runs there, too
topology_up() {
    local side end=1
    ip netns add "$1-m" || return
    for link in 1 2; do
        ip -n "$1-m" link add "bridge$link" type bridge
        ip -n "$1-m" link set "bridge$link" up
    done
    for side in a b; do
        ip netns add "$1-$side"
        ip -n "$1-$side" link set lo up
        ip netns exec "$1-$side" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
        for link in 1 2; do
            ip -n "$1-$side" link add "link$link" type veth peer name "$side$link" netns "$1-m"
            ip -n "$1-$side" addr add "10.131.$link.$end/24" dev "link$link"
            ip -n "$1-$side" link set "link$link" up
            ip -n "$1-m" link set "$side$link" master "bridge$link" up
        done
        end=2
    done
}

topology_cut() { ip -n "$1-m" link set "bridge$2" down; }
topology_mend() { ip -n "$1-m" link set "bridge$2" up; }

topology_down() {
    local side pids
    for side in a b m; do
        pids=$(ip netns pids "$1-$side" 2>/dev/null) && [ -n "$pids" ] && kill $pids
        ip netns del "$1-$side" 2>/dev/null
    done
}
