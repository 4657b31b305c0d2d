"""b09's cells side by side, as Markdown tables."""

import collections
import csv
import pathlib
import statistics

import cmt
from difference import NEAR, deviation, number, shown

# What is across in a figure's table, and what it is called.
ACROSS = {"b09_fig05": ("rbuf_kb", "kB"), "b09_fig06": ("t_dwell", "s"), "b09_cc": ("loss", "lost")}
READINGS = {"b09_fig05": ["transfer_time"], "b09_fig06": ["transfer_time"], "b09_cc": ["goodput", "sacks_per_packet", "spurious_frtx"]}
# Too few to be compared by ratio.
COUNTED = "spurious_frtx"
PAPER = "paper"


class Rows:
    """Means of each reading by cell, over the repetitions that are asked for."""

    def __init__(self, path, axes, seeds=None):
        values = collections.defaultdict(list)
        self.seeds, self.cells = set(), {}
        with open(path) as file:
            for row in csv.DictReader(file):
                if row["series"] != PAPER or seeds is not None and row["seed"] not in seeds:
                    continue
                self.seeds.add(row["seed"])
                cell = tuple(row[axis] for axis in axes)
                self.cells[cell] = None
                for reading, text in row.items():
                    if number(text) is not None:
                        values[reading, cell].append(float(text))
        self.mean = {key: statistics.fmean(found) for key, found in values.items()}


class Experiment:
    """One entry of causes_cmt.toml with its rows; what was not changed is as in the table."""

    def __init__(self, number, entry, paths, figure, reading, directory):
        self.letters, self.reading = entry["letters"], reading
        changes = [*(f"`{text}`" for text in entry.get("source", [])[2:]), *(f"`{word}`" for word in [*entry.get("ours", []), *entry.get("ns2", [])])]
        self.label = f"{self.letters}: {entry['label']}" if self.letters else entry["label"]
        self.label += f" ({' '.join(changes)})"
        changed = "ours" in entry or "source" in entry
        mine = directory / f"{number}-ours" / f"{figure}.csv" if changed else paths[0]
        other = directory / f"{number}-ns2" / f"{figure}.csv" if "ns2" in entry else paths[1]
        self.ours, self.theirs = paired(mine, other, cmt.AXES[figure])
        only = entry.get("only", [])
        asked = [cell for cell in self.theirs.cells if cmt.asked_for(dict(zip(cmt.AXES[figure], cell)), only)]
        self.cells = [cell for cell in asked if cell in self.ours.cells]

    def left(self, cell):
        """How far apart the two are in a cell now; None if it was not run."""
        mine, other = (one.mean.get((self.reading, cell)) for one in (self.ours, self.theirs))
        return None if cell not in self.cells or mine is None or not other else abs(deviation(mine, other))


def paired(ours, theirs, axes):
    """Both, with the repetitions that both have."""
    seeds = Rows(ours, axes).seeds & Rows(theirs, axes).seeds
    return Rows(ours, axes, seeds), Rows(theirs, axes, seeds)


def tables(arguments, _):
    paths, directory = arguments[:2], pathlib.Path(arguments[2]) if len(arguments) > 2 else None
    with open(paths[1]) as file:
        figure = next(csv.DictReader(file))["figure"]
    ours, theirs = paired(*paths, cmt.AXES[figure])
    for reading in READINGS[figure]:
        entries = enumerate(cmt.causes()) if directory and reading != COUNTED else []
        tried = [Experiment(at, entry, paths, figure, reading, directory) for at, entry in entries if figure in entry["of"]]
        print(f"`{reading}`, {len(ours.seeds)} repetitions:\n")
        table(figure, reading, ours, theirs, tried)
        print(f"\n{agreement([deviations(ours, theirs, reading, theirs.cells)])}\n" if reading != COUNTED else "")
        for one in tried:
            same = deviations(ours, theirs, reading, one.cells)
            print(f"- {one.label}: {agreement([same, deviations(one.ours, one.theirs, reading, one.cells)])}")


def table(figure, reading, ours, theirs, tried):
    axes = cmt.AXES[figure]
    across, unit = ACROSS[figure]
    at = axes.index(across)
    places = dict.fromkeys((*cell[:at], *cell[at + 1 :]) for cell in theirs.cells)
    values = list(dict.fromkeys(cell[at] for cell in theirs.cells))
    print("|", " | ".join([*(axis for axis in axes if axis != across), *(f"{value} {unit}" for value in values)]), "|")
    print("|---" * (len(axes) - 1 + len(values)) + "|")
    for place in places:
        cells = [(*place[:at], value, *place[at:]) for value in values]
        print("|", " | ".join([*place, *(both(cell, reading, ours, theirs, tried) for cell in cells)]), "|")


def both(cell, reading, ours, theirs, tried):
    mine, other = (one.mean.get((reading, cell)) for one in (ours, theirs))
    if reading == COUNTED:
        return " / ".join("none" if count is None else f"{count:.3g}" for count in (mine, other))
    return shown(cell, mine, other, tried)


def deviations(ours, theirs, reading, cells):
    pairs = [(ours.mean.get((reading, cell)), theirs.mean.get((reading, cell))) for cell in cells]
    return [abs(deviation(mine, other)) for mine, other in pairs if mine is not None and other]


def agreement(before_and_after):
    """Cells within 10 %, and the median of the differences: as it is, and then with what was changed."""
    texts = []
    for found in before_and_after:
        near = sum(value <= NEAR for value in found)
        texts.append(f"{near} of {len(found)} cells within 10 %, median {statistics.median(found):.0%}" if found else "none")
    return ", then ".join(texts)
