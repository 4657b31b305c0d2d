"""What e13.sh has measured.

    e13_report.py run RUNS_JSONL LOGS KEY=VALUE...   adds the row of one run; fails if the run is not whole
    e13_report.py rows DIRECTORY                     makes DIRECTORY/rows.csv of DIRECTORY/runs.jsonl
    e13_report.py lab RESULTS_CSV OUT_CSV            makes the small table of the lab's rows that `page` reads, of `whimbrel lab run e13_lc`
    e13_report.py page DIRECTORY LAB_CSV PAGE        rows.csv beside PAGE (its lab/e13.csv) and the tables between the markers of PAGE
    e13_report.py repeat RUNS_JSONL                  how much runs under one pattern differ, message by message
    e13_report.py check RUNS_JSONL PATTERN           fails if what the quick run has measured cannot be
"""

import csv
import fcntl
import glob
import json
import math
import os
import statistics
import sys

BEGIN, END = "<!-- e13.sh: begin -->", "<!-- e13.sh: end -->"
POINT = 5.0
RATE, ROUND_TRIP, QUEUE = 6e6, 0.3, 225_000
# What one video takes on the wire: five packets a message, each with headers of IPv4, SCTP and DATA.
VIDEO_RATE = 1.608e6
START, START_UP = 30, 200
INTERVAL, SIZE = 0.033, 6395
# Two-sided 95 % of Student's t, by degrees of freedom.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
WHOLE = {
    "mtt_start": "s: mean transfer time of messages 0 to 29 of the first video",
    "mmtt_start": "s: longest transfer time of messages 0 to 199 of the first video",
    "mmtt": "s: longest transfer time of the first video",
    "tcp_thr_before": "bit/s: mean of the two measurement points before the handover",
    "tcp_thr_video": "bit/s: mean of the measurement points wholly within the video",
    "video_rtx": "chunks sent again in the first 2 s, all videos",
}
MESSAGES = (0, 2, 5, 10, 20, 30, 50, 100, 200, 400, 800)
IDENTITY = ("run", "videos", "congestion", "window", "pattern")


def json_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def one(rows, key, path):
    found = [row for row in rows if key in row]
    if len(found) != 1:
        raise ValueError(f"{path}: {len(found)} lines with {key}")
    return found[0]


def measure(logs, told):
    """One run's row. Raises ValueError if something is missing."""
    views = [one(json_lines(path), "transfer_s", path) for path in sorted(glob.glob(f"{logs}/view?"))]
    views_whole = [view for view in views if len(view["transfer_s"]) == int(told["messages"])]
    if len(views) != int(told["videos"]):
        raise ValueError(f"{logs}: {len(views)} viewers")
    serves = [one(json_lines(path), "retransmitted", path) for path in sorted(glob.glob(f"{logs}/serve?"))]
    if len(serves) != len(views):
        raise ValueError(f"{logs}: {len(serves)} servers")
    points = []
    if told["congestion"] != "none":
        flow = one(json_lines(f"{logs}/flow"), "congestion", f"{logs}/flow")
        if flow["congestion"] != told["congestion"]:
            raise ValueError(f"{logs}: TCP ran with {flow['congestion']}")
        points = [row["bytes"] * 8 / POINT for row in json_lines(f"{logs}/sink") if "point" in row]
    cable = one(json_lines(f"{logs}/wire"), "forth", f"{logs}/wire")
    times, handover = views[0]["transfer_s"], float(told["handover"])
    first, last = int(handover // POINT), int((handover + INTERVAL * int(told["messages"])) // POINT)
    within, before = points[first + 1 : last], points[max(0, first - 2) : first]
    row = {"run": int(told["run"]), "videos": int(told["videos"])}
    row |= {key: told[key] for key in ("congestion", "window", "pattern", "kernel")}
    row |= {"whole": len(views_whole) == len(views), "errors": [view["error"] for view in views if view["error"]]}
    row |= {"mtt_start": mean(times[:START]) if len(times) >= START else None}
    row |= {"mmtt_start": max(times[:START_UP]) if len(times) >= START_UP else None}
    row |= {"mmtt": max(times) if views_whole and views_whole[0] is views[0] else None}
    row |= {"tcp_thr_before": mean(before), "tcp_thr_video": mean(within)}
    row |= {"video_rtx": sum(serve["retransmitted"] for serve in serves)}
    row |= {"ahead": sum(view["ahead"] for view in views), "late_s": max(view["late_s"] for view in views)}
    row |= {key: float(told[key]) for key in ("start", "handover", "load_before", "load_after")}
    row |= {"real_time_priority": told["urgent"] != "0", "at_a_time": int(told["jobs"])}
    row |= {"cable": cable["forth"], "cable_back": cable["back"], "points": points, "transfer_s": [[round(time, 6) for time in view["transfer_s"]] for view in views]}
    return row


def mean(values):
    return sum(values) / len(values) if values else None


def interval(values):
    """Mean and half the 95 % confidence interval, which one value has not."""
    values = [value for value in values if value is not None]
    if len(values) < 2:
        return (values[0] if values else None), None
    degrees = len(values) - 1
    return mean(values), T95.get(degrees, 1.96 + 2.5 / degrees) * statistics.stdev(values) / math.sqrt(len(values))


def faults(row):
    """What cannot be, whatever TCP and SCTP do: the network's rate, its delay and its queue bound what is measured."""
    found = list(row["errors"])
    if row["ahead"] == 0:
        found.append("no message came by the first path")
    times = [time for video in row["transfer_s"] for time in video]
    if times and min(times) < ROUND_TRIP / 2:
        found.append(f"a message took {min(times):.3f} s, less than the delay of {ROUND_TRIP / 2} s")
    if row["late_s"] > 0.05:
        found.append(f"a message was generated {row['late_s']:.3f} s late")
    # What was held back behind a loss, up to what the pipe and the queue hold, comes in one measurement point.
    most, middle = max(row["points"], default=0), mean(row["points"]) or 0
    if row["congestion"] != "none" and not (most <= RATE + 16 * QUEUE / POINT and 0 < middle <= RATE):
        found.append(f"TCP had {middle / 1e6:.2f} Mbit/s, in a measurement point up to {most / 1e6:.2f}")
    if row["cable"]["queue_bytes_max"] > QUEUE:
        found.append(f"{row['cable']['queue_bytes_max']} bytes waited")
    return found


def cells(rows):
    found = {}
    for row in rows:
        if not row["pattern"]:
            found.setdefault((row["videos"], row["congestion"], row["window"]), []).append(row)
    return found


def cell_values(runs):
    """What is said of a cell: metric, place on the axis if it has one, and the value of each run."""
    for metric in WHOLE:
        yield metric, "", [run[metric] for run in runs]
    for number in MESSAGES:
        yield "mtt", number, [run["transfer_s"][0][number] for run in runs if len(run["transfer_s"][0]) > number]
    for point in range(min(len(run["points"]) for run in runs)):
        yield "tcp_thr", point, [run["points"][point] for run in runs]


def write_rows(rows, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["videos", "tcp", "icw", "metric", "at", "unit", "mean", "ci95", "least", "most", "runs"])
        for (videos, congestion, window), runs in sorted(cells(rows).items()):
            for metric, at, values in cell_values(runs):
                values = [value for value in values if value is not None]
                middle, half = interval(values)
                if middle is not None:
                    unit = "bit/s" if metric.startswith("tcp_thr") else "1" if metric == "video_rtx" else "s"
                    numbers = [f"{value:.6g}" if value is not None else "" for value in (middle, half, min(values), max(values))]
                    out.writerow([videos, congestion, window, metric, at, unit, *numbers, len(values)])


def lab_rows(source, path):
    """The lab's cells of the same figures, in the form of write_rows; its Reno is the series of the paper."""
    series = {"paper": "reno", "cubic": "cubic"}
    found = {}
    with open(source, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["series"] in series and row["ntcp"] == "1":
                at = row["msg"] or row["mp"]
                for metric in [*WHOLE, "mtt", "tcp_thr"]:
                    if row[metric]:
                        found.setdefault((row["nvideo"], series[row["series"]], row["icw"], metric, at), []).append(float(row[metric]))
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["videos", "tcp", "icw", "metric", "at", "mean", "ci95", "least", "most", "runs"])
        for key, values in found.items():
            middle, half = interval(values)
            out.writerow([*key, f"{middle:.6g}", f"{half or 0:.6g}", f"{min(values):.6g}", f"{max(values):.6g}", len(values)])


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {(row["videos"], row["tcp"], row["icw"], row["metric"], row["at"]): row for row in rows}


def written(row, scale, digits):
    if row is None:
        return ""
    text = f"{float(row['mean']) * scale:.{digits}f}"
    return text + (f" ± {float(row['ci95']) * scale:.{digits}f}" if row["ci95"] else "")


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + ["| " + " | ".join(row) + " |" for row in rows])


def tables(real, lab):
    columns = [("cubic", real, "cubic"), ("cubic", lab, "cubic, lab"), ("reno", real, "reno"), ("reno", lab, "reno, lab"), ("bbr", real, "bbr")]
    head = [title for _, _, title in columns]

    def line(videos, window, metric, at, scale, digits):
        return [written(rows.get((videos, tcp, window, metric, at)), scale, digits) for tcp, rows, _ in columns]

    windows, out = ("3", "10", "20", "NR"), []
    for title, metric in (("mean of messages 0 to 29", "mtt_start"), ("longest of messages 0 to 199", "mmtt_start"), ("longest of all", "mmtt")):
        out += [f"Figure 3, one video, transfer time in s, {title}:", table(["initial window", *head], [[w, *line("1", w, metric, "", 1, 2)] for w in windows])]
    for videos, figure in (("1", "Figure 4, one video"), ("2", "Figure 6, two videos")):
        out += [f"{figure}, throughput of TCP in Mbit/s, before and during the video:"]
        rows = [[w, when, *line(videos, w, metric, "", 1e-6, 2)] for w in windows for when, metric in (("before", "tcp_thr_before"), ("during", "tcp_thr_video"))]
        out += [table(["initial window", "", *head], [row for row in rows if any(row[2:])])]
    out += ["Two videos, transfer time of the first in s, mean of messages 0 to 29:"]
    out += [table(["initial window", *head], [[w, *line("2", w, "mtt_start", "", 1, 2)] for w in windows if any(line("2", w, "mtt_start", "", 1, 2))])]
    return out


CLAIMS = {
    "e13-fig3-mtt": "messages 0 to 29 are the quicker the larger the window: 3, 10, 20, and NR no more than a tenth slower than 20",
    "e13-fig3-mmtt": "the longest of messages 0 to 199 falls from 3 to 10, and by less from 10 to 20",
    "e13-fig4-backoff": "TCP leaves one video its 1.6 Mbit/s, and keeps 2.7 itself",
    "e13-fig4-noimpact": "TCP's throughput beside one video is within 8 % of that with a window of 3, with 10 and 20",
    "e13-fig4-noimpact-nr": "and within 10 % with NR",
    "e13-fig6-floor": "in the 5 s in which TCP has least beside two videos it has 2.9 to 4.5 Mbit/s, with 3 and 10",
}


def verdicts(rows, tcp):
    """The lab's checks (crates/lab/data/claims.toml) on the means of one TCP; None where a cell is missing."""

    def value(videos, window, metric, at=""):
        return float(rows[videos, tcp, window, metric, at]["mean"])

    def lowest(videos, window):
        return min(value(videos, window, "tcp_thr", str(point)) for point in range(5, 17))

    def one_video(metric, windows=("3", "10", "20", "NR")):
        return [value("1", window, metric) for window in windows]

    def within(share, windows):
        first = value("1", "3", "tcp_thr_video")
        return all(abs(thr / first - 1) <= share for thr in one_video("tcp_thr_video", windows))

    def falls():
        three, ten, twenty = one_video("mmtt_start", ("3", "10", "20"))
        return three - ten > ten - twenty > 0

    def orders():
        three, ten, twenty, free = one_video("mtt_start")
        return three > ten > twenty >= 0.9 * free

    def backs_off():
        # What TCP had alone, when it had the whole link, says what part of the rate is user data.
        pairs = zip(one_video("tcp_thr_video"), one_video("tcp_thr_before"))
        return all(0.45 * RATE <= thr <= (RATE - VIDEO_RATE) * before / RATE for thr, before in pairs)

    checks = [orders, falls, backs_off, lambda: within(0.08, ("10", "20")), lambda: within(0.10, ("NR",))]
    checks.append(lambda: all(2.9e6 <= lowest("2", window) <= 4.5e6 for window in ("3", "10")))
    for check_one in checks:
        try:
            yield check_one()
        except KeyError:
            yield None


def claims_table(real, lab):
    columns = [("cubic", real, "cubic"), ("reno", real, "reno"), ("reno", lab, "reno, lab"), ("bbr", real, "bbr")]
    words = {True: "holds", False: "**no**", None: ""}
    told = [[words[verdict] for verdict in verdicts(rows, tcp)] for tcp, rows, _ in columns]
    body = [[f"`{name}`: {what}", *row] for (name, what), row in zip(CLAIMS.items(), zip(*told))]
    return ["The paper's claims, by means alone:", table(["claim", *[title for _, _, title in columns]], body)]


def page(directory, lab, page_path):
    rows = json_lines(f"{directory}/runs.jsonl")
    csv_path = os.path.join(os.path.dirname(page_path), "lab", "e13_real.csv")
    write_rows(rows, csv_path)
    plain = [row for row in rows if not row["pattern"]]
    loads = sorted(max(row["load_before"], row["load_after"]) for row in plain)
    late = max(row["late_s"] for row in plain)
    bad = sum(bool(faults(row)) for row in plain)
    counts = sorted({len(runs) for runs in cells(rows).values()})
    made = [
        f"{len(plain)} runs, {' to '.join(map(str, sorted({counts[0], counts[-1]})))} of each cell; Linux {'/'.join(sorted({row['kernel'] for row in plain}))}; load average of the "
        f"machine {loads[0]:.1f} to {loads[-1]:.1f}, median {statistics.median(loads):.1f}; the latest message was "
        f"generated {late * 1000:.0f} ms late; {bad} runs are in doubt (`e13_report.py check`). Mean ± half of the 95 % confidence interval; the lab has 40 runs. Empty: no video was through, or the lab has no such cell."
    ]
    both = read_rows(csv_path), read_rows(lab)
    with open(page_path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(page_path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n" + "\n\n".join(made + tables(*both) + claims_table(*both)) + f"\n{END}{after}")


def dropped_by(pattern):
    """How many packets a pattern that has no drops by time takes out."""
    total = 0
    with open(pattern, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if len(words) == 3 and words[0] == "packet" and words[2] == "drop":
                first, _, last = words[1].partition("-")
                total += int(last or first) - int(first) + 1
    return total


def repeat(rows):
    """Of runs that ought to be equal: packets lost by the pattern, and by how much a message's transfer time differs."""
    groups = {}
    for row in rows:
        if row["pattern"]:
            groups.setdefault(tuple(row[key] for key in IDENTITY[1:]), []).append(row)
    for name, runs in groups.items():
        spread = [max(times) - min(times) for times in zip(*(run["transfer_s"][0] for run in runs))]
        lost = ", ".join(str(run["cable"]["lost"]) for run in runs)
        longest = max(max(run["transfer_s"][0]) for run in runs)
        yield f"{name}: {len(runs)} runs, lost {lost} packets; transfer times up to {longest * 1000:.0f} ms, apart at most {max(spread) * 1000:.1f} ms, at the median message {statistics.median(spread) * 1000:.1f} ms"


def check(rows, pattern=None):
    found = [] if rows else ["there is no run"]
    for row in rows:
        name = " ".join(str(row[key]) for key in IDENTITY)
        found += [f"{name}: {fault}" for fault in faults(row)]
        if pattern and not row["whole"]:
            found.append(f"{name}: messages are missing")
        if pattern and row["cable"]["lost"] != dropped_by(pattern):
            found.append(f"{name}: the cable has lost {row['cable']['lost']} packets, not the {dropped_by(pattern)} of the pattern")
    return found


def main():
    verb, *rest = sys.argv[1:]
    if verb == "run":
        out, logs, *told = rest
        try:
            row = measure(logs, dict(word.split("=", 1) for word in told))
        except (OSError, ValueError, KeyError) as error:
            return f"{logs}: {error}"
        with open(out, "a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(row) + "\n")
        bad = faults(row)
        shown = [f"{key} {row[key]}" for key in (*IDENTITY, *WHOLE) if row[key] not in ("", None)]
        print("  " + ", ".join([*shown, *[f"in doubt: {fault}" for fault in bad]]), flush=True)
    elif verb == "rows":
        write_rows(json_lines(f"{rest[0]}/runs.jsonl"), f"{rest[0]}/rows.csv")
    elif verb == "lab":
        lab_rows(*rest)
    elif verb == "page":
        page(*rest)
    elif verb == "repeat":
        print(*repeat(json_lines(rest[0])), sep="\n")
    elif verb == "check":
        found = check(json_lines(rest[0]), *rest[1:])
        return "\n".join(found) or None
    else:
        return __doc__
    return None


if __name__ == "__main__":
    sys.exit(main())
