# Sourced: the rows of the torture table.
#
#   [families=46] [links_more=LINKS] [public=yes] row NAME GROUP SECONDS START EVENT...
#
# START sets the hosts up, EVENT is of torture_events.sh and takes SECONDS. With public=yes the server has public addresses. A run is chosen by
# the row's name; groups are the parts of the page.
# shellcheck shell=bash disable=SC2034

# How it begins. Records, addresses of the server and the like may be set here, too.
two_networks() { attach wifi && attach lte; }
one_network() { attach wifi; }
on_the_second() { attach lte; }
behind_nats() { nat_up && two_networks; }
behind_a_nat() { nat_up && one_network; }
# A record a second: little is on its way when the network goes.
quiet_two_networks() { rate=1 && two_networks; }
# So long that every packet is as large as it can be.
large_records() { size=4000 rate=125; }
large_two_networks() { large_records && two_networks; }
large_one_network() { large_records && one_network; }
large_ipv6() { large_records && attach6 wifi && correspondent_attach6 1 && to=("[${core6_of[1]}::2]"); }
# Two seconds of buffer at 20 Mbit/s, in packets of 1,428 bytes.
bloated_two_networks() { two_networks && tune wifi queue 3500; }
bloated_one_network() { one_network && tune wifi queue 3500; }
# The server has one address.
one_address() { one_network && correspondent_detach 2 && to=("${core_of[1]}.2"); }
three_networks() { attach wifi && attach lte && attach wired; }
four_networks() { three_networks && attach satellite; }
# The server has both families; the mobile node one or both. It names the server by the address that it can reach first.
server_dual() { correspondent_attach6 1 && correspondent_attach6 2; }
on_ipv4() { server_dual && attach wifi && to=("${core_of[1]}.2" "[${core6_of[1]}::2]"); }
on_ipv6() { server_dual && attach6 wifi && to=("[${core6_of[1]}::2]" "${core_of[1]}.2"); }
on_ipv6_alone() { on_ipv6 && to=("[${core6_of[1]}::2]"); }
on_ipv4_alone() { on_ipv4 && to=("${core_of[1]}.2"); }
behind_nats_on_ipv6() { nat_up && on_ipv6; }
behind_nats_on_ipv4() { nat_up && on_ipv4; }
on_both_families() { on_ipv4 && attach6 wifi; }
# The network is IPv6 only and translates (RFC 6146); the server has IPv4 only. Its address is known by DNS64, say.
behind_nat64() { attach6 wifi && nat64_up && to=("[$(nat64_of "${core_of[1]}.2")]"); }
on_ipv4_nat64_ahead() { attach wifi && nat64_up && to=("${core_of[1]}.2"); }
# The same with a prefix of the network's own, which its routers tell, or its resolver when it is asked.
on_ipv4_nat64_own_ahead() { attach wifi && nat64_up 2001:db8:64::/96 && nat64_told lte 2001:db8:64::/96 && to=("${core_of[1]}.2"); }
on_ipv4_nat64_asked_ahead() { attach wifi && nat64_up 2001:db8:64::/96 && nat64_known lte 2001:db8:64::/96 && to=("${core_of[1]}.2"); }

outage_rows() {
    local s
    for s in 1 3 8 12 15 20 40 180 900; do
        row "silent_both_$s" outages $s two_networks silence both $s
        row "silent_one_$s" outages $s two_networks silence one $s
        row "silent_only_$s" outages $s one_network silence only $s
        row "unplugged_both_$s" outages $s two_networks unplugged both $s
        row "unplugged_one_$s" outages $s two_networks unplugged one $s
        row "unplugged_only_$s" outages $s one_network unplugged only $s
        row "forth_both_$s" outages $s two_networks silence both $s forth
        row "back_both_$s" outages $s two_networks silence both $s back
        row "forth_one_$s" outages $s two_networks silence one $s forth
        row "back_one_$s" outages $s two_networks silence one $s back
    done
    row quiet_silent_both_8 outages 8 quiet_two_networks silence both 8
    row quiet_silent_both_40 outages 40 quiet_two_networks silence both 40
}

size_rows() {
    local s
    for s in 1280 1200 900 576; do
        row "black_hole_only_$s" sizes 8 large_one_network black_hole only $s
        row "black_hole_one_$s" sizes 8 large_two_networks black_hole one $s
    done
    families=46 row black_hole_ipv6_1280 sizes 8 large_ipv6 black_hole only 1280
}

quality_rows() {
    row loss_ramp_one quality 18 two_networks loss_ramp one
    row loss_ramp_both quality 18 two_networks loss_ramp both
    row rtt_jump_one quality 10 two_networks slow one
    row rtt_jump_both quality 10 two_networks slow both
    row rtt_jump_forth quality 10 two_networks slow one forth
    row rtt_jump_back quality 10 two_networks slow one back
    row slow_beside_thin quality 30 two_networks slow_beside_thin
    row jitter_one quality 15 two_networks jittery one
    row jitter_both quality 15 two_networks jittery both
    row bloat_forth quality 15 bloated_two_networks bloat forth 15
    row bloat_back quality 15 bloated_two_networks bloat back 15
    row bloat_only quality 15 bloated_one_network bloat forth 15
}

address_rows() {
    row renumbered_mobile addresses 3 one_network renumbered mobile
    row renumbered_mobile_of_two addresses 3 two_networks renumbered mobile
    row renumbered_server addresses 3 one_network renumbered server
    row renumbered_server_ahead addresses 5 one_address renumbered_ahead
    row renumbered_in_turn addresses 4 two_networks renumbered in_turn
    row renumbered_same_instant addresses 3 two_networks renumbered same_instant
    links_more="wired" row three_uplinks_last_replaced addresses 5 three_networks last_replaced unplugged
    links_more="wired" row three_uplinks_last_replaced_silently addresses 5 three_networks last_replaced silent
    links_more="wired satellite" row four_uplinks_last_replaced addresses 6 four_networks last_replaced unplugged
    links_more="wired satellite" row four_uplinks_last_replaced_silently addresses 6 four_networks last_replaced silent
    links_more="wired satellite" row four_uplinks_silent_8 addresses 8 four_networks silence all 8
}

family_rows() {
    local families=46
    row ipv4_to_ipv6 families 5 on_ipv4 moved 0.5 6
    row ipv6_to_ipv4 families 5 on_ipv6 moved 0.5 4
    row ipv4_to_ipv6_and_back families 9 on_ipv4 moved 0.5 6 4
    row ipv6_to_ipv4_and_back families 9 on_ipv6 moved 0.5 4 6
    # The server tells its other addresses itself.
    row ipv4_to_ipv6_untold families 5 on_ipv4_alone moved 0.5 6
    row ipv6_to_ipv4_untold families 5 on_ipv6_alone moved 0.5 4
    # From global addresses to behind a NAT and the other way round.
    public=yes row ipv6_to_ipv4_nat families 5 behind_nats_on_ipv6 moved 0.5 4
    public=yes row ipv4_nat_to_ipv6 families 5 behind_nats_on_ipv4 moved 0.5 6
    row dual_to_ipv6 families 3 on_both_families family_goes mn 4
    row dual_to_ipv4 families 3 on_both_families family_goes mn 6
    row server_loses_ipv4 families 3 on_both_families family_goes cn 4
    row server_loses_ipv6 families 3 on_both_families family_goes cn 6
    command -v tayga >/dev/null || { echo "tayga is not there: rows with NAT64 are left out" >&2 && return 0; }
    public=yes row nat64_silent_8 families 8 behind_nat64 silence only 8
    public=yes row ipv4_to_nat64 families 5 on_ipv4_nat64_ahead moved 0.5 6
    row ipv4_to_nat64_own families 5 on_ipv4_nat64_own_ahead moved 0.5 6
    row ipv4_to_nat64_asked families 5 on_ipv4_nat64_asked_ahead moved 0.5 6
}

network_rows() {
    public=yes row nat_rebinding networks 3 behind_a_nat nat_forgets
    public=yes row nat_another_outside networks 3 behind_a_nat nat_moves
    public=yes row nat_another_outside_of_two networks 3 behind_nats nat_moves
    public=yes row nat_expiry_5 networks 5 behind_nats nat_forgets_in_silence 5
    public=yes row nat_expiry_20 networks 20 behind_nats nat_forgets_in_silence 20
    row captive_joins networks 8 on_the_second captive_joins 8
    row captive_then_alone networks 7 on_the_second captive_then_alone 5
    row captive_opens networks 8 on_the_second captive_opens 8
    row routes_flip_host networks 8 two_networks routes_flip host 8
    row routes_flip_network networks 8 two_networks routes_flip network 8
    row unreachable_8 networks 8 two_networks unreachable 8
    row routeless_8 networks 8 one_network routeless 8
    local s
    for s in 10 60 600; do
        row "suspended_mobile_$s" networks $s two_networks suspended mn $s
        row "suspended_server_$s" networks $s two_networks suspended cn $s
    done
    row stopped_mobile_10 networks 10 two_networks stopped mn 10
    row stopped_server_10 networks 10 two_networks stopped cn 10
}

flap_rows() {
    local how which
    for how in silent unplugged; do
        for which in one only; do
            local start=two_networks
            [ $which = one ] || start=one_network
            row "flaps_${how}_${which}_0.1_hz" flaps 20 $start flaps $how $which 5 2
            row "flaps_${how}_${which}_0.5_hz" flaps 20 $start flaps $how $which 1 10
            row "flaps_${how}_${which}_2_hz" flaps 15 $start flaps $how $which 0.25 30
            # An interface takes some hundredths of a second to go and to come.
            [ $how = silent ] || continue
            row "flaps_${how}_${which}_5_hz" flaps 15 $start flaps $how $which 0.1 75
            row "flaps_${how}_${which}_20_hz" flaps 15 $start flaps $how $which 0.025 300
        done
    done
}

all_rows() {
    # The control: without trouble nothing may happen.
    row calm control 5 two_networks mark back
    outage_rows && size_rows && quality_rows && address_rows && family_rows && network_rows && flap_rows
}
