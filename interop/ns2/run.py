#!/usr/bin/env python3
"""b08 Figures 7 and 12 and b09's concurrent transfer in ns-2, as rows.

    interop/ns2/run.py fig07 [--stock] [--pairs wlan-geran] [--first 0] [--repetitions 30] [--jobs 2] [--out ns2-fig07.csv]
    interop/ns2/run.py fig12 [--out ns2-fig12.csv]
    interop/ns2/run.py cmt [--repetitions 5] [--jobs 2] [--out ns2-cmt]
    interop/ns2/run.py experiments [--repetitions 30] [--jobs 2] [--out ns2-experiments]
    interop/ns2/run.py cmt-experiments [--repetitions 5] [--jobs 2] [--out ns2-cmt-experiments]
    interop/ns2/run.py speed [--seconds 300] [--repetitions 30]

ns-2 is a copy in which a source does not stall (mended.py); with `--stock` it is the program as installed.

`speed` runs one long run and Figure 7's sweep in ns-2 and in Whimbrel's lab by turns and compares their CPU seconds; it keeps the
sweep's rows.
`--set NAME=VALUE` runs with another setting (see the scripts), to find out what a difference comes from, and `--only
NAME=VALUE` runs only cells with this value of pair, src, qs or pmr, or of the lab's axis of that name. `experiments` runs those in
causes.toml, and `cmt-experiments` those in causes_cmt.toml.

Needs Debian's package ns2, and cargo or in BESIDE_NS2 the path of the lab's example of that name. The seeds are those of the
scenarios: 1,000,000 x the number of the scenario + the repetition; sources start when they start in the lab with that seed.
"""

import argparse
import concurrent.futures
import csv
import functools
import itertools
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tomllib

import cmt
import mended

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Repetitions of the sweep that one of the two does before it is the other's turn.
TURN = 5
PAIRS = ["wlan-umts", "umts-wlan", "geran-wlan"]
SOURCES = ["cbr45", "cbrmax", "bulk"]
QUEUES = [10, 50]
PATH_MAX_RETRANS = range(6)
READINGS = ["failover_latency", "first_new_sent", "first_new_latency", "gap_to_any", "gap_to_new"]
STATE = ["rto_at_break", "t3_at_failover", "t3_before_break"]
STOCK = "ns"


@functools.cache
def ns_mended():
    try:
        return str(mended.mend())
    except mended.Unknown as why:
        sys.exit(f"{why}\n--stock runs it as it is")


def ns(program, script, *arguments):
    """What one run prints."""
    command = [program, str(HERE / script), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


@functools.cache
def example():
    """The lab's example that does the same as ns-2, built if BESIDE_NS2 does not name it."""
    if "BESIDE_NS2" not in os.environ:
        build = ["cargo", "build", "--profile", "dist", "--locked", "-p", "whimbrel-lab", "--example", "beside_ns2"]
        subprocess.run(build, cwd=ROOT, check=True)
    return os.environ.get("BESIDE_NS2", ROOT / "target/dist/examples/beside_ns2")


def whimbrel(*arguments):
    """What one run of the lab's example prints."""
    command = [example(), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fig07_row(cell, program, settings=()):
    pair, source, queue, pmr, repetition = cell
    seed = 1_000_000 + repetition
    printed = ns(program, "fig07.tcl", *pair.split("-"), source, queue, pmr, seed, "start", start(seed), *settings).split()
    return [pair, source, queue, pmr, seed, *printed]


@functools.cache
def start(seed):
    """When the source starts in the lab's run with this seed, so that both do the same."""
    return whimbrel("start", seed)


def fig07_cells(repetitions, pairs=PAIRS):
    return list(itertools.product(pairs, SOURCES, QUEUES, PATH_MAX_RETRANS, repetitions))


def asked_for(cell, only):
    values = dict(zip(["pair", "src", "qs", "pmr"], map(str, cell)))
    return all(values[name] == value for name, value in (word.split("=", 1) for word in only))


def words(settings):
    return [word for setting in settings for word in setting.split("=", 1)]


def fig07_rows(program, arguments, settings, only):
    repetitions = range(arguments.first, arguments.first + arguments.repetitions)
    cells = [cell for cell in fig07_cells(repetitions, arguments.pairs.split(",")) if asked_for(cell, only)]
    run = functools.partial(fig07_row, program=program, settings=words(settings))
    for repetition in repetitions:
        start(1_000_000 + repetition)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done, row in enumerate(pool.map(run, cells), 1):
            rows.append(row)
            if done % 100 == 0:
                print(f"{done} of {len(cells)} runs", file=sys.stderr)
    return rows


def fig07(arguments):
    before = cpu_of_children()
    rows = fig07_rows(arguments.program, arguments, arguments.set, arguments.only)
    write_fig07(rows, arguments.out)
    print(f"{len(rows)} runs, {cpu_of_children() - before:.1f} CPU s; rows in {arguments.out}")


def experiments(arguments):
    """What causes.toml changes, in the one that it changes or in both: NUMBER-ours.csv and NUMBER-ns2.csv."""
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    with open(HERE / "causes.toml", "rb") as file:
        entries = tomllib.load(file)["experiment"]
    for number, entry in enumerate(entries):
        only = entry.get("only", [])
        rows = whimbrel("fig07", arguments.repetitions, *entry.get("ours", []), *only)
        (out / f"{number}-ours.csv").write_text(rows + "\n")
        if "ns2" in entry:
            write_fig07(fig07_rows(arguments.program, arguments, entry["ns2"], only), out / f"{number}-ns2.csv")
        print(f"{number + 1} of {len(entries)}: {entry['label']}", flush=True)


def write_fig07(rows, path):
    with open(path, "w") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["pair", "src", "qs", "pmr", "seed", *READINGS, *STATE])
        table.writerows(rows)


def fig12(arguments):
    with open(arguments.out, "w") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["pair", "alt_icw", "packets", "transfer_time"])
        for pair, window in itertools.product(PAIRS, [1, 2]):
            for line in ns(arguments.program, "fig12.tcl", *pair.split("-"), window, *words(arguments.set)).splitlines():
                rows.writerow([pair, window, *line.split()])
    print(f"rows in {arguments.out}")


def of_cmt(arguments):
    before = cpu_of_children()
    how = {
        "repetitions": range(arguments.first, arguments.first + arguments.repetitions),
        "run": functools.partial(ns, arguments.program),
        "start": start,
        "jobs": arguments.jobs,
    }
    out = pathlib.Path(arguments.out)
    if arguments.what == "cmt":
        cmt.sweep(out, settings=words(arguments.set), only=arguments.only, **how)
    else:
        cmt.experiments(out, words, **how)
    print(f"rows in {out}, {cpu_of_children() - before:.1f} CPU s")


def timed(work):
    """What some work yields, and the CPU seconds of the processes it started."""
    before = cpu_of_children()
    result = work()
    return result, cpu_of_children() - before


def speed(arguments):
    engine(arguments)
    sweep(arguments)


def engine(arguments):
    """One long run: packets a CPU second, the median of five turns."""
    rates = {"ns-2": [], "whimbrel": []}
    for _ in range(5):
        for name, work in [
            ("ns-2", lambda: int(ns(arguments.program, "bulk.tcl", arguments.seconds))),
            ("whimbrel", lambda: int(whimbrel("bulk", arguments.seconds))),
        ]:
            packets, cpu = timed(work)
            rates[name].append(packets / cpu)
            print(f"  {name}: {packets} DATA packets, {cpu:.2f} CPU s")
    theirs, mine = (statistics.median(rates[name]) for name in rates)
    print(f"one long run: ns-2 {theirs:.0f}, whimbrel {mine:.0f} DATA packets a CPU second: {mine / theirs:.2f} times ns-2")


def sweep(arguments):
    """Figure 7's sweep, by turns of a few repetitions; the rows of ns-2 are kept. It looks at no packets then, Whimbrel's lab does."""
    run = functools.partial(fig07_row, program=arguments.program, settings=["readings", "0"])
    kept = []
    total = {"ns-2": 0.0, "whimbrel": 0.0}
    runs = {"ns-2": 0, "whimbrel": 0}
    for first in range(0, arguments.repetitions, TURN):
        count = min(TURN, arguments.repetitions - first)
        cells = fig07_cells(range(first, first + count))
        for seed in range(1_000_000 + first, 1_000_000 + first + count):
            start(seed)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            rows, cpu = timed(lambda: list(pool.map(run, cells)))
        kept += rows
        write_fig07(kept, arguments.out)
        total["ns-2"] += cpu
        runs["ns-2"] += len(rows)
        done, cpu = timed(lambda: int(whimbrel("sweep", first, count)))
        total["whimbrel"] += cpu
        runs["whimbrel"] += done
        print(f"  {runs['ns-2']} runs: ns-2 {total['ns-2']:.1f}, whimbrel {total['whimbrel']:.2f} CPU s", flush=True)
    if runs["ns-2"] != runs["whimbrel"]:
        sys.exit(f"not the same work: {runs}")
    ratio = total["ns-2"] / total["whimbrel"]
    print(f"sweep of {runs['ns-2']} runs: ns-2 {total['ns-2']:.1f}, whimbrel {total['whimbrel']:.2f} CPU s: one part in {ratio:.1f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fig07", "fig12", "cmt", "experiments", "cmt-experiments", "speed"])
    parser.add_argument("--repetitions", type=int, help="5 of b09, 30 of b08 unless given")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--only", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--stock", dest="program", action="store_const", const=STOCK)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    arguments.program = arguments.program or ns_mended()
    is_directory = arguments.what in ["cmt", "experiments", "cmt-experiments"]
    arguments.out = arguments.out or f"ns2-{arguments.what}" + ("" if is_directory else ".csv")
    arguments.repetitions = arguments.repetitions or (5 if "cmt" in arguments.what else 30)
    what = {"fig07": fig07, "fig12": fig12, "cmt": of_cmt, "experiments": experiments, "cmt-experiments": of_cmt, "speed": speed}
    what[arguments.what](arguments)


if __name__ == "__main__":
    main()
