#!/usr/bin/env bash
# What a peer can make a node do, in instructions, with bounds: fails where one is exceeded. Needs valgrind.
# Usage: ci/costs.sh [EXECUTABLE]   (an example `costs` of another commit, say; this one's is built unless given)
set -euo pipefail
cd "$(dirname "$0")/.."

executable=${1:-target/release/examples/costs}
[ $# -ge 1 ] || cargo build --quiet --release -p whimbrel-node --example costs
command -v valgrind >/dev/null || { echo "valgrind is needed to count instructions" >&2; exit 2; }

count() { # WHAT SIZE TIMES
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$executable" "$1" "$2" "$3" 2>&1 | awk '/Collected/ { print $4 }'
}
failed=0
bound() { # WHAT SIZE FROM TO BOUND DESCRIPTION: the mean of what is done from the FROMth to the TOth time
    local each
    each=$((($(count "$1" "$2" "$4") - $(count "$1" "$2" "$3")) / ($4 - $3)))
    echo "$each instructions (bound $5): $6"
    [ "$each" -le "$5" ] || { echo "  exceeds its bound" >&2; failed=1; }
}
bound sacks 2000 20 60 12000 "a SACK that tells of one chunk more, 2,000 outstanding"
bound sacks 54000 20 60 12000 "a SACK that tells of one chunk more, 54,000 outstanding"
bound alternating-sacks 54000 20 60 12000 "a SACK that takes back what the one before told, 54,000 outstanding, once that is not believed"
bound inits 10 20 60 40000 "an INIT from an address that 10 associations list"
bound inits 2000 20 60 40000 "an INIT from an address that 2,000 associations list"
exit "$failed"
