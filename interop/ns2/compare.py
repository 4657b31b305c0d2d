#!/usr/bin/env python3
"""Whimbrel's lab and ns-2 side by side, as Markdown tables.

    interop/ns2/compare.py fig07 OURS.csv NS2.csv [DIRECTORY]
    interop/ns2/compare.py fig12 OURS.csv[,OURS.csv...] NS2.csv

OURS.csv is what `whimbrel lab run` writes, or `beside_ns2` prints; NS2.csv is what run.py writes. DIRECTORY is what `run.py
experiments` wrote: with it, fig07 says what a difference comes from, by the rule in causes.toml, and how many cells agree in
each experiment.
"""

import collections
import csv
import pathlib
import statistics
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
NEAR = 0.10
AXES = ["pair", "src", "qs"]


def rows(path):
    with open(path) as file:
        for row in csv.DictReader(file):
            if row.get("series", "paper") == "paper":
                yield row


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


class Cells:
    """Mean failover latency by cell, and how many runs were over before the break or never ended."""

    def __init__(self, path, seeds=None):
        values, self.runs, self.seeds = collections.defaultdict(list), collections.Counter(), set()
        for row in rows(path):
            self.seeds.add(row["seed"])
            if seeds is not None and row["seed"] not in seeds:
                continue
            cell = tuple(row[axis] for axis in [*AXES, "pmr"])
            self.runs[cell] += 1
            latency = number(row["failover_latency"])
            if latency is not None:
                values[cell].append(latency)
        self.mean = {cell: statistics.fmean(found) for cell, found in values.items()}
        self.left_out = {cell: runs - len(values[cell]) for cell, runs in self.runs.items()}


def paired(ours, theirs):
    """Both, with the seeds that both have."""
    seeds = Cells(ours).seeds & Cells(theirs).seeds
    return Cells(ours, seeds), Cells(theirs, seeds)


def deviation(ours, theirs):
    return ours / theirs - 1


def compared(ours, theirs):
    """Deviations of ours from ns-2 in the cells that both have."""
    return {
        cell: deviation(ours.mean[cell], theirs.mean[cell]) for cell in theirs.mean if ours.mean.get(cell) is not None
    }


def agreement(label, ours, theirs):
    found = compared(ours, theirs)
    by_source = []
    for source in ["cbr45", "cbrmax", "bulk"]:
        of_source = [value for cell, value in found.items() if cell[1] == source]
        near = sum(abs(value) <= NEAR for value in of_source)
        by_source.append(f"{near} of {len(of_source)}, {statistics.median(map(abs, of_source)):.0%}" if of_source else "")
    near = sum(abs(value) <= NEAR for value in found.values())
    return f"| {label} | {near} of {len(found)} | " + " | ".join(by_source) + " |"


class Experiment:
    """One entry of causes.toml with its rows; what was not changed is as in the table."""

    def __init__(self, number, entry, directory, ours, theirs):
        self.letters = entry["letters"]
        settings = " ".join([*entry.get("ours", []), *entry.get("ns2", [])])
        self.label = f"{self.letters}: {entry['label']}" if self.letters else entry["label"]
        self.label += f" (`{settings}`)"
        mine, other = (directory / f"{number}-{name}.csv" for name in ("ours", "ns2"))
        self.ours, self.theirs = paired(mine, other if other.exists() else theirs)

    def left(self, cell):
        """How far apart the two are in a cell now; 0 if neither has a failover there, None if one has, or it was not run."""
        mine, other = self.ours.mean.get(cell), self.theirs.mean.get(cell)
        if mine is None and other is None and cell in self.ours.runs and cell in self.theirs.runs:
            return 0.0
        return None if mine is None or other is None else abs(deviation(mine, other))


def experiments(directory, ours, theirs):
    with open(HERE / "causes.toml", "rb") as file:
        entries = tomllib.load(file)["experiment"]
    return [Experiment(number, entry, directory, ours, theirs) for number, entry in enumerate(entries)]


def cause(cell, off, tried):
    """The letters of what a difference comes from. `off` is None where only one of the two has a failover."""
    left = [(one.left(cell), one.letters) for one in tried if one.letters and one.left(cell) is not None]
    for value, letters in left:
        if value <= NEAR:
            return letters
    value, letters = min(left, key=lambda pair: pair[0], default=(None, ""))
    return f"({letters})" if value is not None and off is not None and value <= abs(off) / 2 else "?"


def shown(cell, ours, theirs, tried):
    mine, other = ours.mean.get(cell), theirs.mean.get(cell)
    text = f"{mine:.3g}" if mine is not None else "none"
    text += f" / {other:.3g}" if other is not None else " / none"
    off = deviation(mine, other) if mine is not None and other is not None else None
    if off is not None:
        text += f" **{off:+.0%}**" if abs(off) > NEAR else f" {off:+.0%}"
    if tried and (off is None or abs(off) > NEAR):
        text += f" {cause(cell, off, tried)}"
    left = [one.left_out.get(cell, 0) for one in (ours, theirs)]
    if any(left):
        text += f" ({left[0]}, {left[1]} left out)"
    return text


def fig07(arguments):
    ours, theirs = paired(*arguments[:2])
    tried = experiments(pathlib.Path(arguments[2]), *arguments[:2]) if len(arguments) > 2 else []
    pmrs = sorted({cell[3] for cell in theirs.runs})
    print("| pair | source | queue | " + " | ".join(f"PMR {pmr}" for pmr in pmrs) + " |")
    print("|---" * (3 + len(pmrs)) + "|")
    for place in dict.fromkeys(cell[:3] for cell in theirs.runs):
        print(f"| {' | '.join(place)} | " + " | ".join(shown((*place, pmr), ours, theirs, tried) for pmr in pmrs) + " |")
    print()
    print("| settings | cells within 10 % | CBR-45 | CBR-Max | bulk |")
    print("|---|---|---|---|---|")
    print(agreement("as in the table", ours, theirs))
    for one in tried:
        print(agreement(one.label, one.ours, one.theirs))


def fig12(arguments):
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
    what = {"fig07": fig07, "fig12": fig12}
    if len(sys.argv) < 4 or sys.argv[1] not in what:
        sys.exit(__doc__)
    what[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
