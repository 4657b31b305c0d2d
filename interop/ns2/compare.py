#!/usr/bin/env python3
"""Whimbrel's lab and ns-2 side by side, as Markdown tables.

    interop/ns2/compare.py fig07 OURS.csv NS2.csv STOCK.csv [DIRECTORY] [--reading failover_latency]
    interop/ns2/compare.py readings OURS.csv NS2.csv STOCK.csv [DIRECTORY]
    interop/ns2/compare.py alternate OURS.csv[,OURS.csv...] NS2.csv[,NS2.csv...]
    interop/ns2/compare.py claims OURS.csv[,OURS.csv...] NS2.csv[,NS2.csv...]
    interop/ns2/compare.py fig12 OURS.csv[,OURS.csv...] NS2.csv
    interop/ns2/compare.py cmt OURS.csv NS2.csv [DIRECTORY]

OURS.csv is what `whimbrel lab run` writes, or `beside_ns2` prints; NS2.csv is what run.py writes, and STOCK.csv the same with
`--stock`. `fig07` has a reading of handover latency cell by cell; DIRECTORY is what `run.py experiments` wrote: with it, it says what
a difference comes from, by the rule in causes.toml. `readings` counts the cells that agree, by each reading, and by the
first in each experiment. `alternate` has the factors by which another alternate network changes the heavy sources' latency, and `claims` says which
claims about Figure 7 hold by each reading; both want the rows of the pair wlan-geran, too. `cmt` has a figure of b09 cell by cell, and after it
how many cells agree in each experiment, if DIRECTORY is what `run.py cmt-experiments` wrote.
"""

import collections
import csv
import json
import pathlib
import statistics
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lab"))

import compare_cmt
import evaluate_claims
from difference import NEAR, deviation, number, shown

AXES = ["pair", "src", "qs"]
SOURCES = {"cbr45": "CBR-45", "cbrmax": "CBR-Max", "bulk": "bulk"}
READINGS = ["failover_latency", "first_new_sent", "first_new_latency", "gap_to_any", "gap_to_new"]


def rows(paths):
    for path in str(paths).split(","):
        with open(path) as file:
            for row in csv.DictReader(file):
                if row.get("series", "paper") == "paper":
                    yield row


class Cells:
    """Means of a reading by cell, and in how many runs there was none."""

    def __init__(self, path, reading, seeds=None):
        values, self.runs, self.seeds = collections.defaultdict(list), collections.Counter(), set()
        for row in rows(path):
            self.seeds.add(row["seed"])
            if seeds is not None and row["seed"] not in seeds:
                continue
            cell = tuple(row[axis] for axis in [*AXES, "pmr"])
            self.runs[cell] += 1
            latency = number(row[reading])
            if latency is not None:
                values[cell].append(latency)
        self.values = values
        self.mean = {cell: statistics.fmean(found) for cell, found in values.items()}
        self.left_out = {cell: runs - len(values[cell]) for cell, runs in self.runs.items()}


def paired(ours, theirs, reading):
    """Both, with the seeds that both have."""
    seeds = Cells(ours, reading).seeds & Cells(theirs, reading).seeds
    return Cells(ours, reading, seeds), Cells(theirs, reading, seeds)


def compared(ours, theirs):
    """Deviations of ours from ns-2 in the cells that both have."""
    return {cell: deviation(ours.mean[cell], theirs.mean[cell]) for cell in theirs.mean if cell in ours.mean}


def agreement(ours, theirs):
    """Cells within 10 % and the median of the differences: of all, then by source."""
    found = compared(ours, theirs)
    texts = []
    for source in [None, *SOURCES]:
        some = [abs(value) for cell, value in found.items() if source in (None, cell[1])]
        near = sum(value <= NEAR for value in some)
        texts.append(f"{near} of {len(some)}, {statistics.median(some):.0%}" if some else "")
    return " | ".join(texts)


class Experiment:
    """One entry of causes.toml with its rows; what was not changed is as in the table."""

    def __init__(self, number, entry, directory, ours, theirs, reading):
        self.letters = entry["letters"]
        settings = " ".join([*entry.get("ours", []), *entry.get("ns2", [])])
        self.label = f"{self.letters}: {entry['label']}" if self.letters else entry["label"]
        self.label += f" (`{settings}`)"
        mine, other = (directory / f"{number}-{name}.csv" for name in ("ours", "ns2"))
        self.ours, self.theirs = paired(mine, other if other.exists() else theirs, reading)

    def left(self, cell):
        """How far apart the two are in a cell now; 0 if neither has a failover there, None if one has, or it was not run."""
        mine, other = self.ours.mean.get(cell), self.theirs.mean.get(cell)
        if mine is None and other is None and cell in self.ours.runs and cell in self.theirs.runs:
            return 0.0
        return None if mine is None or other is None else abs(deviation(mine, other))


def experiments(directory, ours, theirs, reading):
    with open(HERE / "causes.toml", "rb") as file:
        entries = tomllib.load(file)["experiment"]
    return [Experiment(number, entry, directory, ours, theirs, reading) for number, entry in enumerate(entries)]


def failover(cell, ours, theirs, tried):
    text = shown(cell, ours.mean.get(cell), theirs.mean.get(cell), tried)
    left = [one.left_out.get(cell, 0) for one in (ours, theirs)]
    return f"{text} ({left[0]}, {left[1]} left out)" if any(left) else text


def fig07(arguments, reading):
    ours, theirs = paired(*arguments[:2], reading)
    stock = Cells(arguments[2], reading, ours.seeds)
    tried = experiments(pathlib.Path(arguments[3]), *arguments[:2], reading) if len(arguments) > 3 else []
    pmrs = sorted({cell[3] for cell in theirs.runs})
    print("| pair | source | queue | " + " | ".join(f"PMR {pmr}" for pmr in pmrs) + " | stock ns-2 |")
    print("|---" * (4 + len(pmrs)) + "|")
    for place in dict.fromkeys(cell[:3] for cell in theirs.runs):
        cells = [(*place, pmr) for pmr in pmrs]
        as_installed = ", ".join(f"{stock.mean[cell]:.3g}" if cell in stock.mean else "none" for cell in cells)
        print("|", " | ".join([*place, *(failover(cell, ours, theirs, tried) for cell in cells), as_installed]), "|")


def readings(arguments, _):
    ours, theirs, stock = arguments[:3]
    print("| reading | of all | " + " | ".join(SOURCES.values()) + " | stock ns-2: of all |")
    print("|---" * (3 + len(SOURCES)) + "|")
    for reading in READINGS:
        as_installed = agreement(*paired(ours, stock, reading)).split(" | ")[0]
        print(f"| `{reading}` | {agreement(*paired(ours, theirs, reading))} | {as_installed} |")
    if len(arguments) < 4:
        return
    reading = READINGS[0]
    print(f"\n| `{reading}` with | of all | " + " | ".join(SOURCES.values()) + " |")
    print("|---" * (2 + len(SOURCES)) + "|")
    for one in experiments(pathlib.Path(arguments[3]), ours, theirs, reading):
        print(f"| {one.label} | {agreement(one.ours, one.theirs)} |")


def alternate(arguments, _):
    print("| reading | source | " + " | ".join(f"PMR {pmr}: ours, ns-2" for pmr in range(1, 6)) + " |")
    print("|---" * 7 + "|")
    for reading in ["failover_latency", "first_new_latency", "gap_to_any"]:
        both = [Cells(paths, reading) for paths in arguments]
        for source in ["cbrmax", "bulk"]:
            cells = [", ".join(factor(one, source, str(pmr)) for one in both) for pmr in range(1, 6)]
            print(f"| `{reading}` | {SOURCES[source]} | " + " | ".join(cells) + " |")


def factor(cells, source, pmr):
    """What takes so many times as long from WLAN to GERAN as to UMTS; bold beyond the claim's 1.5."""
    geran, umts = (cells.mean.get((pair, source, "10", pmr)) for pair in ("wlan-geran", "wlan-umts"))
    times = geran / umts if geran and umts else float("nan")
    return f"**{times:.2f}**" if times > 1.5 else f"{times:.2f}"


def claims(arguments, _):
    data = evaluate_claims.read("scenarios.toml")["scenario"]
    scenarios = {name: evaluate_claims.resolve(data, name) for name in data}
    found = evaluate_claims.read("claims.toml")
    known = {
        reading: [{**evaluate_claims.names(scenarios, means(paths, reading)), **found["constants"]} for paths in arguments]
        for reading in READINGS
    }
    print("| claim | asks for | " + " | ".join(f"`{reading}`: ours, ns-2" for reading in READINGS) + " |")
    print("|---" * (2 + len(READINGS)) + "|")
    for claim in found["claim"]:
        asked = [reading for reading in READINGS if f"b08-fig7.{reading}" in claim["check"]]
        if not claim["id"].startswith("b08-fig7-") or len(asked) != 1:
            continue
        cells = []
        for reading in READINGS:
            check = claim["check"].replace(f"b08-fig7.{asked[0]}", f"b08-fig7.{reading}")
            cells.append(", ".join(verdict(check, names) for names in known[reading]))
        print(f"| `{claim['id']}` | `{asked[0]}` | " + " | ".join(cells) + " |")


def means(paths, reading):
    """As evaluate_claims.py wants them."""
    return {
        f"b08-fig7.{reading}|" + json.dumps({"pair": pair, "pmr": int(pmr), "qs": int(queue), "src": source}): [mean, 0.0]
        for (pair, source, queue, pmr), mean in Cells(paths, reading).mean.items()
    }


def verdict(check, names):
    try:
        return "yes" if eval(check, names) else "**no**"
    except evaluate_claims.Missing:
        return "?"


def fig12(arguments, _):
    ours = collections.OrderedDict()
    for path in arguments[0].split(","):
        for row in rows(path):
            if row.get("variant", "standard") == "standard" and number(row["transfer_time"]) is not None:
                ours.setdefault(row["alt_icw"], {}).setdefault((row["pair"], row["packets"]), []).append(float(row["transfer_time"]))
    theirs = {(row["pair"], row["packets"]): float(row["transfer_time"]) for row in rows(arguments[1])}
    print("| pair | packet | ns-2 | " + " | ".join(f"ours, window {window}" for window in ours) + " |")
    print("|---" * (3 + len(ours)) + "|")
    places = [place for place in theirs if any(place in times for times in ours.values())]
    for place in places:
        cells = []
        for times in ours.values():
            mine = statistics.fmean(times[place]) if place in times else None
            off = deviation(mine, theirs[place]) if mine is not None else 0
            bold = "**" if abs(off) > NEAR else ""
            cells.append("" if mine is None else f"{mine:.3g} {bold}{off:+.0%}{bold}")
        print(f"| {place[0]} | {place[1]} | {theirs[place]:.3g} | " + " | ".join(cells) + " |")


def main():
    what = {"fig07": fig07, "readings": readings, "alternate": alternate, "claims": claims, "fig12": fig12, "cmt": compare_cmt.tables}
    arguments = sys.argv[1:]
    reading = "failover_latency"
    if "--reading" in arguments[:-1]:
        at = arguments.index("--reading")
        reading = arguments[at + 1]
        del arguments[at : at + 2]
    if len(arguments) < 3 or arguments[0] not in what or reading not in READINGS:
        sys.exit(__doc__)
    what[arguments[0]](arguments[1:], reading)


if __name__ == "__main__":
    main()
