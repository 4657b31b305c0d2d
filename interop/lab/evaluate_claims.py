#!/usr/bin/env python3
"""evaluate_claims.py RESULTS.json...: what results say about each claim of crates/lab/data/claims.toml.

A results file is an object with "scenario.metric|{axes as sorted JSON}" as keys and [mean, half width] as values, or [mean, half width,
experiment, values by repetition, usual repetitions]. Where the values are known, the claim is also tried with other draws of the repetitions, and
the share of the draws in which it holds stands behind the verdict; at last stands the class of the verdict, for which the committed
sensitivity.jsonl is read.
"""
import json
import math
import pathlib
import random
import statistics
import sys
import tomllib

DATA = pathlib.Path(__file__).resolve().parents[2] / "crates" / "lab" / "data"
DRAWS = 200
MERGED = ("topology", "traffic", "parameters", "events", "mobility", "radio", "run")


class Missing(Exception):
    """Something that has not been measured."""


def read(name):
    return tomllib.loads((DATA / name).read_text())


def resolve(scenarios, name):
    own = scenarios[name]
    base = own.get("extends")
    if base is None:
        return own
    whole = dict(resolve(scenarios, base))
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(whole.get(key), dict)
        whole[key] = {**whole[key], **value} if both and key in MERGED else value
    return whole


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return abs(a - b) < 1e-9


def rising(values, tolerance=0.0):
    return all(b >= a * (1 - tolerance) if a >= 0 else b >= a * (1 + tolerance) for a, b in zip(values, values[1:]))


def falling(values, tolerance=0.0):
    return all(b <= a * (1 + tolerance) for a, b in zip(values, values[1:]))


def crossing(x, a, b):
    gap = [p - q for p, q in zip(a, b)]
    for i in range(len(gap) - 1):
        if gap[i] * gap[i + 1] < 0:
            return x[i] + (x[i + 1] - x[i]) * gap[i] / (gap[i] - gap[i + 1])
    return None


def slope(x, y):
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def determination(x, y):
    k, my = slope(x, y), sum(y) / len(y)
    c = my - k * sum(x) / len(x)
    total = sum((b - my) ** 2 for b in y)
    return 1 - sum((b - (k * a + c)) ** 2 for a, b in zip(x, y)) / total if total else 1.0


def t_quantile(degrees):
    """97.5 % of Student's t: where the integral of its density from 0 on is 0.475, by Simpson's rule and bisection."""
    norm = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)

    def area(end, steps=400):
        h = end / steps
        heights = [(1 + (i * h) ** 2 / degrees) ** (-(degrees + 1) / 2) for i in range(steps + 1)]
        return norm * h / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))

    low, high = 0.0, 15.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if area(middle) < 0.475 else (low, middle)
    return low


QUANTILES = {}


def drawn(values, draw):
    """Mean and half width of the repetitions that were drawn; some could not measure it."""
    found = [values[i] for i in draw if values[i] is not None]
    if not found:
        return None
    n = len(found)
    if n == 1:
        return found[0], 0.0
    quantile = QUANTILES.setdefault(n, t_quantile(n - 1))
    return sum(found) / n, quantile * statistics.stdev(found) / math.sqrt(n)


KEYS = {}


def names(scenarios, results, draw=None, seen=None):
    """`draw` has the repetitions by experiment, and what was found of them already by key."""

    def key_of(metric, at):
        axes = scenarios[metric.split(".")[0]]["axes"]
        place = {}
        for axis, value in at.items():
            place[axis] = next(known for known in axes[axis]["v"] if same(known, value))
        return metric + "|" + json.dumps(place, sort_keys=True)

    def look(metric, at, which):
        asked = (metric, *at.items())
        key = KEYS.get(asked) or KEYS.setdefault(asked, key_of(metric, at))
        if key not in results:
            raise Missing(key)
        known = results[key]
        if len(known) > 2 and seen is not None:
            # Those that have not been run could differ, though those that have do not.
            seen.append((len(known[3]), len(set(known[3])) > 1, len(known[3]) < (known[4] or 0)))
        if len(known) > 2 and draw is not None:
            repetitions, found = draw
            known = found.get(key) or found.setdefault(key, drawn(known[3], repetitions[known[2]]))
            if known is None:
                raise Missing(key)
        return known[which]

    def along(metric, axis):
        return list(scenarios[metric.split(".")[0]]["axes"][axis]["v"])

    return {
        "v": lambda metric, **at: look(metric, at, 0),
        "ci": lambda metric, **at: look(metric, at, 1),
        "xs": along,
        "ys": lambda metric, axis, **at: [look(metric, {**at, axis: x}, 0) for x in along(metric, axis)],
        "mono": rising, "monod": falling, "cross": crossing, "slope": slope, "r2": determination,
        "two_ray": lambda d, pt=0.28183815: pt * 1.5**4 / d**4,
        "primary_th": lambda l2, d, moved: l2 / ((d - moved) / d) ** 4,
        "t_fail": lambda rto, pmr: sum(min(2**i * rto, 60.0) for i in range(pmr + 1)),
        "t_fail_closed": lambda rto, pmr: rto * (2 ** (pmr + 1) - 1),
        "bdp": lambda rate, rtt: rate * rtt / 8,
        "all": all, "any": any, "sum": sum, "min": min, "max": max, "abs": abs, "len": len,
        "range": range, "zip": zip, "round": round, "__builtins__": {},
    }


def known_of(claim, tried):
    """What other values for what is assumed do to the verdict, if they were tried with this check."""
    one = tried.get(claim["id"])
    return one if one and one["check"] == claim["check"] else None


def classed(verdict, sure, tried):
    """The class of a verdict; `sure` says whether other draws agree."""
    # Where the few repetitions that were tried say something else than all, what was tried says nothing, and nothing is sure.
    alike = tried is None or tried["verdict"] == verdict
    sure = sure and alike
    turns = tried["turns"] if tried and alike else []
    if verdict == "cannot say":
        return verdict
    if verdict == "holds":
        if any(turn["choice"] for turn in turns):
            return "depends"
        return "holds" if sure and not turns else "holds narrowly"
    if turns:
        return "depends"
    return "does not hold" if sure else "cannot say"


def main(files):
    claims, data = read("claims.toml"), read("scenarios.toml")["scenario"]
    scenarios = {name: resolve(data, name) for name in data}
    results = {}
    for file in files:
        results.update(json.loads(pathlib.Path(file).read_text()))
    repetitions = {known[2]: len(known[3]) for known in results.values() if len(known) > 2}
    chance = random.Random(1)
    draws = [({e: chance.choices(range(n), k=n) for e, n in repetitions.items()}, {}) for _ in range(DRAWS)]

    def holds(claim, draw=None, seen=None):
        try:
            return bool(eval(claim["check"], {**names(scenarios, results, draw, seen), **claims["constants"]}))
        except Missing:
            return None

    lines = (DATA / "sensitivity.jsonl").read_text().splitlines()[1:]
    tried = {one["claim"]: one for one in map(json.loads, lines)}
    for claim in claims["claim"]:
        seen = []
        verdict = {True: "holds", False: "does not hold", None: "cannot say"}[holds(claim, seen=seen)]
        share, sure = "", True
        varies = any(varies for _, varies, _ in seen)
        # Draws of few repetitions, or of repetitions that are all alike, say nothing.
        if verdict != "cannot say" and any(varies or few for _, varies, few in seen):
            sure = min(n for n, *_ in seen) >= 5
            if sure and varies:
                said = [holds(claim, draw) for draw in draws]
                share = f"{said.count(True) / len(said):.3f}"
                sure = said.count(verdict == "holds") >= 0.95 * len(said)
        print(f"{claim['id']}\t{verdict}\t{share}\t{classed(verdict, sure, known_of(claim, tried))}")


if __name__ == "__main__":
    main(sys.argv[1:])
