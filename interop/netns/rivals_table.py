"""Puts the medians of run.sh's lines into docs/rivals.md: rivals_table.py LOG PAGE."""

import re
import statistics
import sys

BEGIN, END = "<!-- rivals.sh: begin -->", "<!-- rivals.sh: end -->"
TRANSPORTS = {"whimbrel": "Whimbrel", "mptcp": "MPTCP", "quic": "QUIC (quinn)", "tcp": "TCP"}
LINE = re.compile(r"^(\w+) +(up|down) +(\w+) +(complete|BROKEN).*?largest gap +([\d.]+) ms, in +([\d.]+) s")


def cell(runs):
    """The runs of one transport: median (smallest to largest), when all had arrived, and how many did not come through."""
    gaps = [gap for complete, gap, _ in runs if complete]
    ends = [end for complete, _, end in runs if complete]
    broken = len(runs) - len(gaps)
    if not runs:
        return ""
    if not gaps:
        return "breaks" if broken == len(runs) else ""
    spread = f" ({min(gaps):.0f} to {max(gaps):.0f})" if len(gaps) > 1 else ""
    text = f"{statistics.median(gaps):.0f}{spread}; {statistics.median(ends):.1f} s"
    return text + (f", {broken} of {len(runs)} break" if broken else "")


def table(lines):
    results, notes = {}, []
    for line in lines:
        if line.startswith("#"):
            notes.append(line[1:].strip())
        elif found := LINE.match(line):
            move, direction, transport, how, gap, end = found.groups()
            row = results.setdefault((move, direction), {})
            row.setdefault(transport, []).append((how == "complete", float(gap), float(end)))
    most = max((len(runs) for row in results.values() for runs in row.values()), default=0)
    out = [f"Largest gap in ms, median (smallest to largest) of {most} {'run' if most == 1 else 'runs'} each; when the last record was there, median. {'; '.join(notes)}.", ""]
    out += ["| move | " + " | ".join(TRANSPORTS.values()) + " |", "|---" * (len(TRANSPORTS) + 1) + "|"]
    for (move, direction), row in results.items():
        cells = [cell(row.get(transport, [])) for transport in TRANSPORTS]
        out.append(f"| {move.replace('_', ' ')}, {direction} | " + " | ".join(cells) + " |")
    return "\n".join(out)


def main():
    log, page = sys.argv[1:]
    with open(log, encoding="utf-8") as file:
        made = table(file)
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{made}\n{END}{after}")


main()
