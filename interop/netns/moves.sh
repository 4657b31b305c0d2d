# Sourced: what happens to the mobile node while records flow, one function each. Times in seconds from the first record.
# shellcheck shell=bash

# Make before break (b08, scenario C/D): the second network is there for two seconds before the first one goes.
make_before_break() { attach wifi; }
make_before_break_then() {
    sleep 2 && attach lte
    sleep 2 && detach wifi
}

# The same, but nobody deletes anything: the first network just delivers nothing any more.
silent_break() { attach wifi && attach lte; }
silent_break_then() { sleep 3 && sever wifi; }

# Break before make (b08, scenario B): half a second without any address.
break_before_make() { attach wifi; }
break_before_make_then() {
    sleep 3 && detach wifi
    sleep 0.5 && attach lte
}

# One interface, another address: what happens when a radio joins another network.
new_address() { attach wifi; }
new_address_then() {
    sleep 3 && unaddress wifi
    ip -n "$name-mn" route flush dev mn-wifi
    sleep 0.5 && attach wifi 10.61.1.77
}

# Back and forth, twenty times, each network there before the other goes.
twenty_moves() { attach wifi; }
twenty_moves_then() {
    local from=wifi to=lte swap
    for ((i = 0; i < 20; i++)); do
        sleep 0.5 && attach $to
        sleep 0.5 && detach $from
        swap=$from from=$to to=$swap
    done
}

# The flapping network: it comes and goes every 300 ms for six seconds while the other one works.
flapping() { attach wifi && attach lte; }
flapping_then() {
    sleep 1
    for ((i = 0; i < 10; i++)); do
        sever wifi && sleep 0.3
        mend wifi && sleep 0.3
    done
}

# Both ends move, one after the other: each has its second network for a second before the first one goes.
both_in_turn() { attach wifi && correspondent_detach 2; }
both_in_turn_then() {
    sleep 1 && attach lte
    sleep 1 && detach wifi
    sleep 1 && correspondent_attach 2
    sleep 1 && correspondent_detach 1
    sleep 1 && attach wifi
    sleep 1 && detach lte
}

# Both ends lose the network in use at the same moment.
both_at_once() { attach wifi && correspondent_detach 2; }
both_at_once_then() {
    sleep 2 && attach lte && correspondent_attach 2
    sleep 2
    detach wifi &
    correspondent_detach 1
    wait $!
}

# The mobile node is behind a NAT, and moves to where it is behind another one. The correspondent node has public addresses.
nat_make_before_break() { nat_up && attach wifi; }
nat_make_before_break_then() { make_before_break_then; }
nat_break_before_make() { nat_up && attach wifi; }
nat_break_before_make_then() { break_before_make_then; }

# The NAT forgets the mobile node, which does not move, and gives it another port from the next packet on (RFC 6951 section 5.4).
nat_rebinding() { nat_up && attach wifi; }
nat_rebinding_then() { sleep 3 && nat_forget; }
