# Sourced: the hosts, links and addresses of topology.sh, with an emulated wire (whimbrel-wire) for each link. Needs root.
#
#   wires_up NAME WIRE OPTION...   WIRE is the program, and these are its options for both links
#   wire LINK COMMAND...           a command of whimbrel-wire: `wire 2 cut`, `wire 1 delay 30ms`
#   wires_down NAME                ends all of it
#
# Wants $work (a directory), topology.sh and helpers.sh.
# shellcheck shell=bash
declare -A wire_in=()

wire() { echo "${@:2}" >&"${wire_in[$1]}"; }

wires_up() {
    local name=$1 program=$2 link side end fd
    shift 2
    ip netns add "$name-m" || return
    for side in a b; do
        ip netns add "$name-$side"
        ip -n "$name-$side" link set lo up
        ip netns exec "$name-$side" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
    done
    for link in 1 2; do
        rm -f "$work/wire$link.in"
        : >"$work/wire$link" # or the last wire's words could be taken for this one's
        mkfifo "$work/wire$link.in"
        exec {fd}<>"$work/wire$link.in"
        wire_in[$link]=$fd
        ip netns exec "$name-m" "$program" "a$link" "b$link" "$@" <"$work/wire$link.in" >"$work/wire$link" 2>&1 {fd}<&- &
        said "$work/wire$link" ready || return
        end=1
        for side in a b; do
            ip -n "$name-m" link set "$side$link" netns "$name-$side" name "link$link"
            ip -n "$name-$side" addr add "10.131.$link.$end/24" dev "link$link"
            ip -n "$name-$side" link set "link$link" up
            end=2
        done
    done
}

wires_down() {
    local link fd
    topology_down "$1"
    for link in "${!wire_in[@]}"; do
        fd=${wire_in[$link]}
        exec {fd}>&-
        unset "wire_in[$link]"
    done
}
