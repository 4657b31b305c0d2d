"""What the runs of torture.sh mean.

    torture_report.py run WORK ROW GROUP SECONDS TRANSPORT DIRECTION ROWS PROGRESS TOTAL   one run becomes a line of ROWS (JSON) and of the screen;
                                                                                           exit status 1 if the stream was broken
    torture_report.py table ROWS CSV                                                       all runs as a table on the screen, and as CSV
    torture_report.py page ROWS PAGE                                                       the tables of PAGE between its markers
"""

import csv
import json
import os
import re
import statistics
import sys
import time

BEGIN, END = "<!-- torture.sh: begin -->", "<!-- torture.sh: end -->"
TRANSPORTS = {"whimbrel": "Whimbrel", "mptcp": "MPTCP", "quic": "QUIC (quinn)", "tcp": "TCP"}
FIELDS = ["row", "group", "seconds", "transport", "direction", "survived", "gap_ms", "recovery_ms", "latest_ms", "sent_again", "error", "when", "load", "events"]
TITLES = {
    "control": "Without trouble", "outages": "Outages", "sizes": "Large packets vanish", "quality": "Delay, loss, full buffers",
    "addresses": "Other addresses, more uplinks", "families": "Other families", "networks": "Networks that misbehave, hosts that sleep", "flaps": "Networks that come and go",
}  # fmt: skip


def read_json_lines(path):
    """What is no JSON was said to somebody else; a process that was killed leaves half a line."""
    found = []
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    found.append(json.loads(line))
                except ValueError:
                    continue
    return [one for one in found if isinstance(one, dict)]


def marks_of(work):
    marks = []
    path = os.path.join(work, "marks")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            marks = [(name, float(at) * 1000) for name, at in (line.split() for line in file)]
    return marks


def recovery(report, back):
    """Milliseconds from `back` to the next record; nought if no gap worth telling is open then or begins within 60 ms.

    What is on its way when a network fails still arrives: the gap begins a little after the trouble.
    """
    for gap in report["gaps"]:
        begin = report["began_unix_ms"] + gap["at_ms"]
        if begin - 60 <= back <= begin + gap["gap_ms"]:
            return begin + gap["gap_ms"] - back
    return 0.0


def last_words(work):
    for name in ("client.log", "server.log"):
        with open(os.path.join(work, name), encoding="utf-8", errors="replace") as file:
            text = file.read()
        at = max(text.rfind("Error: "), text.rfind("panicked at"))
        if at >= 0:
            return f"{name[:6]}: {' '.join(text[at:].split())}"
    return "neither side said why"


def run_as_row(work, row, group, seconds, transport, direction):
    ends = [read_json_lines(os.path.join(work, f"{end}.json")) for end in ("client", "server")]
    reports = [one for end in ends for one in end if "records" in one]
    survived = len(reports) == (2 if direction == "both" else 1) and all(one["complete"] for one in reports)
    back = [at for name, at in marks_of(work) if name == "back"]
    counters = [read_json_lines(os.path.join(work, f"{end}.counters")) for end in ("mn", "cn")]
    again = [[one["sent_again"] for one in lines if "sent_again" in one] for lines in ends + counters]
    errors = [one["error"] for one in reports if one["error"]]
    if not survived and not errors:
        errors = [last_words(work)]
    return {
        "row": row, "group": group, "seconds": int(seconds), "transport": transport, "direction": direction, "survived": survived,
        "gap_ms": max((one["largest_gap_ms"] for one in reports), default=None),
        "recovery_ms": round(max((recovery(one, back[-1]) for one in reports), default=0), 1) if survived and back else None,
        "latest_ms": max((one["latest_ms"] for one in reports), default=None),
        "sent_again": sum(one[-1] for one in again if one) if any(again) else None,
        "error": "; ".join(sorted(set(errors))) or None,
        "when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "load": os.getloadavg()[0],
        "events": " ".join(f"{name}@{at / 1000:.3f}" for name, at in marks_of(work)),
    }  # fmt: skip


def seconds_text(ms):
    """So many digits as mean something on a machine that is shared."""
    if ms is None:
        return "?"
    return f"{ms:.0f} ms" if ms < 999.5 else f"{ms / 1000:.1f} s"


def bytes_text(count):
    if count is None:
        return "?"
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"


def line_of(one):
    head = f"{one['row']:36} {one['transport']:9} {one['direction']:5}"
    if not one["survived"]:
        return f"{head} BROKEN    gap {seconds_text(one['gap_ms']):>7}: {one['error']}"
    return (
        f"{head} survived  gap {seconds_text(one['gap_ms']):>7}, recovery {seconds_text(one['recovery_ms']):>7}, "
        f"latest {seconds_text(one['latest_ms']):>7}, sent again {bytes_text(one['sent_again']):>8}"
    )


def run(work, row, group, seconds, transport, direction, rows, progress, total):
    one = run_as_row(work, row, group, seconds, transport, direction)
    with open(rows, "a", encoding="utf-8") as file:
        file.write(json.dumps(one) + "\n")
    with open(progress, "a+", encoding="utf-8") as file:
        file.write(".")
        file.seek(0)
        number = len(file.read())
    print(f"[{number}/{total}] {line_of(one)}", flush=True)
    return one["survived"]


def by_row(rows):
    """Runs by row and transport, rows in the order of groups."""
    table = {}
    order = {group: number for number, group in enumerate(TITLES)}
    for one in sorted(rows, key=lambda one: order.get(one["group"], len(order))):
        table.setdefault((one["group"], one["row"]), {}).setdefault(one["transport"], []).append(one)
    return table


def table(rows, target):
    everything = read_json_lines(rows)
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(everything)
    cells = by_row(everything)
    there = [t for t in TRANSPORTS if any(t in row for row in cells.values())]
    group = None
    for (of, name), row in cells.items():
        if of != group:
            group = of
            print(f"\n{TITLES[group]:42}" + "".join(f"{TRANSPORTS[t]:36}" for t in there))
        print(f"  {name:40}" + "".join(f"{cell(row.get(t, [])):36}" for t in there))
    print(f"\nlongest gap / recovery / latest record / sent again; {len(everything)} runs, {target}")
    print("\n".join(["", "not the best:"] + [f"  {line}" for line in behind(cells)] if behind(cells) else []))


def median(runs, name):
    known = [one[name] for one in runs if one["survived"] and one[name] is not None]
    return statistics.median(known) if known else None


def cell(runs):
    """Medians of the runs that survived, and how many did not."""
    broken = sum(not one["survived"] for one in runs)
    if broken == len(runs):
        return "breaks" if runs else ""
    text = " / ".join([seconds_text(median(runs, name)) for name in ("gap_ms", "recovery_ms", "latest_ms")] + [bytes_text(median(runs, "sent_again"))])
    return text + (f"; {broken} of {len(runs)} break" if broken else "")


def behind(cells):
    """Where Whimbrel broke, or somebody else who never broke was better by more than 10 % and 50 ms."""
    lines = []
    for (_, name), row in cells.items():
        mine = row.get("whimbrel", [])
        sound = {t: runs for t, runs in row.items() if t != "whimbrel" and all(one["survived"] for one in runs)}
        broken = sum(not one["survived"] for one in mine)
        said = [f"{broken} of {len(mine)} break (others that survive: {', '.join(TRANSPORTS[t] for t in sound) or 'none'})"] if broken else []
        for what, field in (("gap", "gap_ms"), ("recovery", "recovery_ms"), ("latest record", "latest_ms")):
            ours = median(mine, field)
            theirs = min(((median(runs, field), t) for t, runs in sound.items() if median(runs, field) is not None), default=None)
            if ours is not None and theirs and ours > max(1.1 * theirs[0], theirs[0] + 50):
                said.append(f"{what} {seconds_text(ours)}, {TRANSPORTS[theirs[1]]} {seconds_text(theirs[0])}")
        if said:
            lines.append(f"{name.replace('_', ' ')}: {'; '.join(said)}")
    return lines


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def page_tables(rows):
    everything = read_json_lines(rows)
    cells = by_row(everything)
    when = sorted({one["when"][:10] for one in everything})
    most = max((len(runs) for row in cells.values() for runs in row.values()), default=0)
    loads = [one["load"] for one in everything]
    with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="utf-8") as file:
        congestion = file.read().strip()
    repeated = "one" if most == 1 else f"at most {most}"
    linux = ".".join(os.uname().release.split(".")[:2])
    out = [
        f"{len(everything)} runs, {repeated} for each row and transport, {' to '.join(sorted({when[0], when[-1]}))}, Linux {linux}, {os.cpu_count()} processors, "
        f"load average {min(loads):.1f} to {max(loads):.1f} (median {statistics.median(loads):.1f}); the kernel's TCP and MPTCP with {congestion}.",
        "",
    ]
    for group, title in TITLES.items():
        of_group = sorted((name for of, name in cells if of == group), key=natural)
        if not of_group:
            continue
        out += [f"### {title}", "", "| row | " + " | ".join(TRANSPORTS.values()) + " |", "|---" * (len(TRANSPORTS) + 1) + "|"]
        for name in of_group:
            runs = cells[group, name]
            out.append(f"| {name.replace('_', ' ')} | " + " | ".join(cell(runs.get(t, [])).replace("breaks", "**breaks**") for t in TRANSPORTS) + " |")
        out.append("")
    worse = behind(cells)
    if worse:
        out += ["### Where Whimbrel is not the best", "", "By more than 10 % and 50 ms, beside those who survived every run of the row.", ""] + [f"- {line}" for line in worse] + [""]
    return "\n".join(out)


def page(rows, target):
    made = page_tables(rows)
    with open(target, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(target, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{made}{END}{after}")


def main():
    commands = {"run": run, "table": table, "page": page}
    result = commands[sys.argv[1]](*sys.argv[2:])
    sys.exit(1 if result is False else 0)


main()
