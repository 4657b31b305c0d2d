#!/bin/bash
# several_paths_goodput.sh [-n RUNS] - goodput over two links at once beside that of each alone: Whimbrel and usrsctp with its CMT, over UDP.
#
# Two emulated wires of 20 Mbit/s with queues of one bandwidth-delay product, 16 MB in messages of 8 KiB on four streams, buffers of 4 MiB. Prints
# a table: medians of RUNS (3 unless said otherwise) with the least and the greatest. The receiver's clock, from the first message to the last. Needs root.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit
runs=3
while getopts n: option; do
    case $option in
    n) runs=$OPTARG ;;
    *) sed -n '2,5s/^# //p' "$0" >&2 && exit 2 ;;
    esac
done
name=spg$$
work=$(mktemp -d)
. ./helpers.sh
. ./wires.sh
. ./programs.sh
[ "$(id -u)" = 0 ] || { echo "needs root" >&2 && exit 2; }
make -s "$build/usrsctp-peer" BUILD="$build" && cargo build --release --locked --quiet --manifest-path whimbrel/Cargo.toml || exit
whimbrel=${CARGO_TARGET_DIR:-$here/whimbrel/target}/release/whimbrel-peer
emulator=$(program whimbrel-emulator bin whimbrel-wire) || exit
short_rto="--rto-min 200 --rto-initial 500 --rto-max 1000"

# As `pair` calls them: the program on host 1 or 2, with the addresses of the $links that take part.
addresses() { for link in $links; do echo "10.131.$link.$1"; done | paste -sd,; }
peer_at() { # HOST PROGRAM OPTION...
    local run=on_a mine=9899 other=9900
    [ "$1" = 1 ] || { run=on_b mine=9900 other=9899; }
    $run "$2" --timeout 120 --bind "$(addresses "$1")" --udp $mine --udp-remote $other "${@:3}"
}

# goodput SENDER RECEIVER OPTION...: in Mbit/s, of one transfer; the options are the sender's
goodput() {
    # shellcheck disable=SC2086
    pair peer_at 2 "$2" --listen -- peer_at 1 "$1" --connect "$(addresses 2)" --send 2000 --size 8192 --streams 4 $short_rto "${@:3}"
    sed -nE 's/.*"received","messages":2000,.*"ok":true,"seconds":([0-9.]+).*/\1/p' "$work/first" | awk '{ printf "%.1f\n", 2000 * 8192 * 8e-6 / $1 }'
}

# spread VALUE...: the median, and the least and the greatest
spread() { printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { printf "%s (%s to %s)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }

# row NAME SENDER RECEIVER OPTION...: the options switch several paths on
row() {
    local title=$1 sender=$2 receiver=$3 one=() two=() both=() run
    shift 3
    for ((run = 1; run <= runs; run++)); do
        links=1 && one+=("$(goodput "$sender" "$receiver" $base)")
        links=2 && two+=("$(goodput "$sender" "$receiver" $base)")
        links="1 2" && both+=("$(goodput "$sender" "$receiver" $base "$@")")
    done
    echo "| $far | $title | $(spread "${one[@]}") | $(spread "${two[@]}") | $(spread "${both[@]}") |"
}

wires_up "$name" "$emulator" --rate 20mbit --delay 10ms --queue 50000bytes || exit
echo "| ms | sender, receiver | link 1 alone | link 2 alone | both |"
echo "|---|---|---|---|---|"
for far in 20+20 20+60; do
    delay=10 queue=50000
    [ $far = 20+20 ] || delay=30 queue=150000
    wire 2 delay ${delay}ms
    wire 2 queue ${queue}bytes
    base='' && row "Whimbrel (Reno), usrsctp" "$whimbrel" "$build/usrsctp-peer" --combine
    base=--mobile && row "Whimbrel (BBR), usrsctp" "$whimbrel" "$build/usrsctp-peer" --combine
    base='' && row "usrsctp, CMT on, Whimbrel" "$build/usrsctp-peer" "$whimbrel" --cmt on
    base='' && row "usrsctp, CMT on, usrsctp" "$build/usrsctp-peer" "$build/usrsctp-peer" --cmt on
done
wires_down "$name"
