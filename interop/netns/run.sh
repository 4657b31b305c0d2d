#!/bin/bash
# run.sh [-t TRANSPORT]... [-m MOVE]... [-d up|down]... [-c 1|2] [-n RUNS] [-r] - a host that moves, on real interfaces.
#
# Namespaces, emulated cables (topology.sh), a steady stream of records (mover/), and the moves of moves.sh while it flows. Prints what the
# receiver saw: whether every record came, in order and undamaged, and the largest gap between two arrivals. Without options: Whimbrel alone,
# every move, both directions; fails if a record is missing. `-t all` runs TCP, MPTCP and QUIC on the same wires in the same run and never
# fails on their account. -c: how many addresses of the host that stays are used. -r: what fails is run again, and that run decides.
# Needs root.
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=mv$$
work=$(mktemp -d)
. "$here/topology.sh"
. "$here/moves.sh"
. "$here/mptcp.sh"
moves=() transports=() directions=() addresses=2 runs=1 repeat=
while getopts t:m:d:c:n:r option; do
    case $option in
    t) if [ "$OPTARG" = all ]; then transports+=(whimbrel mptcp quic tcp); else transports+=("$OPTARG"); fi ;;
    m) moves+=("$OPTARG") ;;
    d) directions+=("$OPTARG") ;;
    c) addresses=$OPTARG ;;
    n) runs=$OPTARG ;;
    r) repeat=1 ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
[ ${#moves[@]} -gt 0 ] || moves=(make_before_break silent_break break_before_make new_address twenty_moves
    flapping both_in_turn both_at_once nat_make_before_break nat_break_before_make nat_rebinding)
[ ${#transports[@]} -gt 0 ] || transports=(whimbrel)
[ ${#directions[@]} -gt 0 ] || directions=(up down)
failed=0
trap 'topology_down; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

. "$here/../programs.sh"
target=${CARGO_TARGET_DIR:-$repository/target}
wire=$(program whimbrel-emulator bin whimbrel-wire) || exit
cargo build -q --release --locked --manifest-path "$here/mover/Cargo.toml" --target-dir "$target/mover" || exit
mover=$target/mover/release/whimbrel-mover

seconds_of() { case $1 in twenty_moves) echo 22 ;; flapping) echo 9 ;; *) echo 8 ;; esac; }

# run MOVE TRANSPORT DIRECTION
run() {
    local move=$1 transport=$2 direction=$3 server client follow=
    rm -f "$work"/*.json "$work"/*.log
    # Behind a NAT are private addresses, beyond it public ones.
    core_of=([1]=10.61.11 [2]=10.61.12)
    case $move in nat_*) core_of=([1]=198.51.100 [2]=203.0.113) ;; esac
    # Devices have the same names in every run: those of the last one may still be going.
    topology_up || { topology_down && sleep 2 && topology_up; } || {
        echo "the namespaces cannot be made" && failed=$((failed + 1)) && topology_down
        return
    }
    if [ "$transport" = mptcp ]; then
        mptcp_ready
    fi
    $move
    if [ "$transport" = mptcp ]; then
        mptcp_follow_mn &
        follow=$!
        sleep 0.3
    fi
    local to=("${core_of[1]}.2:7000") listen
    [ "$transport" != whimbrel ] || to=("${core_of[1]}.2:9899")
    listen=("${to[@]}")
    if [ "$transport" = whimbrel ]; then
        case $move in
        # Who moves is bound to any address, and its networks are not there yet.
        both_*) listen=(0.0.0.0:9899) ;;
        *) [ "$addresses" = 1 ] || to+=("${core_of[2]}.2:9899"); listen=("${to[@]}") ;;
        esac
    fi
    # Words of the run before must not be taken for this one's.
    rm -f "$work"/{server,client}.json
    on_cn timeout "${patience:-60}" "$mover" "$transport" serve "${listen[@]}" >"$work/server.json" 2>"$work/server.log" &
    server=$!
    for ((i = 0; i < 500; i++)); do grep -qs ready "$work/server.json" && break || sleep 0.02; done
    "${move}_then" 2>"$work/then.log" &
    local then=$!
    on_mn timeout "${patience:-60}" "$mover" "$transport" move "${to[@]}" --send "$direction" --seconds "$(seconds_of "$move")" \
        >"$work/client.json" 2>"$work/client.log" &
    client=$!
    wait $client
    wait $then
    # A peer that has lost its last way says nothing more; what it has received by then is its result.
    [ "$direction" = down ] && kill $server 2>/dev/null
    wait $server
    [ -z "$follow" ] || kill $follow
    report "$move" "$transport" "$direction"
    topology_down
}

report() {
    local line
    line=$(grep -h '"records"' "$work"/*.json)
    if [ -z "$line" ]; then
        line='{"complete":false,"error":"no report"}'
        [ "$2" != whimbrel ] || tail -n 3 "$work"/*.log
    fi
    python3 - "$1" "$2" "$3" "$line" <<'PY'
import json, sys
move, transport, direction, line = sys.argv[1:]
r = json.loads(line)
gaps = ", ".join([f"{g['gap_ms']:.0f}" for g in r.get("gaps", []) if g["gap_ms"] > 100][:8]) or "none"
done = "complete" if r["complete"] else "BROKEN: " + str(r.get("error"))[:60]
print(f"{move:18} {direction:4} {transport:9} {done:10} largest gap {r.get('largest_gap_ms', 0):7.1f} ms, in {r.get('duration_ms', 0) / 1000:5.1f} s; gaps over 100 ms: {gaps}", flush=True)
PY
    if [ "$2" = whimbrel ] && ! grep -q '"complete":true' <<<"$line"; then failed=$((failed + 1)); fi
}

for ((n = 0; n < runs; n++)); do
    for move in "${moves[@]}"; do
        for direction in "${directions[@]}"; do
            for transport in "${transports[@]}"; do
                before=$failed
                run "$move" "$transport" "$direction"
                [ "$failed" = "$before" ] || [ -z "$repeat" ] || { failed=$before && run "$move" "$transport" "$direction"; }
            done
        done
    done
done
[ $failed = 0 ] || { echo "$failed runs of Whimbrel were not complete" && exit 1; }
