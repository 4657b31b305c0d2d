#!/usr/bin/env python3
"""evaluate_claims.py RESULTS.json...: what results say about each claim of crates/lab/data/claims.toml.

A results file is an object with "scenario.metric|{axes as sorted JSON}" as keys and [mean, half width] as values.
"""
import json
import pathlib
import sys
import tomllib

DATA = pathlib.Path(__file__).resolve().parents[2] / "crates" / "lab" / "data"
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


def names(scenarios, results):
    def look(metric, at, which):
        axes = scenarios[metric.split(".")[0]]["axes"]
        place = {}
        for axis, value in at.items():
            place[axis] = next(known for known in axes[axis]["v"] if same(known, value))
        key = metric + "|" + json.dumps(place, sort_keys=True)
        if key not in results:
            raise Missing(key)
        return results[key][which]

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


def main(files):
    claims, data = read("claims.toml"), read("scenarios.toml")["scenario"]
    scenarios = {name: resolve(data, name) for name in data}
    results = {}
    for file in files:
        results.update(json.loads(pathlib.Path(file).read_text()))
    known = {**names(scenarios, results), **claims["constants"]}
    for claim in claims["claim"]:
        try:
            verdict = "holds" if eval(claim["check"], known) else "does not hold"
        except Missing:
            verdict = "cannot say"
        print(f"{claim['id']}\t{verdict}")


if __name__ == "__main__":
    main(sys.argv[1:])
