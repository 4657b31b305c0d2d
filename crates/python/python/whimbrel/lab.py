"""The lab: handover experiments in virtual time, with tables as results.

A scenario is a file, its text, a dict of the same contents, or the name of an experiment of a paper's:

>>> from whimbrel import lab
>>> lab.run("mine.toml", seeds=5)                       # the rows that `whimbrel lab run mine.toml --reps 5` writes
>>> lab.run("c04_fig05", seeds=range(10, 12), cells=[0])

A sweep is divided into parts, which go to other processes and machines as they are. Their tables, one behind the other, are that of the sweep:

>>> pyarrow.concat_tables(client.gather(client.map(lab.Part.run, lab.parts("mine.toml"))))           # dask.distributed
>>> pyarrow.concat_tables(ray.get(list(map(ray.remote(lab.Part.run).remote, lab.parts("mine.toml")))))  # ray
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

import pyarrow

from . import _lab

__all__ = ["Part", "Scenario", "experiments", "parts", "run"]

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""What can be run: the path of a file, its text (which has line breaks), a dict as `tomllib` makes it of the text, or the name of an
experiment of a paper's (see `experiments`)."""


def run(
    scenario: Scenario,
    *,
    seeds: int | range | None = None,
    cells: Iterable[int] | None = None,
    shard: tuple[int, int] | None = None,
    jobs: int | None = None,
    name: str | None = None,
) -> pyarrow.Table:
    """Runs a sweep and gives its rows: those that `whimbrel lab run` writes, in the same order.

    Each column's metadata have its `unit` and `definition`. Other threads go on meanwhile; Ctrl-C ends it after the runs that are under way.

    :param seeds: repetitions of each cell: how many, or which (`range(10, 20)` is `--seed 10 --reps 10`); as in the file or the paper if None
    :param cells: numbers of the cells that are run, from 0, in the order of `parts`; all if None
    :param shard: `(i, n)` for part i of n, counted from 1: the runs of `--shard I/N`
    :param jobs: threads; one per processor if None. Results do not depend on it
    :param name: what the column `figure` says of a scenario that is a text or a dict; that of a file says the file's name
    :raises ValueError: says what is wrong with the scenario or an argument
    :raises OSError: when a file cannot be read
    """
    name, text = _scenario(scenario, name)
    return _run(name, text, _seeds(seeds), cells, shard, jobs)


@dataclass(frozen=True)
class Part:
    """A part of a sweep: some repetitions of one cell. It can be pickled, and needs no file where it is run."""

    name: str
    text: str | None = field(repr=False)
    cell: int
    seeds: range
    series: str = field(compare=False)
    axes: dict[str, int | float | str] = field(compare=False)

    def run(self, jobs: int | None = 1) -> pyarrow.Table:
        """Its rows, as `whimbrel.lab.run` gives them; in one thread, since whoever has parts has processes."""
        return _run(self.name, self.text, _seeds(self.seeds), [self.cell], None, jobs)


def parts(
    scenario: Scenario, *, seeds: int | range | None = None, each: int | None = None, name: str | None = None
) -> list[Part]:
    """The parts of a sweep, whose tables one behind the other are that of `run`.

    :param seeds: as for `run`
    :param each: repetitions that a part has at most; all of a cell if None
    :param name: as for `run`
    """
    name, text = _scenario(scenario, name)
    places, first, count = _lab.cells(name, text, _seeds(seeds))
    step = count if each is None else _number("each", each)
    if step == 0:
        raise ValueError("each is 0, and must be at least 1")
    wanted = range(first, first + count)
    return [
        Part(name, text, cell, wanted[at : at + step], series, dict(axes))
        for cell, (series, axes) in enumerate(places)
        for at in range(0, count, step)
    ]


def experiments() -> dict[str, str]:
    """The experiments of papers: their names and titles."""
    return dict(_lab.experiments())


def _run(
    name: str,
    text: str | None,
    seeds: tuple[int, int] | None,
    cells: Iterable[int] | None,
    shard: tuple[int, int] | None,
    jobs: int | None,
) -> pyarrow.Table:
    numbers = None if cells is None else [_number("cells", cell) for cell in _iterable("cells", cells)]
    stream = _lab.run(name, text, seeds, numbers, _shard(shard), None if jobs is None else _number("jobs", jobs))
    return pyarrow.ipc.open_stream(stream).read_all()


def _scenario(scenario: Scenario, name: str | None) -> tuple[str, str | None]:
    """The name of a scenario and its text."""
    if isinstance(scenario, Mapping):
        return name or "scenario", _lab.text(json.dumps(dict(scenario), allow_nan=False, default=_plain))
    if isinstance(scenario, str) and "\n" in scenario:
        return name or "scenario", scenario
    path = os.fspath(scenario)
    if isinstance(scenario, str) and not (os.sep in path or path.lower().endswith(".toml")):
        if name is not None:
            raise ValueError(f"{scenario} is the name of an experiment, which has no other")
        return scenario, None
    of_file, text = _lab.read(path)
    return name or of_file, text


def _seeds(seeds: int | range | None) -> tuple[int, int] | None:
    """The number of the first repetition, and how many there are."""
    if seeds is None:
        return None
    if not isinstance(seeds, range):
        seeds = range(_number("seeds", seeds))
    if seeds.step != 1 or seeds.start < 0:
        raise ValueError(f"seeds are a number or a range from 0 or more in steps of 1, not {seeds}")
    return seeds.start, len(seeds)


def _shard(shard: tuple[int, int] | None) -> tuple[int, int] | None:
    """The number of a part from 1 on, and how many there are."""
    if shard is None:
        return None
    try:
        part, of = shard
    except (TypeError, ValueError):
        raise TypeError(f"shard is a pair such as (1, 2), not {shard!r}") from None
    return _number("shard", part), _number("shard", of)


def _iterable(what: str, values: Any) -> Iterable[Any]:
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{what} are numbers in a list or range, not {values!r}") from None


def _number(what: str, value: Any) -> int:
    """A whole number that is not below 0."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is no whole number") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"{what} cannot be {number}")
    return number


def _plain(value: Any) -> Any:
    """A number or an array of NumPy's as Python has it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a scenario has no {type(value).__name__}, such as {value!r}")
