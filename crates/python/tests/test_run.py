"""Tables have the rows that the command writes."""

import csv
import tomllib
from pathlib import Path

import pyarrow
import pytest
from conftest import MIXED, WARNING, parquet, stream
from whimbrel import lab


def assert_same(table: pyarrow.Table, results: Path, name: str) -> None:
    assert stream(table) == stream(parquet(results / f"{name}.parquet"))
    with open(results / f"{name}.csv", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == table.column_names
    for line, row in zip(lines, table.to_pylist(), strict=True):
        for text, value in zip(line, row.values(), strict=True):
            assert value == (None if text == "" else type(value)(text))


def test_the_rows_of_a_file_are_those_of_the_command(command):
    table = lab.run(WARNING, seeds=2)
    assert_same(table, command(str(WARNING), "--reps", "2"), "warning")
    assert table.num_rows == 2 * len(lab.parts(WARNING))
    silence = table.schema.field("longest_silence").metadata
    assert silence[b"unit"] == b"s" and silence[b"definition"].startswith(b"the longest time within the duration in which no user data")


def test_the_rows_of_a_text_are_those_of_the_command(command, tmp_path):
    (tmp_path / "mixed.toml").write_text(MIXED)
    results = command(str(tmp_path / "mixed.toml"))
    assert_same(lab.run(MIXED, name="mixed"), results, "mixed")
    assert_same(lab.run(tmp_path / "mixed.toml", jobs=1), results, "mixed")


def test_the_rows_of_a_paper_are_those_of_the_command(command):
    assert_same(lab.run("c04_fig05", seeds=range(3, 4), jobs=2), command("c04_fig05", "--seed", "3", "--reps", "1"), "c04_fig05")
    # Of one run several rows come, of several series, which lack some of the axes.
    assert_same(lab.run("b08_eq3"), command("b08_eq3"), "b08_eq3")
    assert "c04_fig05" in lab.experiments()


def test_a_dict_says_the_same_as_a_text():
    text = WARNING.read_text()
    assert stream(lab.run(text, seeds=1)) == stream(lab.run(tomllib.loads(text), seeds=1))
    assert lab.run(text, seeds=1, cells=[0])["figure"].to_pylist() == ["scenario"]


def test_numbers_of_numpy_can_be_swept():
    numpy = pytest.importorskip("numpy")
    scenario = tomllib.loads(MIXED)
    scenario["sweep"] = {"network.wifi.delay": numpy.linspace(5, 7.5, 2), "network.wifi.rank": [numpy.int64(3)]}
    table = lab.run(scenario, seeds=1)
    assert set(table["network.wifi.delay"].to_pylist()) == {5.0, 7.5}
    assert table.schema.field("network.wifi.rank").type == pyarrow.int64()


def test_cells_and_shards_are_the_commands():
    whole = lab.run(MIXED, seeds=3).to_pylist()
    places = {(part.series, *part.axes.values()): part.cell for part in lab.parts(MIXED)}
    cell = [places[row["series"], row["network.wifi.delay"], row["network.wifi.queue"]] for row in whole]
    some = lab.run(MIXED, seeds=3, cells=[6, 1]).to_pylist()
    assert some == [row for row, number in zip(whole, cell) if number in (1, 6)] and some
    shards = [lab.run(MIXED, seeds=3, shard=(number, 5)).to_pylist() for number in range(1, 6)]
    assert all(shards) and all(row in whole for shard in shards for row in shard)
    assert sum(map(len, shards)) == len(whole)
