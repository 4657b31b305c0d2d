#!/usr/bin/env python3
"""b08 Figures 7 and 12 in ns-2, as rows.

    interop/ns2/run.py fig07 [--repetitions 30] [--jobs 2] [--out ns2-fig07.csv]
    interop/ns2/run.py fig12 [--out ns2-fig12.csv]
    interop/ns2/run.py speed [--seconds 300]

Needs Debian's package ns2. The seeds are those of the scenarios: 1,000,000 x the number of the scenario + the repetition.
"""

import argparse
import concurrent.futures
import csv
import itertools
import os
import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAIRS = ["wlan-umts", "umts-wlan", "geran-wlan"]
SOURCES = ["cbr45", "cbrmax", "bulk"]
QUEUES = [10, 50]
PATH_MAX_RETRANS = range(6)


def ns(script, *arguments):
    """What one run prints."""
    command = ["ns", str(HERE / script), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fig07_row(cell):
    pair, source, queue, pmr, repetition = cell
    seed = 1_000_000 + repetition
    latency, rto, expiries = ns("fig07.tcl", *pair.split("-"), source, queue, pmr, seed).split()
    return [pair, source, queue, pmr, seed, latency, rto, expiries]


def fig07(arguments):
    cells = list(
        itertools.product(PAIRS, SOURCES, QUEUES, PATH_MAX_RETRANS, range(1, arguments.repetitions + 1))
    )
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool, open(arguments.out, "w") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["pair", "src", "qs", "pmr", "seed", "failover_latency", "rto_at_break", "t3_at_failover"])
        for done, row in enumerate(pool.map(fig07_row, cells), 1):
            rows.writerow(row)
            if done % 100 == 0:
                print(f"{done} of {len(cells)} runs", file=sys.stderr)
    print(f"{len(cells)} runs, {cpu_of_children():.1f} CPU s; rows in {arguments.out}")


def fig12(arguments):
    with open(arguments.out, "w") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["pair", "alt_icw", "packets", "transfer_time"])
        for pair, window in itertools.product(PAIRS, [1, 2]):
            for line in ns("fig12.tcl", *pair.split("-"), window).splitlines():
                rows.writerow([pair, window, *line.split()])
    print(f"rows in {arguments.out}")


def speed(arguments):
    before = cpu_of_children()
    packets = int(ns("bulk.tcl", arguments.seconds))
    cpu = cpu_of_children() - before
    print(f"{packets} DATA packets, {cpu:.2f} CPU s, {packets / cpu:.0f} a CPU second")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fig07", "fig12", "speed"])
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    arguments.out = arguments.out or f"ns2-{arguments.what}.csv"
    {"fig07": fig07, "fig12": fig12, "speed": speed}[arguments.what](arguments)


if __name__ == "__main__":
    main()
