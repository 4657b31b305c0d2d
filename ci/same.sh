#!/usr/bin/env bash
# Whether a change of the code changes what it does, and what it costs: soak worlds and instructions, here and at another commit.
# Usage: ci/same.sh COMMIT [SEEDS]   (20000 seeds unless given; a sixth to a third of that of the rarer worlds)
# Needs valgrind for the instructions. The examples that measure are taken from here where COMMIT has none.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
commit=$(git rev-parse --verify "$1^{commit}")
seeds=${2:-20000}
there=$(mktemp -d)
trap 'git worktree remove --force "$there/tree" 2>/dev/null; rm -rf "$there"' EXIT
git worktree add --quiet --detach "$there/tree" "$commit"
for example in crates/soak/examples/hashes.rs crates/node/examples/engine.rs; do
    [ -e "$there/tree/$example" ] || install -D "$example" "$there/tree/$example"
done

build() { # DIRECTORY TARGET
    (cd "$1" && CARGO_TARGET_DIR=$2 cargo build --quiet --release -p whimbrel-soak --example hashes -p whimbrel-node --example engine)
}
build . target
build "$there/tree" "$there/target"

differ=0
compare() { # WORLDS SEEDS
    target/release/examples/hashes "$1" 1 "$2" >"$there/here" &
    "$there/target/release/examples/hashes" "$1" 1 "$2" >"$there/before"
    wait
    local count
    count=$(diff "$there/before" "$there/here" | grep -c '^>' || true)
    echo "$1: $count of $2 worlds differ"
    [ "$count" = 0 ] || differ=1
}
compare mixed "$seeds"
compare moving $((seeds * 3 / 10))
compare standing $((seeds * 3 / 10))
compare attacked $((seeds / 5))
compare behind-nat $((seeds * 3 / 20))

# Instructions and packets or messages of one run.
run() { # EXECUTABLE COUNT BYTES FIELD
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" "$3" 2>&1 |
        awk -v field="$4" '/packets/ { done = $field } /Collected/ { print $4, done }'
}
cost() { # EXECUTABLE MEGABYTES BYTES FIELD
    local a b
    read -ra a < <(run "$1" $(($2 * 2)) "$3" "$4")
    read -ra b < <(run "$1" "$2" "$3" "$4")
    echo $(((a[0] - b[0]) / (a[1] - b[1])))
}
if command -v valgrind >/dev/null; then
    for kind in "full packet:20:65536:1" "64-byte message:2:64:3"; do
        IFS=: read -r what megabytes bytes field <<<"$kind"
        before=$(cost "$there/target/release/examples/engine" "$megabytes" "$bytes" "$field")
        here=$(cost target/release/examples/engine "$megabytes" "$bytes" "$field")
        echo "instructions per $what, both ends: $before before, $here here"
    done
fi
exit "$differ"
