"""What is wrong is said by exceptions, in the words of the command."""

import pytest
from conftest import MIXED, WARNING
from whimbrel import lab


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        (MIXED.replace('"wlan"', '"radio"'), "unknown variant `radio`"),
        (MIXED.replace("duration = 2", "duration = 0"), "duration is 0.0, and must be from 1 to 86400 s"),
        (MIXED.replace("[sweep]", "[sweep"), "TOML parse error"),
        (MIXED.replace("wifi.queue", "wifi.queues"), "unknown field `queues`"),
        ("c04_fig5", "did you mean c04_fig05?"),
        ("b08", " experiments, and a table has one: b08_fig07, "),
        ("", "there is no experiment called"),
        ({"title": 1}, "invalid type: integer `1`, expected a string"),
        ({}, "missing field `title`"),
        ({"title": None}, "invalid type: null"),
        ({"title": float("nan")}, "not JSON compliant"),
        (MIXED + "#" * (1 << 20), "longer than 1048576 bytes"),
    ],
)
def test_scenarios(scenario, says):
    for call in (lab.run, lab.parts):
        with pytest.raises(ValueError) as raised:
            call(scenario)
        assert says in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"seeds": 0}, "seeds are one or more of the numbers from 0 to 999999"),
        ({"seeds": 1_000_001}, "seeds are one or more of the numbers"),
        ({"seeds": range(999_999, 1_000_001)}, "seeds are one or more of the numbers"),
        ({"seeds": range(0, 4, 2)}, "in steps of 1"),
        ({"seeds": range(-1, 4)}, "from 0 or more"),
        ({"seeds": -1}, "seeds cannot be -1"),
        ({"cells": [14]}, "there is no cell 14; the last is 13"),
        ({"cells": [-1]}, "cells cannot be -1"),
        ({"shard": (3, 2)}, "of 2 shards the first is 1/2 and the last 2/2"),
        ({"shard": (0, 0)}, "there may be 1 to 1000000 shards"),
        ({"shard": (1, 1 << 70)}, "shard cannot be"),
        ({"jobs": 0}, "jobs is 0, and must be from 1 to 1024"),
        ({"name": "b08_fig07", "scenario": MIXED}, "is called b08_fig07; take another name"),
        ({"name": "a/b", "scenario": MIXED}, "cannot be the name of a file"),
        ({"name": "a,b", "scenario": MIXED}, "have no commas"),
        ({"name": "mine", "scenario": "c04_fig05"}, "c04_fig05 is the name of an experiment"),
    ],
)
def test_arguments(arguments, says):
    with pytest.raises(ValueError) as raised:
        lab.run(**{"scenario": WARNING, **arguments})
    assert says in str(raised.value)


def test_a_shard_is_a_pair():
    for shard in ("1/2", 1, (1, 2, 3)):
        with pytest.raises(TypeError, match="shard is a pair such as"):
            lab.run(WARNING, shard=shard)


def test_parts():
    with pytest.raises(ValueError, match="each is 0"):
        lab.parts(WARNING, each=0)
    with pytest.raises(ValueError, match="seeds are one or more"):
        lab.parts(WARNING, seeds=0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"seeds": 1.5}, "seeds: 1.5 is no whole number"),
        ({"seeds": [1, 2]}, r"seeds: \[1, 2\] is no whole number"),
        ({"cells": ["x"]}, "cells: 'x' is no whole number"),
        ({"jobs": "2"}, "jobs: '2' is no whole number"),
        ({"scenario": 5}, "not int"),
        ({"scenario": {"title": object()}}, "a scenario has no object"),
    ],
)
def test_types(arguments, says):
    with pytest.raises(TypeError, match=says):
        lab.run(**{"scenario": WARNING, **arguments})


def test_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.toml: No such file"):
        lab.run(tmp_path / "nowhere.toml")
    with pytest.raises(OSError, match="no regular file"):
        lab.run(tmp_path)
    (tmp_path / "long.toml").write_bytes(bytes(1 << 21))
    with pytest.raises(OSError, match="longer than 1048576 bytes"):
        lab.run(str(tmp_path / "long.toml"))
    (tmp_path / "b08.toml").write_text(MIXED)
    with pytest.raises(ValueError, match="is called b08"):
        lab.run(tmp_path / "b08.toml")
