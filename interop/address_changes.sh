# Sourced by run.sh: addresses that change while data flows both ways (RFC 5061), authenticated (RFC 4895).
#
# Who moves is reached over link 1 first, and over link 2 alone in the end. The other one has a single address, its home,
# to which both links lead: so nothing arrives any more but by what was changed. Half of the data goes out after that.
#
# What a part provides, besides what run.sh lists: on_ours, on_theirs (run a command on that host), $ours_link, $theirs_link
# (the name of its devices, without the number), $their_home_link,
# $best_hmac (sha1, sha256), $net (the first two octets of all addresses).
# shellcheck shell=bash disable=SC2034,SC2086,SC2154

# Who has lost the only way to the peer must not give up before there is another one.
patient="$quick --amr 100"
moving="--send 320 --size 65536 --streams 4 --expect 320 --progress 2000000"
all_of_moving=$(received 320 20971520)

# our_network LINK: it appears, with an address and a default route. our_network_lost LINK: and is gone.
our_network() {
    on_ours ip link set "$ours_link$1" up
    on_ours ip addr replace "$net.$1.1/24" dev "$ours_link$1"
    on_ours ip route replace default via "$net.$1.2" dev "$ours_link$1" metric "${1}00"
}
our_network_lost() {
    on_ours ip link set "$ours_link$1" down
    on_ours ip -4 addr flush dev "$ours_link$1"
}

their_default_route() { on_theirs ip route replace default via "$net.$1.1" dev "$theirs_link$1"; }

# The addresses that do not move.
our_home() { on_ours ip addr "$1" "$net.9.1/32" dev lo >/dev/null 2>&1; }
their_home() { on_theirs ip addr "$1" "$net.9.2/32" dev "$their_home_link" >/dev/null 2>&1; }

# As the other cases want it.
everything_back() {
    our_network 1
    our_network 2
    mend_link 1
    on_ours ip route flush default
    on_theirs ip route flush default
    our_home del
    their_home del
}

# changing HMAC KEY CASE OPTION...: a capture of the case, in which these authenticate every chunk that must be.
changing() {
    local hmac=$1 key=$2 file="$work/${part// /-}-$3.pcap" used
    # shellcheck disable=SC2053
    [[ $3 == ${ONLY:-*} ]] || return
    running=("$3")
    record "$our_host" "$file"
    : >"$work/first" # the last pair's progress is not this one's
    : >"$work/second"
    "${@:3}"
    stop_recording "$file"
    everything_back
    used=$(authenticated_with "$file")
    case $used in
    "$hmac key $key") pass "authenticated with $used" ;;
    "") [ "${dropped:-0}" = 0 ] && fail "nothing is authenticated" ;;
    *) fail "authenticated with ${used:-nothing} instead of $hmac key $key" ;;
    esac
    judge_recording "$file" AUTH ASCONF ASCONF_ACK DATA SHUTDOWN_COMPLETE
}

# Ours moves by its program's commands: make before break.
ours_moves() {
    their_home add
    our_network 1
    our_network_lost 2
    {
        said "$work/second" '"progress"' && our_network 2
        said "$work/second" "\"remove $net.1.1\"" && our_network_lost 1
    } &
    local steps=$!
    pair theirs_at "$net.9.2" --listen --asconf $patient $moving "$@" -- \
        ours_at 0.0.0.0 --connect "$net.9.2" --mobile $moving "$@" \
        --change "add $net.2.1" --change "ask-primary $net.2.1" --change "remove $net.1.1"
    wait "$steps"
    check "ours adds an address, asks for it, removes the old one" \
        first "$all_of_moving" "\"$net.2.1\",\"state\":\"made_primary\"" "\"$net.1.1\",\"state\":\"removed\"" "$graceful" -- \
        second "\"add $net.2.1\",\"error\":null" "\"ask-primary $net.2.1\",\"error\":null" "\"remove $net.1.1\",\"error\":null" \
        "$all_of_moving" "$graceful"
}

# unless_usrsctp_errs FILE PATTERN WHAT CASE...: the case, repeated when FILE has PATTERN, which says that it was ended by an error of
# usrsctp that README.md describes. No other stack is excused.
unless_usrsctp_errs() {
    local attempt
    for attempt in 1 2 3 4; do
        "${@:4}"
        [[ $part == usrsctp* ]] && grep -qE "$2" "$work/$1" || break
        echo "     $3 (attempt $attempt)"
    done
}

# Ours loses its only network and has another one a second later; the policy does the rest.
ours_breaks_before_it_makes() {
    their_home add
    unless_usrsctp_errs second '"cause":13,"text":"TSN [0-9a-f]+ retransmitted 30 times, giving up' \
        "usrsctp goes on sending what is outstanding to the address that was deleted" break_before_make "$@"
    check "ours loses its only address and gets another one" \
        first "$all_of_moving" "\"$net.2.1\",\"state\":\"added\"" "\"$net.1.1\",\"state\":\"removed\"" "$graceful" -- \
        second "$all_of_moving" "$graceful"
}

break_before_make() {
    our_network 1
    our_network_lost 2
    : >"$work/second" # the last attempt's progress is not this one's
    {
        said "$work/second" '"progress"' && our_network_lost 1
        sleep 1
        our_network 2
    } &
    local steps=$!
    pair theirs_at "$net.9.2" --listen --asconf $patient $moving "$@" -- \
        ours_at 0.0.0.0 --connect "$net.9.2" --mobile --seamless $moving "$@" --change "await $net.2.1"
    wait "$steps"
}

# Theirs moves by its program's commands.
theirs_moves() {
    our_home add
    unless_usrsctp_errs first '"cause":13,"text":"Out of the blue"' \
        "usrsctp aborts for a packet to the address that it deletes" \
        unless_usrsctp_errs second 'Segmentation fault' "usrsctp crashes over the address that it deletes" make_before_break "$@"
    check "theirs adds an address, asks for it, removes the old one" \
        first "\"$net.2.2\",\"state\":\"made_primary\"" "\"$net.1.2\",\"state\":\"removed\"" "$all_of_moving" "$graceful" -- \
        second "\"remove $net.1.2\",\"error\":null" "$all_of_moving" "$graceful"
}

make_before_break() {
    mend_link 1
    their_default_route 1
    : >"$work/first" # the last attempt's events are not this one's
    {
        said "$work/first" "\"$net.2.2\",\"state\":\"added\"" && their_default_route 2
        said "$work/first" "\"$net.1.2\",\"state\":\"removed\"\|\"event\":\"exit\"" && cut_link 1
    } &
    local steps=$!
    pair ours_at "$net.9.1" --listen --mobile $moving "$@" -- \
        theirs_at "$net.1.2" --connect "$net.9.1" --asconf $patient $moving "$@" \
        --change "add $net.2.2" --change "ask-primary $net.2.2" --change "remove $net.1.2"
    wait "$steps"
}

# Theirs loses its only address and has another one a second later; the kernel does the rest. ("any" needs a port.)
theirs_breaks_before_it_makes() {
    our_home add
    on_theirs ip -4 addr flush dev "${theirs_link}2"
    their_default_route 1
    {
        said "$work/first" '"progress"' && on_theirs ip addr del "$net.1.2/24" dev "${theirs_link}1"
        sleep 1
        on_theirs ip addr add "$net.2.2/24" dev "${theirs_link}2"
        their_default_route 2
    } &
    local steps=$!
    pair ours_at "$net.9.1" --listen --mobile $moving "$@" -- \
        theirs_anywhere --port 5002 --connect "$net.9.1" --auto-asconf $patient $moving "$@" --change "await $net.2.2"
    wait "$steps"
    on_theirs ip addr add "$net.1.2/24" dev "${theirs_link}1"
    check "theirs loses its only address and gets another one" \
        first "\"$net.2.2\",\"state\":\"added\"" "\"$net.1.2\",\"state\":\"removed\"" "$all_of_moving" "$graceful" -- \
        second "$all_of_moving" "$graceful"
}

# Who has another key changes nothing, and does no harm. (usrsctp may crash when it shuts down with an ASCONF unanswered.)
keys_differ() {
    our_home add
    their_default_route 1
    pair ours_at "$net.9.1" --listen --mobile $moving --auth-key "1:what we know" -- \
        theirs_at "$net.1.2" --connect "$net.9.1" --asconf $moving --auth-key "1:what they know" --change "add $net.2.2"
    everything_back
    check "theirs has another key" first "$all_of_moving" "$graceful" -- second "\"add $net.2.2\",\"error\":null" "$all_of_moving" "$graceful"
    if grep -q '"added"' "$work/first"; then fail "theirs has another key, and its address was added"; fi
}

address_changes() {
    changing sha1 7 ours_moves --hmac sha1 --auth-key "7:a key that only these two have"
    changing $best_hmac 0 ours_breaks_before_it_makes --hmac $best_hmac
    changing $best_hmac 1 theirs_moves --hmac $best_hmac --auth-key "1:another key"
}

kernel_address_changes() {
    address_changes
    changing sha256 0 theirs_breaks_before_it_makes --hmac sha256
    cases keys_differ
}
