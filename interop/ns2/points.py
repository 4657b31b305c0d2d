#!/usr/bin/env python3
"""The points of ns-2 in the charts of `whimbrel lab report`: b08 Figures 7 and 12, as the lab draws them.

    interop/ns2/points.py [--repetitions 10] [--jobs 2] [--out crates/lab/data/stated/ns2.toml]

Runs what run.py runs, in the mended ns-2 and with its seeds. Points are means of the repetitions in which they could be measured, in the units of
the chart, beside a line of the lab as the chart's legend calls it.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import statistics
import sys

import run

PANELS = dict(zip(run.PAIRS, "abc"))
LINES = {("cbr45", 10): "CBR-45 (queue 10)", ("cbrmax", 10): "CBR-Max (queue 10)", ("bulk", 10): "bulk (queue 10)", ("bulk", 50): "bulk (queue 50)"}
# b08 Figure 12: Path.Max.Retrans 3, a bulk source, a queue of 10; packets of 1452 B, drawn in kB.
AFTER = 20
PACKET = 1.452


def number(text):
    return None if text in ("none", "early") else float(text)


def latency(program, pair, line, pmr, seed):
    source, queue = line
    start = run.start(seed)
    return number(run.ns(program, "fig07.tcl", *pair.split("-"), source, queue, pmr, seed, "start", start).split()[0])


def arrivals(program, pair, seed):
    start = run.start(seed)
    printed = run.ns(program, "fig07.tcl", *pair.split("-"), "bulk", 10, 3, seed, "start", start, "arrivals", AFTER)
    lines = printed.splitlines()
    return [number(text) for text in lines[1].split()] if len(lines) > 1 else [None] * AFTER


def mean(values):
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def rows(program, seeds, pool):
    def over_seeds(work, *place):
        return [pool.submit(work, program, *place, seed) for seed in seeds]

    cells = list(itertools.product(run.PAIRS, LINES, run.PATH_MAX_RETRANS))
    latencies = [over_seeds(latency, *cell) for cell in cells]
    start_ups = [over_seeds(arrivals, pair) for pair in run.PAIRS]
    for (pair, line, pmr), runs in zip(cells, latencies):
        if (y := mean([one.result() for one in runs])) is not None:
            yield f"b08_fig07{PANELS[pair]}", f"timers, {LINES[line]}", pmr, f"{y:.4g}"
        print(f"{pair} {line} {pmr}", file=sys.stderr)
    for pair, runs in zip(run.PAIRS, start_ups):
        times = [one.result() for one in runs]
        for packet in range(AFTER):
            if (x := mean([one[packet] for one in times])) is not None:
                yield f"b08_fig12{PANELS[pair]}", "slow start", f"{x:.4g}", f"{(packet + 1) * PACKET:.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, default=run.ROOT / "crates/lab/data/stated/ns2.toml")
    arguments = parser.parse_args()
    seeds = range(1_000_000, 1_000_000 + arguments.repetitions)
    program = run.ns_mended()
    for seed in seeds:
        run.start(seed)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        made = list(rows(program, seeds, pool))
    with open(arguments.out, "w") as out:
        print("# Written by interop/ns2/points.py.", file=out)
        for (chart, line), points in itertools.groupby(made, key=lambda point: point[:2]):
            at = ", ".join(f"[{x}, {y}]" for _, _, x, y in points)
            print(f'\n[[points]]\nchart = "{chart}"\nline = "{line}"\nat = [{at}]', file=out)


if __name__ == "__main__":
    main()
