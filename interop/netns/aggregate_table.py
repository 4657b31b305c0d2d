"""Puts the medians of aggregate.sh's runs into docs/rivals.md: aggregate_table.py RUNS.jsonl... PAGE."""

import json
import statistics
import sys

BEGIN, END = "<!-- aggregate.sh: begin -->", "<!-- aggregate.sh: end -->"
CELLS = {
    "20+20": "20 + 20 Mbit/s, 20 ms",
    "40+10": "40 + 10 Mbit/s, 20 ms",
    "50+5_far": "50 Mbit/s, 20 ms + 5 Mbit/s, 160 ms",
    "lossy": "20 + 20 Mbit/s, 20 ms; one loses 1 %",
    "dies": "20 + 20 Mbit/s, 20 ms; one falls silent after 5 s",
    "appears": "20 Mbit/s, 20 ms; as much again after 5 s",
}
HEAD = ["networks", "", "alone", "goodput", "of the sum", "worst stall", "100 MB", "10 MB", "1 MB"]


class Runs:
    """All runs of a cell in one direction."""

    def __init__(self, rows):
        self.rows = rows

    def median(self, what, megabytes, of):
        """The median of what came through; None if a run did not, or there was none."""
        found = [row for row in self.rows if (row["what"], row["megabytes"]) == (what, megabytes)]
        if not found or not all(row["complete"] for row in found):
            return None
        return statistics.median(map(of, found))

    def goodput(self, what, megabytes=100):
        return self.median(what, megabytes, lambda row: row["bytes"] * 8e-3 / row["duration_ms"])

    def seconds(self, what, megabytes):
        return self.median(what, megabytes, lambda row: row["duration_ms"] / 1e3)

    def stall(self, what):
        # The worst of all runs: a median would hide what seldom happens.
        found = [row["largest_gap_ms"] for row in self.rows if (row["what"], row["megabytes"]) == (what, 100) and row["complete"]]
        return max(found, default=None)


def number(value, text):
    return "–" if value is None else text.format(value)


def lines(cell, direction, runs):
    alone = [runs.goodput(network, 25) for network in ("wifi", "lte")]
    for what, title in (("aggregate", "Whimbrel"), ("mptcp", "MPTCP")):
        goodput = runs.goodput(what)
        total = sum(alone) if None not in alone else None
        part = None if None in (goodput, total) else goodput / total * 100
        first = title == "Whimbrel"
        yield [
            f"{CELLS.get(cell, cell)}, {direction}" if first else "",
            title,
            " + ".join(f"{one:.1f}" for one in alone) if first and total is not None else "",
            number(goodput, "{:.1f}"),
            number(part, "{:.0f} %"),
            number(runs.stall(what), "{:.0f} ms"),
            *[number(runs.seconds(what, size), "{:.2f} s") for size in (100, 10, 1)],
        ]


def table(rows):
    most = max(row["run"] for row in rows)
    kernel = ", ".join(sorted({row["kernel"] for row in rows}))
    out = [f"Mbit/s, medians of {most} runs each; the worst stall of all runs at the receiver; how long 100, 10 and 1 MB take. The kernel's congestion control: {kernel}.", ""]
    out += ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    for cell in CELLS:
        for direction in ("up", "down"):
            of = [row for row in rows if (row["cell"], row["direction"]) == (cell, direction)]
            for line in lines(cell, direction, Runs(of)) if of else []:
                out.append("| " + " | ".join(line) + " |")
    return "\n".join(out)


def main():
    *logs, page = sys.argv[1:]
    rows = [json.loads(line) for log in logs for line in open(log, encoding="utf-8")]
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}")


main()
