# Sourced: what networks do to the hosts while records flow. Each function is one kind of trouble; torture_rows.sh says how much of it.
# Wants what topology.sh gives. `mark back` notes the moment from which some way between the hosts works again and stays so: from there on the time to recover counts.
# shellcheck shell=bash

# mark trouble|back
mark() { echo "$1 $EPOCHREALTIME" >>"$work/marks"; }
# Trouble that leaves one way as it is: whoever wants can go on at once.
trouble_beside() { mark trouble && mark back; }

# links_of one|both: which networks are in trouble. A host with two of them has another way when it is only `one`.
links_of() { case $1 in one | only) echo wifi ;; both) echo wifi lte ;; all) echo "${links[@]}" ;; esac; }

# silence one|only|both SECONDS [forth|back]: nothing is delivered, and nobody is told. `only` is `one` for a host that has no other.
silence() {
    local which=$1 seconds=$2 way=${3:-} link
    mark trouble
    for link in $(links_of "$which"); do tune "$link" $way cut; done
    [ "$which" != one ] || mark back
    sleep "$seconds"
    [ "$which" = one ] || mark back
    for link in $(links_of "$which"); do tune "$link" $way mend; done
}

# unplugged one|only|both SECONDS: the interface goes down, and comes back as it was.
unplugged() {
    local which=$1 seconds=$2 link
    mark trouble
    for link in $(links_of "$which"); do detach "$link"; done
    [ "$which" != one ] || mark back
    sleep "$seconds"
    [ "$which" = one ] || mark back
    for link in $(links_of "$which"); do attach "$link"; done
}

# black_hole one|only BYTES: longer IP packets vanish, for the rest of the run.
black_hole() {
    trouble_beside
    tune wifi mtu "$2"
}

# loss_ramp one|both: from 0 to 30 % in 15 s, and back to none after 3 s more.
loss_ramp() {
    local percent link
    mark trouble
    [ "$1" != one ] || mark back
    for percent in 3 6 9 12 15 18 21 24 27 30; do
        for link in $(links_of "$1"); do tune "$link" loss $percent%; done
        sleep 1.5
    done
    sleep 3
    [ "$1" = one ] || mark back
    for link in $(links_of "$1"); do tune "$link" loss 0; done
}

# slow one|both [forth|back]: 200 ms each way (or one way) for ten seconds.
slow() {
    local which=$1 way=${2:-} link
    trouble_beside
    for link in $(links_of "$which"); do tune "$link" $way delay 200ms; done
    sleep 10
    for link in $(links_of "$which"); do tune "$link" $way delay "$([ "$link" = wifi ] && echo 10ms || echo 30ms)"; done
}

# slow_beside_thin: within two seconds the Wi-Fi comes to 200 ms each way; LTE carries 1 Mbit/s, a quarter of what each host says. So for 30 s.
slow_beside_thin() {
    local step
    trouble_beside
    tune lte rate 1mbit
    for step in {1..20}; do
        tune wifi delay $((step * 10))ms
        sleep 0.1
    done
    sleep 28
    tune wifi delay 10ms && tune lte rate 10mbit
}

# jittery one|both: up to 100 ms more for each packet, in order, and 1 % lost, for 15 s. Nothing that calls for a move.
jittery() {
    local link
    trouble_beside
    for link in $(links_of "$1"); do tune "$link" jitter 100ms && tune "$link" loss 1%; done
    sleep 15
    for link in $(links_of "$1"); do tune "$link" jitter 0ms && tune "$link" loss 0; done
}

# bloat forth|back SECONDS: somebody else fills a buffer of two seconds in front of the Wi-Fi.
bloat() {
    trouble_beside
    if [ "$1" = forth ]; then
        on_mn timeout "$2" python3 "$here/flood.py" 10.61.1.2 "${core_of[1]}.2" 24e6
    else
        on_cn timeout "$2" python3 "$here/flood.py" "${core_of[1]}.2" 10.61.1.2 24e6
    fi
    return 0
}

# renumber_mobile and renumber_server: the address goes, and there is another at once.
renumber_mobile() {
    unaddress wifi
    ip -n "$name-mn" route flush dev mn-wifi
    attach wifi "${net_of[wifi]}.77"
}
renumber_server() {
    ip -n "$name-cn" addr flush dev core1
    ip -n "$name-cn" addr add "${core_of[1]}.77/24" dev core1
    ip -n "$name-cn" route replace default via "${core_of[1]}.1" dev core1 metric 100
}
# renumbered mobile|server|in_turn|same_instant
renumbered() {
    case $1 in
    mobile) mark trouble && renumber_mobile && mark back ;;
    server) mark trouble && renumber_server && mark back ;;
    in_turn)
        mark trouble && renumber_mobile
        sleep 1.5
        renumber_server && mark back
        ;;
    same_instant)
        mark trouble
        renumber_mobile &
        renumber_server
        wait $!
        mark back
        ;;
    esac
}
# The server's new address is there for two seconds before the old one goes.
renumbered_ahead() {
    ip -n "$name-cn" addr add "${core_of[1]}.77/24" dev core1
    sleep 2
    mark trouble
    ip -n "$name-cn" addr delete "${core_of[1]}.2/24" dev core1
    # The kernel takes routes along with the address.
    ip -n "$name-cn" addr replace "${core_of[1]}.77/24" dev core1
    ip -n "$name-cn" route replace default via "${core_of[1]}.1" dev core1 metric 100
    mark back
}

# moved FAMILY GAP [FAMILY...]: from one access network to the other (wifi, lte, wifi...), which has that family only; break before make.
moved() {
    local gap=$1 from=wifi to=lte swap family
    shift
    for family in "$@"; do
        mark trouble
        detach $from
        sleep "$gap"
        mark back
        if [ "$family" = 4 ]; then attach $to; else attach6 $to; fi
        swap=$from from=$to to=$swap
        sleep 4
    done
}
# The network keeps the host, but one of the families goes, at this host (mn) or that one (cn).
family_goes() {
    local device=mn-wifi
    [ "$1" = mn ] || device=core1
    trouble_beside
    ip -n "$name-$1" "-$2" addr flush dev $device scope global
    [ "$1" = mn ] || ip -n "$name-$1" "-$2" addr flush dev core2 scope global
}

# The NAT forgets the host and gives it another port; with a silence it has forgotten it meanwhile.
nat_forgets() { trouble_beside && nat_forget; }
nat_moves() { trouble_beside && nat_move; }
nat_forgets_in_silence() {
    mark trouble
    for link in $(links_of both); do tune "$link" cut; done
    sleep "$1"
    nat_forget
    mark back
    for link in $(links_of both); do tune "$link" mend; done
}

# A network that takes the host in and answers nothing: it appears beside a good one, which may fall silent then; or it opens after some time.
captive_joins() {
    tune wifi cut
    trouble_beside
    attach wifi
    sleep "$1"
}
captive_then_alone() {
    tune wifi cut
    mark trouble
    attach wifi
    sleep 2
    detach lte
    sleep "$1"
    mark back
    attach lte
}
captive_opens() {
    tune wifi cut
    mark trouble
    detach lte && attach wifi
    sleep "$1"
    mark back
    tune wifi mend
}

# routes_flip host|network SECONDS: which way is preferred changes to and fro, twice a second.
routes_flip() {
    local which=$1 end=$((SECONDS + $2)) turn=0
    trouble_beside
    while [ $SECONDS -lt $end ]; do
        turn=$((1 - turn))
        if [ "$which" = host ]; then
            ip -n "$name-mn" route delete default dev mn-lte
            ip -n "$name-mn" route add default via "${net_of[lte]}.1" dev mn-lte metric $((turn ? 50 : 600))
        elif [ $turn = 1 ]; then
            ip -n "$name-net" route add "${core_of[1]}.2/32" via "${core_of[2]}.2"
        else
            ip -n "$name-net" route delete "${core_of[1]}.2/32"
        fi
        sleep 0.5
    done
}
# The network says by ICMP that there is no way to the server, for some seconds.
unreachable() {
    mark trouble
    on_net ip route add unreachable "${core_of[1]}.2/32"
    on_net ip route add unreachable "${core_of[2]}.2/32"
    sleep "$1"
    mark back
    on_net ip route delete unreachable "${core_of[1]}.2/32"
    on_net ip route delete unreachable "${core_of[2]}.2/32"
}
# The host keeps its address and loses its route.
routeless() {
    mark trouble
    ip -n "$name-mn" route delete default dev mn-wifi
    # What MPTCP's network manager has added.
    ip -n "$name-mn" route delete default dev mn-wifi table 101 2>/dev/null
    sleep "$1"
    mark back
    [ -z "$(ip -n "$name-mn" rule show table 101)" ] || ip -n "$name-mn" route add default via "${net_of[wifi]}.1" dev mn-wifi table 101
    ip -n "$name-mn" route add default via "${net_of[wifi]}.1" dev mn-wifi metric 100
}

# suspended mn|cn SECONDS: that host runs nothing and hears nothing.
suspended() {
    mark trouble
    for link in "${links[@]}"; do tune "$link" cut; done
    freeze "$1"
    sleep "$2"
    for link in "${links[@]}"; do tune "$link" mend; done
    mark back
    thaw "$1"
}
# Only the program stands still; the kernel and the networks go on.
stopped() {
    mark trouble
    freeze "$1"
    sleep "$2"
    mark back
    thaw "$1"
}

# flaps silent|unplugged one|only HALF_A_PERIOD TIMES: the Wi-Fi goes and comes.
flaps() {
    local how=$1 which=$2 half=$3 times=$4 i
    mark trouble
    [ "$which" = only ] || mark back
    for ((i = 0; i < times; i++)); do
        if [ "$how" = silent ]; then sever wifi; else detach wifi; fi
        sleep "$half"
        [ $((i + 1)) -lt "$times" ] || [ "$which" != only ] || mark back
        if [ "$how" = silent ]; then mend wifi; else attach wifi; fi
        sleep "$half"
    done
}

# last_replaced silent|unplugged: all uplinks but one go, one a second; the last one goes when another one comes back.
last_replaced() {
    local how=$1 link left=("${links[@]}")
    while [ ${#left[@]} -gt 1 ]; do
        link=${left[0]} left=("${left[@]:1}")
        if [ "$how" = silent ]; then sever "$link"; else detach "$link"; fi
        sleep 1
    done
    mark trouble
    if [ "$how" = silent ]; then mend "${links[0]}" && sever "${left[0]}"; else attach "${links[0]}" && detach "${left[0]}"; fi
    mark back
}
