#!/usr/bin/env bash
# Loads a report in headless Chromium and looks at it, on screens, on paper and without scripts. Usage: interop/report/run.sh [REPORT.html [PICTURES]]
# Any other page, such as the demo's, on paper and without scripts alone: interop/report/run.sh --page PAGE.html
# Without a report, a small one is made; pictures stay where a directory for them is named. Needs chromium and python3 (Debian packages of these names).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for command in chromium python3; do
    command -v "$command" >/dev/null || { echo "skipped: $command is not installed"; exit 0; }
done
if [ "${1:-}" = --page ]; then
    CHROMIUM=$(command -v chromium) timeout 300 "$here/page.py" "$work" "$2"
    exit
fi
report=${1:-}
if [ -z "$report" ]; then
    whimbrel=${WHIMBREL:-"cargo run --release --locked --quiet --"}
    (cd "$here/../.." && $whimbrel lab run all docs/lab/neighbour.toml --reps 2 --out "$work/results" &&
        $whimbrel lab report all docs/lab/neighbour.toml --results "$work/results" --out "$work/report.html" --open no)
    (cd "$here/../.." && $whimbrel lab report docs/lab/neighbour.toml --results "$work/results" --out "$work/own.html" --open no)
    report=$work/report.html
fi
pictures=${2:-$work/pictures}
mkdir -p "$pictures"
report=$(realpath "$report")
pictures=$(realpath "$pictures")
CHROMIUM=$(command -v chromium) timeout 600 "$here/check.py" "$report" "$pictures"
CHROMIUM=$(command -v chromium) timeout 600 "$here/page.py" "$pictures" "$report"
if [ -e "$work/own.html" ]; then
    CHROMIUM=$(command -v chromium) timeout 600 "$here/page.py" --own "$pictures" "$work/own.html"
fi
