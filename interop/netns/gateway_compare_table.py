#!/usr/bin/env python3
"""gateway_compare_table.py RESULTS - the table of what gateway_compare.sh has seen."""

import json
import statistics
import sys

NAMES = {
    "m-sctp": "m-SCTP (the paper's; 2 s)",
    "m-sctp+": "m-SCTP+ (the paper's; 2 s)",
    "ufa": "UFA (the paper's)",
    "ufa+": "UFA+ (the paper's)",
    "ufa++": "UFA++ (the paper's)",
    "gateway": "Whimbrel, by its network",
    "whimbrel": "Whimbrel, by itself (2 s)",
    "m-sctp/0.15": "m-SCTP, 150 ms",
    "m-sctp+/0.15": "m-SCTP+, 150 ms",
    "whimbrel/0.15": "Whimbrel, by itself, 150 ms",
}


def duration(ms):
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms"


def cell(runs):
    if not runs:
        return "-"
    median = lambda name: statistics.median(run[name] for run in runs)
    return f"{duration(median('largest_gap_ms'))} / {duration(median('latest_ms'))} / {median('again') / 1000:.1f} kB"


def main():
    runs = [json.loads(line) for line in open(sys.argv[1]) if line.strip()]
    print("| | to the host | from the host |\n|---|---|---|")
    for scheme in dict.fromkeys(run["scheme"] for run in runs):
        ways = [[run for run in runs if (run["scheme"], run["direction"]) == (scheme, way)] for way in ("down", "up")]
        print(f"| {NAMES.get(scheme, scheme)} | {cell(ways[0])} | {cell(ways[1])} |")
    return 0 if runs and all(run["complete"] for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
