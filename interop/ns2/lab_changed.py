"""Whimbrel's lab with other values in its data, or another line in its source, for which it is built again in a copy of the repository."""

import csv
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY = ROOT / "target/ns2/lab"
DATA = "crates/lab/data/scenarios.toml"


def changed(text, changes):
    """The data with each of `profile.b09.rto_min=0.3`: in its table, instead of what is there or beside it."""
    for change in changes:
        path, value = change.split("=", 1)
        table, name = path.rsplit(".", 1)
        leaf = f'{name} = {{ v = {value}, assumed = true, why = "an experiment" }}\n'
        head, body, rest = re.split(rf"(?m)^(\[{re.escape(table)}\]\n(?:(?!\[).*\n)*)", text, maxsplit=1)
        body, replaced = re.subn(rf"(?m)^{name} = .*\n", lambda _: leaf, body)
        text = head + (body if replaced else body.rstrip("\n") + "\n" + leaf + "\n") + rest
    return text


def run(changes, source, figures, repetitions, out):
    """Runs figures in a lab with these changes; the rows of the paper's series, a file for each figure."""
    if not COPY.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, COPY], check=True)
    subprocess.run(["git", "fetch", "--quiet", ROOT, "HEAD"], cwd=COPY, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"], cwd=COPY, check=True)
    if source:
        name, old, new = source
        text = (ROOT / name).read_text()
        if old not in text:
            raise ValueError(f"{name} has no {old}")
        (COPY / name).write_text(text.replace(old, new))
    (COPY / DATA).write_text(changed((ROOT / DATA).read_text(), changes))
    command = ["cargo", "run", "--release", "--locked", "-p", "whimbrel-cli", "--", "lab", "run", *figures, "--reps", repetitions, "--again"]
    subprocess.run([*map(str, command), "--out", out.resolve()], cwd=COPY, check=True)
    for figure in figures:
        keep_the_papers(out / f"{figure}.csv")


def keep_the_papers(path):
    with open(path) as file:
        reader = csv.DictReader(file)
        names, kept = reader.fieldnames, [row for row in reader if row["series"] == "paper"]
    with open(path, "w") as file:
        table = csv.DictWriter(file, names, lineterminator="\n")
        table.writeheader()
        table.writerows(kept)
