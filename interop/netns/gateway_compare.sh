#!/bin/bash
# gateway_compare.sh [-n RUNS] [-s SCHEME]... - paper d10's hard handover on real processes, by each of its ways and by Whimbrel's own.
#
# The network of gateway.sh, with 25 ms between the server and the gateways and 4 Mbit/s on the air. 3.2 Mbit/s in records of 1,000 bytes go to the host, and then from it;
# after 3 s it loses its link and gets the other. Where its network hands it over that takes 150 ms; where it goes by itself 2 s, as it has to be given an address
# there (paper d10, section IV), and 150 ms for comparison. Says what the receiver saw: the longest time without data, how late the latest record
# came, and what was sent again; medians. Fails if a record is missing. Needs root. Three runs take 13 minutes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
runs=1 schemes=()
while getopts n:s: option; do
    case $option in
    n) runs=$OPTARG ;;
    s) schemes+=("$OPTARG") ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
[ ${#schemes[@]} -gt 0 ] || schemes=(m-sctp m-sctp+ ufa ufa+ ufa++ gateway whimbrel m-sctp/0.15 m-sctp+/0.15 whimbrel/0.15)
. "$here/../programs.sh"
whimbrel=$(program whimbrel-cli bin whimbrel) && wire=$(program whimbrel-emulator bin whimbrel-wire) || exit
target=${CARGO_TARGET_DIR:-$here/../../target}
cargo build -q --release --locked --manifest-path "$here/mover/Cargo.toml" --target-dir "$target/mover" || exit
mover=$target/mover/release/whimbrel-mover
radio_rate=4mbit radio_burst=16k radio_gap=0.15 throughput=4M per_terminal=4M
. "$here/gateway_world.sh"
family=4

# The server is 25 ms away.
far() {
    ip_in core link del pcn
    on core "$wire" pcn core --rate 100mbit --delay 25ms --queue 1000 <"$work/wire.in" >"$work/wire.log" 2>&1 &
    wait_for "$work/wire.log" ready || return
    ip_in core link set core netns "$name-cn"
    ip_in core link set pcn master wire up
    ip_in cn link set core up && ip_in cn addr add "$(address 0 1)/24" dev core
    local i
    for i in 1 2; do ip_in cn route add "$(network $i)" via "$(address 0 $((i + 1)))"; done
}

# run SCHEME DIRECTION - prints one line of JSON
run() {
    local scheme=${1%/*} direction=$2 gap=2 gateways=() at=() i server
    case $1 in */*) gap=${1#*/} ;; esac
    case=$1/$direction
    up || return
    mkfifo "$work/wire.in" && exec {held}<>"$work/wire.in"
    far || return
    case $scheme in
    ufa* | gateway)
        gap=0.15
        for i in 1 2; do on "g$i" "$whimbrel" gateway run "$work/g$i.toml" >"$work/g$i.log" 2>&1 & done
        for i in 1 2; do wait_for "$work/g$i.log" listening || return; done
        gateways=(--gateway "$(sip_of 1),$(sip_of 2)")
        at=(--gateway "$(sip_of 1)" --attach "$work/attach")
        ;;
    esac
    on cn timeout 90 "$mover" "${gateways[@]}" "$scheme" serve "$(address 0 1):9899" >"$work/cn.json" 2>"$work/cn.log" &
    server=$!
    wait_for "$work/cn.json" ready || return
    on mn timeout 90 "$mover" "${at[@]}" "$scheme" move "$(address 0 1):9899" --send "$direction" --seconds 10 --rate 400 >"$work/mn.json" 2>"$work/mn.log" &
    mover_pid=$!
    sleep 3
    if [ ${#at[@]} -gt 0 ]; then
        on g1 "$whimbrel" gateway move "$(address 1 50)" --to g2 >"$work/move.log" 2>&1 || { cat "$work/move.log" && failed=$((failed + 1)); }
    else
        radio_gap=$gap attach_by_itself
    fi
    wait "$mover_pid" && wait "$server" || { echo "FAIL $case" && tail -n 5 "$work/mn.log" "$work/cn.log" && failed=$((failed + 1)) && return 1; }
    python3 - "$1" "$direction" "$work/mn.json" "$work/cn.json" <<'PYTHON'
import json, sys
scheme, direction, *files = sys.argv[1:]
lines = [json.loads(line) for name in files for line in open(name) if line.startswith("{")]
again = max((line["sent_again"] for line in lines if "sent_again" in line), default=0)
report = next(line for line in lines if "bytes" in line)
print(json.dumps({"scheme": scheme, "direction": direction, "again": again, **report}))
PYTHON
    exec {held}>&-
}
attach_by_itself() {
    ip_in mn link set radio1 down
    sleep "$radio_gap"
    ip_in mn link set radio2 up && ip_in mn addr add "$(address 2 100)/24" dev radio2 && ip_in mn route replace default via "$(address 2 1)"
}

results=$(mktemp) result=$(mktemp)
for ((n = 0; n < runs; n++)); do
    for scheme in "${schemes[@]}"; do
        for direction in down up; do
            run "$scheme" "$direction" >"$result" || { cat "$result" && continue; }
            grep "^{" "$result" >>"$results"
        done
    done
done
python3 "$here/gateway_compare_table.py" "$results" || failed=$((failed + 1))
rm -f "$results" "$result"
[ "$failed" = 0 ] || echo "$failed failed"
[ "$failed" = 0 ]
