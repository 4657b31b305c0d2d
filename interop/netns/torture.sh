#!/bin/bash
# torture.sh [-m ROW]... [-t TRANSPORT]... [-d up|down|both]... [-n RUNS] [-j JOBS] [-l SECONDS] [-o DIRECTORY] [-c] [-r] [-p] [-L]
#
# The torture table: trouble of every kind that networks make (torture_rows.sh) happens to two hosts while records flow both ways, and what
# the receivers see is written down: whether all of it came, the longest gap, the time from the network's return to the next record, how late
# the latest record was, what was sent again. Without options: Whimbrel, every row up to 60 s, once; fails if a stream was broken.
#
#   -m ROW   only these rows; a pattern, such as 'silent_both_*', or the name of a group     -L   lists the rows
#   -t all   Whimbrel, MPTCP, QUIC and TCP on the same wires; only Whimbrel's failures count
#   -l 900   rows that take up to 900 seconds, too                                          -n 5  five runs each
#   -j 4     so many runs at a time, each in namespaces of its own                          -r    what fails is run again, and that run decides
#   -o DIR   where rows.jsonl, rows.csv and logs go (target/torture); rows are added to those that are there
#   -c       keeps captures of both access links in the logs                                -p    makes the tables of docs/torture.md from DIR
#
# Needs root. SIGINT ends it and takes the namespaces away.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/topology.sh"
. "$here/mptcp.sh"
. "$here/nat64.sh"
. "$here/freeze.sh"
. "$here/torture_events.sh"
. "$here/torture_rows.sh"
. "$here/../programs.sh"
target=${CARGO_TARGET_DIR:-$repository/target}
chosen=() transports=() directions=() runs=1 jobs=1 longest=60 out=$target/torture captures='' repeat='' page='' list=''
while getopts m:t:d:n:j:l:o:crpL option; do
    case $option in
    m) chosen+=("$OPTARG") ;;
    t) if [ "$OPTARG" = all ]; then transports+=(whimbrel mptcp quic tcp); else transports+=("$OPTARG"); fi ;;
    d) directions+=("$OPTARG") ;;
    n) runs=$OPTARG ;;
    j) jobs=$OPTARG ;;
    l) longest=$OPTARG ;;
    o) out=$OPTARG ;;
    c) captures=1 ;;
    r) repeat=1 ;;
    p) page=1 ;;
    L) list=1 ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
[ ${#transports[@]} -gt 0 ] || transports=(whimbrel)
[ ${#directions[@]} -gt 0 ] || directions=(both)

rows=()
declare -A spec=()
row() {
    local name=$1 group=$2 seconds=$3 pattern
    shift 3
    spec[$name]="$group|$seconds|${families:-4}|${links_more:-}|${public:-}|$*"
    [ ${#chosen[@]} -gt 0 ] || { [ "$seconds" -gt "$longest" ] || rows+=("$name"); }
    for pattern in ${chosen[@]+"${chosen[@]}"}; do
        # shellcheck disable=SC2053
        if [ "$pattern" = "$name" ] || { [ "$seconds" -le "$longest" ] && { [[ $name == $pattern ]] || [ "$group" = "$pattern" ]; }; }; then
            rows+=("$name") && return
        fi
    done
}
all_rows
[ -z "$list" ] || { printf '%s\n' "${rows[@]}" && exit; }
[ ${#rows[@]} -gt 0 ] || { echo "no such row: ${chosen[*]} (-L lists them)" >&2 && exit 2; }

wire=$(program whimbrel-emulator bin whimbrel-wire) || exit
cargo build -q --release --locked --manifest-path "$here/mover/Cargo.toml" --target-dir "$target/mover" || exit
mover=$target/mover/release/whimbrel-mover
mkdir -p "$out/logs"
out=$(cd "$out" && pwd)

# Errors in one line.
export RUST_BACKTRACE=0

# Trouble begins so long after the first record, and the stream goes on so long after it.
before=3 after=6

in_mn() { exec ip netns exec "$name-mn" "$@"; }
in_net() { exec ip netns exec "$name-net" "$@"; }
in_cn() { exec ip netns exec "$name-cn" "$@"; }

# run ROW TRANSPORT DIRECTION: one run, in a process of its own
run() {
    local row=$1 transport=$2 direction=$3 group seconds more public start event length patience port=7000 address helper
    IFS='|' read -r group seconds families more public event <<<"${spec[$row]}"
    # shellcheck disable=SC2206
    links+=($more)
    name=tt$BASHPID size=1000 rate=500
    work=$out/logs/$row.$transport.$direction.$(date +%s).$BASHPID
    mkdir -p "$work"
    helpers=()
    trap 'kill ${helpers[@]} 2>/dev/null; thaw mn; thaw cn; nat64_down; topology_down' EXIT
    trap 'exit 1' INT TERM
    # Addresses that a translator takes for public (RFC 6052 §3.1 excludes those of documents); nothing leaves the namespaces.
    [ -z "$public" ] || core_of=([1]=198.51.101 [2]=203.0.114)
    to=("${core_of[1]}.2" "${core_of[2]}.2")
    start=${event%% *} event=${event#* }
    { topology_up && $start; } >"$work/setup.log" 2>&1 || { echo "$row: the namespaces cannot be made:" && cat "$work/setup.log" && return 1; }
    on_cn iptables -A INPUT -p udp --dport 9 -j DROP
    on_mn iptables -A INPUT -p udp --dport 9 -j DROP
    case $transport in
    mptcp)
        mptcp_ready
        mptcp_follow_mn & helpers+=($!)
        mptcp_follow_cn & helpers+=($!)
        sleep 0.3
        ;;
    whimbrel) port=9899 ;;
    esac
    case $transport in
    mptcp | tcp)
        in_mn python3 "$here/kernel_counters.py" >"$work/mn.counters" 2>/dev/null & helpers+=($!)
        in_cn python3 "$here/kernel_counters.py" >"$work/cn.counters" 2>/dev/null & helpers+=($!)
        ;;
    esac
    if [ -n "$captures" ]; then
        for link in "${links[@]}"; do
            in_net tcpdump -q -U -i "ap-$link" -w "$work/$link.pcap" 2>/dev/null & helpers+=($!)
        done
        sleep 0.5
    fi
    address=0.0.0.0:$port
    [ "$families" = 4 ] || address="[::]:$port"
    # The kernel gives an IPv4 socket no IPv6 subflows; one for IPv6 may have both.
    [ "$families" = 4 ] || [ "$transport" != mptcp ] || [[ ${to[0]} == \[* ]] || to=("[::ffff:${to[0]}]")
    [ "$families" = 4 ] || [ "$transport" != whimbrel ] || address="0.0.0.0:$port $address"
    # As long again as the trouble has lasted, but no longer than TCP waits (120 s).
    length=$((before + seconds + after)) patience=$((seconds + 30 + (seconds < 120 ? seconds : 120)))
    exchange "$transport" "$direction" "$length" "$patience" "$address" "${to[*]/%/:$port}"
    for helper in ${helpers[@]+"${helpers[@]}"}; do kill "$helper" 2>/dev/null; done
    helpers=()
    python3 "$here/torture_report.py" run "$work" "$row" "$group" "$seconds" "$transport" "$direction" "$out/rows.jsonl" "$progress" "$total"
    local complete=$?
    [ "$complete" != 0 ] || [ -n "$captures" ] || rm -rf "$work"
    return "$complete"
}

# exchange TRANSPORT DIRECTION LENGTH PATIENCE LISTEN TO: the stream, and trouble meanwhile
exchange() {
    local limit=$(($3 + $4 + 20)) server client trouble left
    # shellcheck disable=SC2086
    in_cn timeout -k 2 $limit "$mover" --patience "$4" "$1" serve $5 >"$work/server.json" 2>"$work/server.log" &
    server=$!
    for ((i = 0; i < 500; i++)); do grep -qs ready "$work/server.json" && break || sleep 0.02; done
    (sleep $before && $event) >"$work/trouble.log" 2>&1 &
    trouble=$!
    helpers+=($trouble)
    # shellcheck disable=SC2086
    in_mn timeout -k 2 $limit "$mover" --patience "$4" "$1" move $6 --send "$2" --seconds "$3" --size $size --rate $rate \
        >"$work/client.json" 2>"$work/client.log" &
    client=$!
    wait -n $client $server
    # Who has lost its last way to the other, or is told nothing by it, would wait for long.
    for ((left = 100; left > 0; left--)); do kill -0 $client 2>/dev/null || kill -0 $server 2>/dev/null || break; sleep 0.1; done
    kill $client $server $trouble $(pgrep -P $trouble) 2>/dev/null
    wait $client $server $trouble 2>/dev/null
}

# attempt ROW TRANSPORT DIRECTION: a run, or two of them, either of which can be ended
attempt() {
    local worker
    trap 'kill $worker; wait $worker; exit 1' TERM
    run "$@" &
    worker=$!
    wait $worker && return
    if [ -n "$repeat" ]; then
        total="$total, again"
        run "$@" &
        worker=$!
        wait $worker && return
    fi
    [ "$2" != whimbrel ] || echo "interop/netns/torture.sh -c -m $1 -d $3" >>"$failures"
}

total=$((${#rows[@]} * ${#transports[@]} * ${#directions[@]} * runs))
failures=$out/failures.$$ progress=$out/progress.$$
trap 'rm -f "$failures" "$progress"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; wait; exit 130' INT TERM
: >"$failures"
for ((n = 0; n < runs; n++)); do
    for row in "${rows[@]}"; do
        for direction in "${directions[@]}"; do
            for transport in "${transports[@]}"; do
                while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
                attempt "$row" "$transport" "$direction" &
            done
        done
    done
done
wait
python3 "$here/torture_report.py" table "$out/rows.jsonl" "$out/rows.csv"
[ -z "$page" ] || python3 "$here/torture_report.py" page "$out/rows.jsonl" "$here/../../docs/torture.md" || exit
[ ! -s "$failures" ] || { echo "$(wc -l <"$failures") runs of Whimbrel broke; again:" && sort -u "$failures" | sed 's/^/    /' && exit 1; }
