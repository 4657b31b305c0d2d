#!/bin/bash
# rivals.sh [-n RUNS] [-m MOVE]... [-d up|down]... - the table of docs/rivals.md, made anew.
#
# Whimbrel, MPTCP, QUIC and TCP move in the same namespaces, in turn (run.sh), RUNS times each (5 unless told otherwise), and the part of
# docs/rivals.md between its two markers is replaced by medians with the smallest and the largest value. Every line of run.sh goes to
# interop/netns/rivals.log, from which `rivals.sh -n 0` makes the table again. Needs root, and a machine that does nothing else: the load
# average before and after is part of the table.
set -u
here=$(cd "$(dirname "$0")" && pwd)
page=$here/../../docs/rivals.md
log=$here/rivals.log
runs=5 moves=() directions=()
while getopts n:m:d: option; do
    case $option in
    n) runs=$OPTARG ;;
    m) moves+=(-m "$OPTARG") ;;
    d) directions+=(-d "$OPTARG") ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
[ ${#moves[@]} -gt 0 ] || moves=(-m make_before_break -m silent_break -m break_before_make)
if [ "$runs" -gt 0 ]; then
    # Builds what is to be measured, so that the load is not its own.
    "$here/run.sh" -n 0 || exit
    echo "# $(date -u +%F), Linux $(uname -r | cut -d. -f1,2), $(nproc) processors, load average before: $(cut -d' ' -f1-3 /proc/loadavg)" >"$log"
    patience=20 "$here/run.sh" -n "$runs" -t all "${moves[@]}" ${directions[@]+"${directions[@]}"} | tee -a "$log"
    echo "# load average after: $(cut -d' ' -f1-3 /proc/loadavg)" >>"$log"
fi
python3 "$here/rivals_table.py" "$log" "$page"
