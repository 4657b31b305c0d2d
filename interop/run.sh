#!/bin/bash
# run.sh [usrsctp] [kernel] [webrtc] [none] - Whimbrel against the stacks of others, every packet captured and checked.
# usrsctp over UDP, and raw where addresses change; the Linux kernel (user-mode-linux) raw and over UDP; the stacks of WebRTC implementations
# (pion, dcsctp, sctp-proto) over UDP. Needs root; some minutes.
#
# Environment: KEEP=DIR      keep every capture there
#              ONLY=PATTERN  only the cases that the glob pattern matches, by function name: ONLY='cut_*'
#              REPEAT=1      cases that fail are run again, and that run decides: real processes on a shared machine
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit
name=wir$$
work=$(mktemp -d)
. ./helpers.sh
# RTO.Min no lower: with 50 ms usrsctp now and then stops sending for good when its primary is cut (README.md).
quick="--rto-min 200 --rto-initial 500 --rto-max 1000 --pmr 1 --heartbeat 200"
bulk="--send 1600 --size 65536 --streams 4"
all_of_bulk=$(received 1600 104857600)
graceful='"how":"shutdown_complete"'
# What is said in this time arrives even on a machine that does many other things.
hold="--hold 1000"
. ./address_changes.sh
. ./several_paths.sh
. ./webrtc.sh
. ./programs.sh

# What a part provides: ours and theirs (run a peer with its addresses), $our_host (the namespace of
# ours), $to_ours and $to_theirs (options that connect), $our_first and $their_first (primary addresses),
# cut_link and mend_link, $reason (what theirs says for a reason in its ABORT).

bulk_ours_connects() {
    pair theirs --listen $bulk --expect 1600 -- ours $to_theirs $bulk --expect 1600
    check "100 MB each way, ours connects and shuts down" \
        second "$all_of_bulk" '"streams_seen":4' '"remote":\[".*",".*"\]' "$graceful" -- first "$all_of_bulk" "$graceful"
}

bulk_theirs_connects() {
    pair ours --listen $bulk --expect 1600 -- theirs $to_ours $bulk --expect 1600
    check "100 MB each way, theirs connects and shuts down" \
        first "$all_of_bulk" '"streams_seen":4' '"remote":\[".*",".*"\]' "$graceful" -- second "$all_of_bulk" "$graceful"
}

cut_on_progress() {
    : >"$work/first" # the last pair's progress is not this one's
    (said "$work/first" '"progress"' && cut_link 1) &
}

cut_our_primary() {
    cut_on_progress
    pair theirs --listen $quick --progress 5000000 -- ours $to_theirs $quick $bulk
    mend_link 1
    check "100 MB from ours, the primary cut" first "$all_of_bulk" "$graceful" -- \
        second "\"address\":\"$their_first\",\"state\":\"unreachable\"" "$graceful"
}

cut_their_primary() {
    cut_on_progress
    pair ours --listen $quick --progress 5000000 -- theirs $to_ours $quick $bulk
    mend_link 1
    check "100 MB from theirs, the primary cut" first "$all_of_bulk" "$graceful" -- \
        second "\"address\":\"$our_first\",\"state\":\"unreachable\"" "$graceful"
}

small_bytes_ordered() {
    local all
    all=$(received 3000 3000)
    pair ours --listen --echo -- theirs $to_ours --send 3000 --size 1 --streams 1000 --expect 3000
    check "1-byte messages, 1,000 streams, our echo" first "$all" '"unordered":0' '"streams_seen":1000' -- second "$all" '"streams_seen":1000'
}

small_bytes_unordered() {
    local all
    all=$(received 3000 3000)
    pair theirs --listen --echo -- ours $to_theirs --send 3000 --size 1 --streams 1000 --unordered --expect 3000
    check "1-byte messages, 1,000 streams, unordered, their echo" \
        first "$all" '"unordered":3000' '"streams_seen":1000' -- second "$all" '"unordered":3000' '"streams_seen":1000'
}

small_large_messages() {
    pair theirs --listen --rcvbuf 200000 -- ours $to_theirs --send 8 --size 1000000 --streams 2
    check "messages larger than their receive buffer" first "$(received 8 8000000)" "$graceful"
    pair ours --listen --rcvbuf 200000 -- theirs $to_ours --send 8 --size 1000000 --streams 2
    check "messages larger than our receive buffer" first "$(received 8 8000000)" "$graceful"
}

small_shutdown_by_listener() {
    pair ours --listen --send 3 --expect 3 --close shutdown -- theirs $to_ours --send 3 --close wait
    check "we shut down what they began" first "$(received 3 3072)" "$graceful" -- second "$(received 3 3072)" "$graceful"
    pair theirs --listen --send 3 --expect 3 --close shutdown -- ours $to_theirs --send 3 --close wait
    check "they shut down what we began" first "$(received 3 3072)" "$graceful" -- second "$(received 3 3072)" "$graceful"
}

small_aborts() {
    pair ours --listen -- theirs $to_ours --send 3 $hold --close abort --abort-text enough
    check "their ABORT and its reason" first "\"how\":\"lost\",\"cause\":12,\"text\":\"$reason\"" "$(received 3 3072)"
    pair theirs --listen -- ours $to_theirs --send 3 $hold --close abort --abort-text enough
    check "our ABORT and its reason" first '"how":"lost","cause":12,"text":"enough"' "$(received 3 3072)"
}

twice() { # ours|theirs CONNECT-OPTIONS...: vanishes, comes back from the same port
    "$@" --port 6000 --send 5 $hold --close vanish
    "$@" --port 6000 --send 7
}

small_restarts() {
    pair ours --listen -- twice theirs $to_ours
    check "they restart" first '"restart"' "$(received 5 5120)" "$(received 7 7168)" "$graceful"
    pair theirs --listen -- twice ours $to_theirs
    check "we restart" first '"restart"' "$(received 5 5120)" "$(received 7 7168)" "$graceful"
}

# collide WHAT EARLY... -- LATE...: the early one's INIT is lost, so that it is in COOKIE-WAIT when the late one's comes.
collide() {
    local what=$1 early=()
    shift
    while [ "$1" != -- ]; do early+=("$1") && shift; done
    shift
    cut_link 1
    cut_link 2
    : >"$work/first"
    # It does not try again before the late one is there, whose INIT is an answer enough.
    "${early[@]}" --rto-initial 20000 --rto-max 20000 --send 5 --expect 5 $hold >"$work/first" 2>&1 &
    local waiting=$!
    said "$work/first" '"start"'
    sleep 1.5
    mend_link 1
    mend_link 2
    "$@" --send 5 --expect 5 $hold >"$work/second" 2>&1
    wait "$waiting"
    check "$what" first "$(received 5 5120)" "$graceful" -- second "$(received 5 5120)" "$graceful"
}

small_collisions() {
    collide "INIT collision, ours waits" ours $to_theirs --port 6001 --remote-port 6002 -- \
        theirs $to_ours --port 6002 --remote-port 6001
    collide "INIT collision, theirs waits" theirs $to_ours --port 6003 --remote-port 6004 -- \
        ours $to_theirs --port 6004 --remote-port 6003
}

# Both INITs, INIT ACKs, COOKIE ECHOs and SHUTDOWNs cross. Only the guest's kernel can delay packets.
crossing() {
    guest tc qdisc add dev eth1 root netem delay 1500ms
    : >"$work/first"
    theirs $to_ours --port 6005 --remote-port 6006 --rto-initial 20000 --rto-max 20000 --send 5 --expect 5 $hold >"$work/first" 2>&1 &
    local early=$!
    said "$work/first" '"start"'
    sleep 0.1
    ours $to_theirs --port 6006 --remote-port 6005 --rto-initial 20000 --rto-max 20000 --send 5 --expect 5 $hold >"$work/second" 2>&1
    wait "$early"
    guest tc qdisc del dev eth1 root
    check "INIT collision, packets cross" first "$(received 5 5120)" "$graceful" -- second "$(received 5 5120)" "$graceful"
}

# cases FUNCTION...: one capture of them all, taken on our side behind segmentation.
cases() {
    local chosen=() chunks=(INIT DATA SACK SHUTDOWN_COMPLETE)
    for one in "$@"; do
        # shellcheck disable=SC2053
        [[ $one == ${ONLY:-*} ]] && chosen+=("$one")
    done
    [ ${#chosen[@]} -gt 0 ] || return
    # Run again by themselves, some have less to show than all together.
    case "${chosen[*]}" in
    small_aborts | webrtc_aborts) chunks=(INIT DATA SACK) ;;
    webrtc_speechless) chunks=(INIT SHUTDOWN_COMPLETE) ;;
    esac
    case " ${chosen[*]} " in *" small_aborts "* | *" webrtc_aborts "*) chunks+=(ABORT) ;; esac
    case " ${chosen[*]} " in *" webrtc_idle "*) chunks+=(HEARTBEAT HEARTBEAT_ACK) ;; esac
    running=("${chosen[@]}")
    record "$our_host" "$work/${part// /-}-${chosen[0]}.pcap"
    for one in "${chosen[@]}"; do "$one"; done
    recorded "$work/${part// /-}-${chosen[0]}.pcap" "${chunks[@]}"
}

every_case() {
    echo "--- $part"
    cases small_bytes_ordered small_bytes_unordered small_large_messages small_shutdown_by_listener small_aborts \
        small_restarts small_collisions "$@"
    for one in bulk_ours_connects bulk_theirs_connects cut_our_primary cut_their_primary; do cases "$one"; done
}

# A train of UDP segments (GSO) crosses a veth uncut and would be captured as one packet: cut it before.
wire_packets() {
    for link in "$@"; do ip -n "$our_host" link set "$link" gso_max_segs 1; done
}

usrsctp_part() {
    local our_host=$name-a our_first=10.131.1.1 their_first=10.131.1.2 reason=enough part="usrsctp over UDP"
    local to_ours="--connect $our_first" to_theirs="--connect $their_first"
    ours() { on_a "$whimbrel" --timeout "$patience" --bind 10.131.1.1,10.131.2.1 --udp 9899 --udp-remote 9900 "$@"; }
    theirs() { on_b "$build/usrsctp-peer" --timeout "$patience" --bind 10.131.1.2,10.131.2.2 --udp 9900 --udp-remote 9899 "$@"; }
    running=('*')
    cut_link() { topology_cut "$name" "$1"; }
    mend_link() { topology_mend "$name" "$1"; }
    topology_up "$name" || { fail "no network namespaces" && return; }
    wire_packets link1 link2
    every_case
    part="usrsctp raw"
    local net=10.131 ours_link=link theirs_link=link their_home_link=home best_hmac=sha1
    on_ours() { on_a "$@"; }
    on_theirs() { on_b "$@"; }
    ours_at() { on_a "$whimbrel" --timeout "$patience" --bind "$@"; }
    theirs_at() { on_b "$build/usrsctp-peer" --timeout "$patience" --bind "$@"; }
    echo "--- $part"
    # Not the loopback device: usrsctp takes its addresses for unreachable from elsewhere.
    on_b ip link add home type veth peer name home-end
    on_b ip link set home up
    on_b ip link set home-end up
    address_changes
    topology_down "$name"
    usrsctp_several_paths
}

kernel_part() {
    local our_host=$PEER_NAME our_first=10.132.1.1 their_first=10.132.1.2 reason='' part udp_ours udp_theirs
    local to_ours="--connect $our_first" to_theirs="--connect $their_first"
    local net=10.132 ours_link=k theirs_link=eth their_home_link=lo best_hmac=sha256
    on_ours() { tester "$@"; }
    on_theirs() { guest "$@"; }
    ours_at() { tester "$whimbrel" --timeout "$patience" $udp_ours --bind "$@"; }
    theirs_at() { guest "$build/kernel-peer --timeout $patience $udp_theirs --bind $(printf '%q ' "$@")"; }
    theirs_anywhere() { guest "$build/kernel-peer --timeout $patience $udp_theirs $(printf '%q ' "$@")"; }
    ours() { ours_at 10.132.1.1,10.132.2.1 "$@"; }
    theirs() { theirs_at 10.132.1.2,10.132.2.2 "$@"; }
    cut_link() { kernel/peer cut "$1"; }
    mend_link() { kernel/peer mend "$1"; }
    running=('*')
    kernel/peer up || { fail "the kernel peer does not start" && return; }
    wire_packets k1 k2
    part="kernel raw" udp_ours='' udp_theirs=''
    every_case crossing
    kernel_address_changes
    part="kernel over UDP" udp_ours="--udp 9900 --udp-remote 9899" udp_theirs="--udp 9899 --udp-remote 9900"
    every_case crossing
    kernel_address_changes
}

# What all parts run is built, and nothing is run.
none_part() { :; }

[ "$(id -u)" = 0 ] || { echo "needs root" >&2 && exit 2; }
make -s && cargo build --release --locked --quiet --manifest-path whimbrel/Cargo.toml || exit
target=${CARGO_TARGET_DIR:-$here/whimbrel/target}
whimbrel=$target/release/whimbrel-peer
[ -z "${KEEP:-}" ] || mkdir -p "$KEEP"
parts=(${*:-usrsctp kernel webrtc})
for part_name in "${parts[@]}"; do "${part_name}_part"; done
if [ "$failed" -gt 0 ] && [ -n "${REPEAT:-}" ]; then
    echo "--- $failed failed; the second run of ${failed_cases[*]} decides"
    failed=0
    ONLY="@($(IFS='|' && echo "${failed_cases[*]}"))"
    [[ ${parts[*]} != *kernel* ]] || kernel/peer down
    for part_name in "${parts[@]}"; do "${part_name}_part"; done
fi
echo "$passed passed, $failed failed"
exit $((failed > 0))
