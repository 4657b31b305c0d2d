#!/bin/bash
# aggregate.sh [-n RUNS] [-c CELL]... [-d up|down]... [-k bbr|cubic] [-o DIR] - all networks at once, beside Linux MPTCP.
#
# A mobile host with two networks sends 1, 10 and 100 MB to a host with one address, or gets them from there. Whimbrel with --multipath aggregate
# and the kernel's MPTCP take turns, and Whimbrel by either network alone for comparison. Each run is a line of DIR/runs.jsonl (in this directory unless said otherwise), from which
# aggregate_table.py makes a table. The kernel's buffers are raised to 32 MB so that they are no limit; MPTCP learns of addresses at once
# (mptcp.sh). -k: the kernel's congestion control, bbr unless said otherwise, as Whimbrel has it. Needs root.
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=ag$$
work=$(mktemp -d)
. "$here/topology.sh"
. "$here/mptcp.sh"
runs=3 cells=() directions=() control=bbr out=$here
while getopts n:c:d:k:o: option; do
    case $option in
    n) runs=$OPTARG ;;
    c) cells+=("$OPTARG") ;;
    d) directions+=("$OPTARG") ;;
    k) control=$OPTARG ;;
    o) out=$OPTARG ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
[ ${#cells[@]} -gt 0 ] || cells=(20+20 40+10 50+5_far lossy dies appears)
[ ${#directions[@]} -gt 0 ] || directions=(up down)
trap 'topology_down; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$out"

. "$here/../programs.sh"
target=${CARGO_TARGET_DIR:-$repository/target}
wire=$(program whimbrel-emulator bin whimbrel-wire) || exit
cargo build -q --release --locked --manifest-path "$here/mover/Cargo.toml" --target-dir "$target/mover" || exit
mover=$target/mover/release/whimbrel-mover

# network NETWORK RATE ROUND_TRIP_MS: with a queue of one bandwidth-delay product
network() {
    tune "$1" rate "$2"mbit
    tune "$1" delay "$(($3 / 2))"ms
    tune "$1" queue $(($2 * 125 * $3))bytes
}

# What each cell is, before the transfer begins and meanwhile.
begin() {
    case $1 in
    40+10) network wifi 40 20 && network lte 10 20 ;;
    50+5_far) network wifi 50 20 && network lte 5 160 ;;
    *) network wifi 20 20 && network lte 20 20 ;;
    esac
    [ "$1" != lossy ] || tune lte loss 1%
}
meanwhile() {
    case $1 in
    dies) sleep 5 && sever lte ;;
    appears) sleep 5 && attach lte ;;
    esac
}

# transfer CELL WHAT DIRECTION MEGABYTES RUN: WHAT is aggregate, mptcp, or a network that Whimbrel uses alone
transfer() {
    local cell=$1 what=$2 direction=$3 megabytes=$4 transport=$2 follow= server link line
    rm -f "$work"/*.json "$work"/*.log
    topology_up || { topology_down && sleep 2 && topology_up; } || { echo "the namespaces cannot be made" && return 1; }
    for ns in mn cn; do
        ip netns exec "$name-$ns" sysctl -qw net.ipv4.tcp_congestion_control="$control" net.ipv4.tcp_rmem='4096 131072 33554432' \
            net.ipv4.tcp_wmem='4096 16384 33554432'
    done
    [ "$what" != mptcp ] || mptcp_ready
    begin "$cell"
    case $what in
    wifi | lte) transport=whimbrel && attach "$what" ;;
    *) attach wifi && { [ "$cell" = appears ] || attach lte; } ;;
    esac
    if [ "$what" = mptcp ]; then
        mptcp_follow_mn &
        follow=$!
        sleep 0.3
    fi
    local to=${core_of[1]}.2:9899 patience=120
    on_cn timeout $patience "$mover" "$transport" serve "$to" >"$work/server.json" 2>"$work/server.log" &
    server=$!
    for ((i = 0; i < 500; i++)); do grep -qs ready "$work/server.json" && break || sleep 0.02; done
    meanwhile "$cell" &
    local then=$!
    # Nothing is due later than the transport takes it.
    on_mn timeout $patience "$mover" "$transport" move "$to" --send "$direction" --size 10000 --rate 1000000 \
        --seconds "$(python3 -c "print($megabytes / 1e4)")" >"$work/client.json" 2>"$work/client.log"
    kill $then 2>/dev/null
    wait $then
    [ "$direction" != down ] || kill $server 2>/dev/null
    wait $server
    [ -z "$follow" ] || { kill $follow && wait $follow; }
    line=$(grep -h '"records"' "$work"/*.json || echo '{"complete":false}')
    python3 - "$cell" "$what" "$direction" "$megabytes" "$5" "$control" "$line" <<'PY' | tee -a "$out/runs.jsonl"
import json, sys
cell, what, direction, megabytes, run, control, line = sys.argv[1:]
r = json.loads(line)
row = {"cell": cell, "what": what, "direction": direction, "megabytes": int(megabytes), "run": int(run), "kernel": control, "complete": r["complete"]}
row |= {key: r[key] for key in ("bytes", "duration_ms", "largest_gap_ms") if key in r}
print(json.dumps(row), flush=True)
PY
    topology_down
} 2>/dev/null

for ((run = 1; run <= runs; run++)); do
    for cell in "${cells[@]}"; do
        for direction in "${directions[@]}"; do
            for megabytes in 1 10 100; do
                for what in aggregate mptcp; do transfer "$cell" $what "$direction" $megabytes $run; done
            done
            # What comes and goes has no rate of its own.
            case $cell in dies | appears) continue ;; esac
            for what in wifi lte; do transfer "$cell" $what "$direction" 25 $run; done
        done
    done
done
