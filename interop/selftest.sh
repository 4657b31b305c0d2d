#!/bin/bash
# selftest.sh [usrsctp] [kernel] - the peers against each other, without any code of ours on the wire,
# so that a failure seen later is known not to be theirs. Needs root; a few minutes for both parts.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit
name=wst$$
work=$(mktemp -d)
. ./helpers.sh

usrsctp_part() {
    local a="--bind 10.131.1.1,10.131.2.1 --udp 9899 --udp-remote 9900 --timeout $patience"
    local b="--bind 10.131.1.2,10.131.2.2 --connect 10.131.1.1 --udp 9900 --udp-remote 9899 --timeout $patience"
    local quick="--rto-min 200 --rto-initial 500 --rto-max 1000 --pmr 1 --heartbeat 200"
    local U=$build/usrsctp-peer

    topology_up "$name"
    pair on_a "$U" --listen $a --send 1600 --size 65536 --streams 4 --expect 1600 -- \
        on_b "$U" $b --send 1600 --size 65536 --streams 4 --expect 1600
    check "100 MB each way: listener" first "$(received 1600 104857600)" '"streams_seen":4' '"how":"shutdown_complete"'
    check "100 MB each way: connector" second "$(received 1600 104857600)" '"how":"shutdown_complete"'

    record "$name-b" "$work/small.pcap"
    pair on_a "$U" --listen $a --echo -- on_b "$U" $b --send 3000 --size 1 --streams 300 --unordered --expect 3000
    check "1-byte messages, unordered, 300 streams" first "$(received 3000 3000)" '"unordered":3000' '"streams_seen":300'
    check "their echo" second "$(received 3000 3000)"
    pair on_a "$U" --listen $a -- on_b "$U" $b --send 2 --hold 1000 --close abort --abort-text 'so "it" goes'
    check "abort seen, with its cause" first '"how":"lost","cause":12,"text":"so \\"it\\" goes"' "$(received 2 2048)"
    pair on_a "$U" --listen $a -- on_b sh -c "$U $b --port 6000 --send 5 --hold 1000 --close vanish; $U $b --port 6000 --send 7"
    check "restart seen" first '"restart"' "$(received 5 5120)" "$(received 7 7168)" '"how":"shutdown_complete"'
    recorded "$work/small.pcap" INIT ABORT SHUTDOWN_COMPLETE

    # The sender's first INIT meets nobody, so that it waits in COOKIE-WAIT when the other's arrives.
    on_a "$U" --connect 10.131.1.2 $a --port 6001 --remote-port 6002 --rto-initial 10000 --send 5 --expect 5 --hold 1000 >"$work/first" &
    local early=$!
    sleep 1.5
    on_b "$U" $b --port 6002 --remote-port 6001 --send 5 --expect 5 --hold 1000 >"$work/second"
    wait "$early"
    check "INIT collision: early one" first "$(received 5 5120)"
    check "INIT collision: late one" second "$(received 5 5120)"

    : >"$work/first"
    (
        said "$work/first" '"progress"'
        topology_cut "$name" 1
    ) &
    pair on_a "$U" --listen $a $quick --progress 20000000 -- on_b "$U" $b $quick --send 1600 --size 65536
    check "100 MB with the primary cut" first "$(received 1600 104857600)"
    check "the sender noticed" second '"address":"10.131.1.1","state":"unreachable"' '"how":"shutdown_complete"'
    topology_down "$name"
}

kernel_part() {
    local U=$build/usrsctp-peer K=$build/kernel-peer
    local u="--bind 10.132.1.1,10.132.2.1 --timeout $patience" k="--bind 10.132.1.2,10.132.2.2 --timeout $patience"

    kernel/peer up || { fail "the kernel peer does not start" && return; }
    pair guest "$K --listen --bind 127.0.0.1 --timeout $patience" -- guest "$K --connect 127.0.0.1 --send 200 --size 65536 --streams 3"
    check "kernel to kernel" first "$(received 200 13107200)" '"how":"shutdown_complete"'

    record "$PEER_NAME" "$work/kernel.pcap"
    pair guest "$K --listen $k --echo" -- tester "$U" --connect 10.132.1.2 $u --send 100 --size 65536 --streams 3 --expect 100
    check "raw, usrsctp connects" first "$(received 100 6553600)" '"remote":\["10.132.*,"10.132' '"how":"shutdown_complete"'
    check "its echo" second "$(received 100 6553600)"
    pair tester "$U" --listen $u -- guest "$K --connect 10.132.1.1 $k --send 100 --size 65536 --streams 3"
    check "raw, kernel connects" first "$(received 100 6553600)" '"how":"shutdown_complete"'
    pair tester "$U" --listen $u -- guest "$K --connect 10.132.1.1 $k --send 3 --hold 1000 --close abort"
    check "kernel's abort seen" first '"how":"lost","cause":12' "$(received 3 3072)"
    pair guest "$K --listen $k" -- tester "$U" --connect 10.132.1.2 $u --send 3 --hold 1000 --close abort
    check "kernel sees an abort" first '"how":"lost","cause":12,"text":"bye"' "$(received 3 3072)"

    k="$k --udp 9899" u="$u --udp 9900 --udp-remote 9899"
    pair guest "$K --listen $k --udp-remote 9900" -- \
        tester sh -c "$U --connect 10.132.1.2 $u --port 6000 --send 5 --hold 1000 --close vanish;
                      $U --connect 10.132.1.2 $u --port 6000 --send 7"
    check "UDP, usrsctp restarts" first '"restart"' "$(received 5 5120)" "$(received 7 7168)" '"how":"shutdown_complete"'
    pair tester "$U" --listen $u -- \
        guest "$K --connect 10.132.1.1 $k --udp-remote 9900 --port 6000 --send 5 --hold 1000 --close vanish;
               $K --connect 10.132.1.1 $k --udp-remote 9900 --port 6000 --send 7"
    check "UDP, kernel restarts" first '"restart"' "$(received 7 7168)" '"how":"shutdown_complete"'

    guest tc qdisc add dev eth1 root netem delay 1500ms
    guest "$K --connect 10.132.1.1 $k --udp-remote 9900 --port 6002 --remote-port 6001 --rto-initial 10000 --send 5 --expect 5 --hold 1000" >"$work/first" &
    local early=$!
    said "$work/first" '"start"'
    sleep 0.2
    tester "$U" --connect 10.132.1.2 $u --port 6001 --remote-port 6002 --send 5 --expect 5 --hold 1000 >"$work/second"
    wait "$early"
    guest tc qdisc del dev eth1 root
    check "UDP, INIT collision: kernel" first "$(received 5 5120)"
    check "UDP, INIT collision: usrsctp" second "$(received 5 5120)"
    recorded "$work/kernel.pcap" INIT ABORT SHUTDOWN_COMPLETE
    pair tester "$U" --listen $u --send 1600 --size 65536 --expect 1600 -- \
        guest "$K --connect 10.132.1.1 $k --udp-remote 9900 --send 1600 --size 65536 --expect 1600"
    check "UDP, 100 MB each way: usrsctp" first "$(received 1600 104857600)"
    check "UDP, 100 MB each way: kernel" second "$(received 1600 104857600)"
}

[ "$(id -u)" = 0 ] || { echo "needs root" >&2 && exit 2; }
make -s || exit
for part in ${*:-usrsctp kernel}; do "${part}_part"; done
echo "$passed passed, $failed failed"
exit $((failed > 0))
