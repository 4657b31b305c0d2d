"""What all tests share: scenarios, and the rows that the command makes of them."""

import os
import subprocess
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

# Ray would tell its makers of each start, and leave a token in the home directory.
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")

ROOT = Path(__file__).resolve().parents[3]
WARNING = ROOT / "docs/lab/warning.toml"
# An axis of words beside one of numbers, of which the first is whole; and a row for each host.
MIXED = """
title = "Mixed"
repetitions = 2
duration = 2
policies = ["seamless", "rfc"]

[network.wifi]
rate = 10
delay = 5
kind = "wlan"

[network.cellular]
rate = 5
delay = 40
kind = "cellular"
rank = 1

[traffic]
kind = "bulk"
size = 10_000

[host.one]
[host.two]

[sweep]
"network.wifi.delay" = [5, 7.5]
"network.wifi.queue" = ["drop-tail", "per-flow"]
"""


def stream(table: pyarrow.Table) -> bytes:
    """A table as bytes, whatever it was put together from: types, names, metadata and every bit of every number."""
    sink = pyarrow.BufferOutputStream()
    table = table.combine_chunks()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.fixture(scope="session")
def command(tmp_path_factory):
    """Runs `whimbrel lab run` with some words, and gives the directory with its results."""
    program = os.environ.get("WHIMBREL", ROOT / "target/debug/whimbrel")

    def run(*words: str) -> Path:
        out = tmp_path_factory.mktemp("results")
        subprocess.run([program, "lab", "run", *words, "--out", out], check=True, stdout=subprocess.DEVNULL)
        return out

    return run


def parquet(path: Path) -> pyarrow.Table:
    return pyarrow.parquet.read_table(path)
