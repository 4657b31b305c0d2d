#!/bin/bash
# e13.sh [-f 3|4|6]... [-c CONGESTION]... [-w WINDOW]... [-n RUNS] [-j JOBS] [-p PATTERN] [-o DIRECTORY] [-q] [-r] [-h]
#
# Paper e13 on real stacks: videos over real Whimbrel processes are handed over to a network of 6 Mbit/s and 300 ms, where a TCP flow of the
# kernel is at home. The network is an emulated cable (whimbrel-wire) between two namespaces; SCTP goes directly on IP. Without options:
# Figures 3, 4 (one video) and 6 (two videos), TCP with cubic, reno and bbr, initial windows 3, 10, 20 and NR, three runs each.
#
#   -f 6        only this figure; 3 and 4 are made by the same runs
#   -c bbr      only this congestion control of the kernel        -w 10   only this initial window: packets of 1500 bytes, or NR
#   -n 5        five runs each; run N has the same random start of TCP and the same instant of handover in every cell
#   -j 4        so many runs at a time, each in namespaces of its own
#   -p FILE     the cable follows this pattern towards the viewers, from half a second before the handover on; with -c none, without any
#               TCP, packet 1 is the first of message 0, and every run loses the same packets
#   -o DIR      where runs.jsonl, rows.csv and logs go (target/e13); runs are added, and those that are there are not made again
#   -q          a quick check of 15 s: a short video under a pattern, beside TCP; fails if what is measured cannot be
#   -r          makes rows.csv and the table of docs/e13.md from what is in DIR, and runs nothing
#
# Needs root. Everything runs with real-time priority where that is allowed, since other work on the machine would be measured, too; the load is
# part of each row. Ctrl-C ends it and takes the namespaces away.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../programs.sh"
target=${CARGO_TARGET_DIR:-$repository/target}
figures=() congestions=() windows=() runs=3 jobs=1 pattern='' out='' quick='' report='' scratch=''
usage() { sed -n '2,19s/^# \{0,1\}//p' "$0"; }
while getopts f:c:w:n:j:p:o:qrh option; do
    case $option in
    f) figures+=("$OPTARG") ;;
    c) congestions+=("$OPTARG") ;;
    w) windows+=("$OPTARG") ;;
    n) runs=$OPTARG ;;
    j) jobs=$OPTARG ;;
    p) pattern=$OPTARG ;;
    o) out=$OPTARG ;;
    q) quick=1 ;;
    r) report=1 ;;
    h) usage && exit ;;
    *) usage >&2 && exit 2 ;;
    esac
done
[ "${1-}" != --help ] || { usage && exit; }
[ ${#figures[@]} -gt 0 ] || figures=(3 4 6)
[ ${#congestions[@]} -gt 0 ] || congestions=(cubic reno bbr)
[ ${#windows[@]} -gt 0 ] || windows=(3 10 20 NR)
case " ${figures[*]} " in *" 3 "* | *" 4 "*) videos=(1) ;; *) videos=() ;; esac
case " ${figures[*]} " in *" 6 "*) videos+=(2) ;; esac
[ ${#videos[@]} -gt 0 ] || { echo "e13.sh: no such figure: ${figures[*]} (3, 4 or 6)" >&2 && exit 2; }
# Seconds after the begin of a run, as in the lab: crates/lab/data/scenarios.toml, e13-lc.
handover=20 ahead=5 messages=1970 until=105 flows_until=90
if [ -n "$quick" ]; then
    handover=5 ahead=1 messages=40 until=26 flows_until=10 videos=(1) congestions=(cubic) windows=(10) runs=1
    pattern=$here/e13_quick.pattern
    [ -n "$out" ] || out=$(mktemp -d) scratch=$out
fi
out=${out:-$target/e13}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit
report() { python3 "$here/e13_report.py" "$@"; }
[ -z "$report" ] || { report page "$out" "$here/e13_lab.csv" "$here/../../docs/e13.md" && exit; exit 1; }
[ -z "$pattern" ] || pattern=$(realpath -e "$pattern") || exit 2
for congestion in "${congestions[@]}"; do
    [ "$congestion" = none ] || grep -qw "$congestion" /proc/sys/net/ipv4/tcp_available_congestion_control ||
        { echo "e13.sh: this kernel has no $congestion: $(cat /proc/sys/net/ipv4/tcp_available_congestion_control)" >&2 && exit 2; }
done

wire=$(program whimbrel-emulator bin whimbrel-wire) || exit
cargo build -q --release --locked --manifest-path "$here/mover/Cargo.toml" --target-dir "$target/mover" --bin whimbrel-video || exit
video=$target/mover/release/whimbrel-video
# Errors in one line.
export RUST_BACKTRACE=0
urgent=()
chrt -f 10 true 2>/dev/null && urgent=(chrt -f 10)

# Always in the background. Who keeps the cable's commands open keeps the cable.
in_ns() {
    [ -z "${cable-}" ] || exec {cable}>&-
    exec "${urgent[@]}" ip netns exec "$name-$1" "${@:2}"
}
until_time() { # SECONDS since the begin
    sleep "$(python3 -c "import time; print(max(0, $begin + $1 - time.time()))")" &
    wait $!
}
wait_for() { # WORD FILE...: until each of the files has it
    for ((i = 0; i < 1000; i++)); do
        [ "$(grep -ls "$1" "${@:2}" | wc -l)" = $(($# - 1)) ] && return
        sleep 0.02
    done
    echo "no '$1' in ${*:2}:" >&2
    tail -n 3 "$work"/*.log >&2
    return 1
}

# Path 1 is a veth pair without limits, path 2 the cable. Hosts are .1 (server) and .2 (viewer), videos 10.72.PATH.11, .12 and so on at either.
network_up() {
    local ns path
    for ns in server viewer; do
        ip netns add "$name-$ns" || return
        ip -n "$name-$ns" link set lo up
        ip netns exec "$name-$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1 \
            net.ipv4.tcp_rmem='4096 131072 20000000' net.ipv4.tcp_wmem='4096 131072 20000000' || return
    done
    ip -n "$name-server" link add path1 type veth peer name path1 netns "$name-viewer" || return
    mkfifo "$work/cable" && exec {cable}<>"$work/cable"
    in_ns server "$wire" path2 far2 --rate 6mbit --delay 150ms --queue 225000bytes <"$work/cable" >"$work/wire" 2>&1 &
    helpers+=($!)
    wait_for ready "$work/wire" || return
    # Acknowledgements are never held up.
    echo "back rate none" >&"$cable"
    ip -n "$name-server" link set far2 netns "$name-viewer" && ip -n "$name-viewer" link set far2 name path2 || return
    for path in 1 2; do
        address server $path 1 && address viewer $path 2 || return
        for ((n = 0; n < most_videos; n++)); do address server $path $((11 + n)) && address viewer $path $((21 + n)) || return; done
    done
    # Nobody asks who has an address: each frame on the cable is a packet of the experiment.
    for path in 1 2; do
        neighbours server viewer $path && neighbours viewer server $path || return
    done
    ip -n "$name-server" route replace 10.72.2.2 dev path2 initcwnd 3
}
most_videos=2
address() { ip -n "$name-$1" link set "path$2" up txqueuelen 10000 && ip -n "$name-$1" addr add "10.72.$2.$3/24" dev "path$2"; }
neighbours() {
    local mac host
    mac=$(ip netns exec "$name-$2" cat "/sys/class/net/path$3/address") || return
    for host in 1 2 11 12 21 22; do ip -n "$name-$1" neigh replace "10.72.$3.$host" lladdr "$mac" dev "path$3" nud permanent || return; done
}
network_down() {
    local ns pids
    [ -z "${cable-}" ] || exec {cable}>&-
    for ns in server viewer; do
        pids=$(ip netns pids "$name-$ns" 2>/dev/null) && [ -n "$pids" ] && kill $pids 2>/dev/null
        ip netns del "$name-$ns" 2>/dev/null
    done
    return 0
}

# run VIDEOS CONGESTION WINDOW NUMBER: one run, in a process of its own
run() {
    local number=$4 n start instant begin viewers=() screens=() load
    cell=$* cable=''
    name=e13-$BASHPID work=$out/logs/$1.$2.$3.$4 helpers=()
    rm -rf "$work" && mkdir -p "$work"
    trap 'status=$?; kill ${helpers[@]} 2>/dev/null; network_down; [ $status = 0 ] || echo "$cell" >>"$failures"' EXIT
    trap 'exit 1' INT TERM
    network_up >"$work/setup" 2>&1 || { echo "the namespaces cannot be made:" && cat "$work/setup" && return 1; }
    RANDOM=$((1000 + number))
    start=0.$(printf %03d $((RANDOM % 1000))) instant=$handover.$(printf %03d $((RANDOM % 33)))
    load=$(cut -d' ' -f1 /proc/loadavg) begin=$(date -d '+2 seconds' +%s.%N)
    if [ "$2" != none ]; then
        in_ns viewer "$video" --begin "$begin" sink 10.72.2.2:5001 >"$work/sink" 2>"$work/sink.log" &
        helpers+=($!) screens+=("$work/sink")
    fi
    for ((n = 0; n < $1; n++)); do
        in_ns viewer "$video" --begin "$begin" view --local 10.72.1.$((21 + n)) 10.72.2.$((21 + n)) --until $until --messages $messages \
            >"$work/view$n" 2>"$work/view$n.log" &
        helpers+=($!) viewers+=($!) screens+=("$work/view$n")
    done
    wait_for ready "${screens[@]}" || return
    if [ "$2" != none ]; then
        in_ns server "$video" --begin "$begin" flow 10.72.2.2:5001 --start "$start" --congestion "$2" >"$work/flow" 2>"$work/flow.log" &
        helpers+=($!)
    fi
    for ((n = 0; n < $1; n++)); do
        in_ns server "$video" --begin "$begin" serve --local 10.72.1.$((11 + n)) 10.72.2.$((11 + n)) --to 10.72.1.$((21 + n)) 10.72.2.$((21 + n)) \
            --window "$3" --handover "$instant" --ahead $ahead --messages $messages >"$work/serve$n" 2>"$work/serve$n.log" &
        helpers+=($!)
    done
    if [ -n "$pattern" ]; then
        until_time "$((handover - 1)).5${instant#*.}"
        echo "forth pattern $pattern" >&"$cable"
    fi
    wait "${viewers[@]}"
    until_time "$flows_until.3"
    # The cable tells what it has carried when nobody commands it any more.
    exec {cable}>&- && cable=''
    wait_for forth "$work/wire"
    report run "$out/runs.jsonl" "$work" videos="$1" congestion="$2" window="$3" run="$number" start="$start" handover="$instant" \
        begin="$begin" load_before="$load" load_after="$(cut -d' ' -f1 /proc/loadavg)" kernel="$(uname -r | cut -d. -f1,2)" \
        urgent=${#urgent[@]} pattern="${pattern##*/}" messages=$messages jobs="$jobs"
}

todo=()
for ((n = 0; n < runs; n++)); do
    for v in "${videos[@]}"; do for w in "${windows[@]}"; do for c in "${congestions[@]}"; do
        grep -qs "\"run\": $n, \"videos\": $v, \"congestion\": \"$c\", \"window\": \"$w\", \"pattern\": \"${pattern##*/}\"" "$out/runs.jsonl" ||
            todo+=("$v $c $w $n")
    done; done; done
done
failures=$(mktemp)
trap 'rm -f "$failures"; [ -z "$scratch" ] || rm -rf "$scratch"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; wait; exit 130' INT TERM
for ((at = 0; at < ${#todo[@]}; at++)); do
    while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
    [ -n "$quick" ] || echo "$(date +%T) $((at + 1)) of ${#todo[@]}: ${todo[at]}"
    # shellcheck disable=SC2086
    run ${todo[at]} &
    # Namespaces are made one after the other.
    [ "$jobs" = 1 ] || sleep 1
done
wait
if [ -n "$quick" ]; then
    [ ! -s "$failures" ] && report check "$out/runs.jsonl" "$pattern"
    exit
fi
report rows "$out"
[ ! -s "$failures" ] || { echo "$(wc -l <"$failures") runs failed; again with the same command:" && sort "$failures" && exit 1; }
