"""b09 in ns-2: the cells of the lab's b09_fig05, b09_fig06 and b09_cc that its agents can run, as rows with the lab's columns and seeds."""

import concurrent.futures
import csv
import itertools
import pathlib
import sys
import tomllib

import lab_changed

HERE = pathlib.Path(__file__).resolve().parent
# The lab's axes, and its values; of Figure 5's, the delays that are drawn and every other buffer.
FIGURE_5 = {"bw_ratio": [1, 2, 3, 4, 5, 6, 8, 10, 14], "wired_ms": [5, 90], "rbuf_kb": [16, 64, 128, 256, 512, 2048]}
FIGURE_6 = {"bw_ratio": [2, 4], "wired_ms": [5, 90], "t_dwell": [2, 5, 10, 20, 30, 40], "scheme": ["cmt"], "rbuf_kb": [64, 128, 256, 2048]}
SWITCHES = {"sfr": "useCmtReordering_", "cuc": "useCmtCwnd_", "dac": "useCmtDelAck_"}
POLICIES = {"rtx-asap": 0, "rtx-same": 1, "rtx-ssthresh": 2, "rtx-lossrate": 3, "rtx-cwnd": 4}
USUAL_POLICY = "rtx-cwnd"
# Numbers of the scenarios, of which seeds are made.
NUMBER = {"b09_fig05": 16, "b09_fig06": 17, "b09_cc": 19}
AXES = {"b09_fig05": list(FIGURE_5), "b09_fig06": list(FIGURE_6), "b09_cc": [*SWITCHES, "policy", "loss"]}
METRICS = ["transfer_time", "spurious_frtx", "sacks_per_packet", "goodput", "retransmissions", "timeouts"]
# Seconds: a start of the lab is drawn below this, and the time of entry, by the same number, below a round trip.
START_BELOW = 5.0
# Delays of the air, s, and when the overlap begins.
FAST_AIR = 0.015
FIRST_ALONE = 2.0


def every_cell(figure):
    if figure != "b09_cc":
        axes = FIGURE_5 if figure == "b09_fig05" else FIGURE_6
        return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    cells = []
    for *switches, policy, loss in itertools.product(*[["on", "off"]] * len(SWITCHES), POLICIES, ["0", "0.02"]):
        # Policies are compared with all algorithms on.
        if policy == USUAL_POLICY or all(switch == "on" for switch in switches):
            cells.append(dict(zip(AXES[figure], [*switches, policy, loss])))
    return cells


def asked_for(cell, only):
    """Whether it has the values of `only`; what the cell has no axis for does not count. A value may be several, with commas."""
    wanted = (word.split("=", 1) for word in only)
    return all(name not in cell or str(cell[name]) in value.split(",") for name, value in wanted)


def words_for(figure, cell, start):
    """What cmt.tcl wants to know of a cell; `start` is the lab's draw for the seed."""
    if figure == "b09_cc":
        words = ["ratio", 4, "rbuf", 2048, "file", 4_000_000, "queue", 0, "ssthresh", 65536, "loss", cell["loss"]]
        for axis, variable in SWITCHES.items():
            words += [variable, int(cell[axis] == "on")]
        return [*words, "eCmtRtxPolicy_", POLICIES[cell["policy"]]]
    round_trip = 2 * (cell["wired_ms"] / 1e3 + FAST_AIR)
    enters = FIRST_ALONE + start / START_BELOW * round_trip
    dwell = cell.get("t_dwell", 40)
    return ["ratio", cell["bw_ratio"], "wired", cell["wired_ms"], "rbuf", cell["rbuf_kb"], "enters", enters, "dwell", dwell]


def rows(figure, repetitions, run, start, settings=(), only=(), jobs=2):
    """Rows of all repetitions of the cells. `run` runs cmt.tcl, and `start` is when a source starts in the lab with a seed."""
    work = [(cell, repetition) for cell in every_cell(figure) if asked_for(cell, only) for repetition in repetitions]

    def row(cell_and_repetition):
        cell, repetition = cell_and_repetition
        seed = NUMBER[figure] * 1_000_000 + repetition
        printed = run("cmt.tcl", seed, *words_for(figure, cell, float(start(seed))), *settings).split()
        return [figure, "paper", *cell.values(), repetition, seed, *("" if value == "none" else value for value in printed)]

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(row, work))


def write(figure, found, path):
    with open(path, "w") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["figure", "series", *AXES[figure], "repetition", "seed", *METRICS])
        table.writerows(found)
    print(f"{len(found)} runs of {figure} in {path}", file=sys.stderr)


def sweep(out, **how):
    """All that ns-2 is asked for, a file for each figure."""
    out.mkdir(parents=True, exist_ok=True)
    for figure in NUMBER:
        write(figure, rows(figure, **how), out / f"{figure}.csv")


def causes():
    with open(HERE / "causes_cmt.toml", "rb") as file:
        return tomllib.load(file)["experiment"]


def experiments(out, words, repetitions, **how):
    """What causes_cmt.toml changes: DIRECTORY/NUMBER-ours and NUMBER-ns2, a file for each figure."""
    for number, entry in enumerate(causes()):
        theirs = out / f"{number}-ns2"
        theirs.mkdir(parents=True, exist_ok=True)
        for figure in entry["of"] if "ns2" in entry else []:
            found = rows(figure, repetitions, settings=words(entry["ns2"]), only=entry.get("only", []), **how)
            write(figure, found, theirs / f"{figure}.csv")
        if "ours" in entry or "source" in entry:
            lab_changed.run(entry.get("ours", []), entry.get("source"), entry["of"], len(repetitions), out / f"{number}-ours")
