"""A run shares the interpreter with what else there is."""

import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import MIXED, WARNING
from whimbrel import lab


def test_other_threads_go_on():
    beats, running = [], threading.Event()

    def beat():
        while not over.wait(0.01):
            running.set()
            beats.append(time.monotonic())

    over, thread = threading.Event(), threading.Thread(target=beat)
    thread.start()
    running.wait()
    began = time.monotonic()
    lab.run(WARNING, jobs=1, seeds=20)
    ended = time.monotonic()
    over.set()
    thread.join()
    # In the time of a hundred beats or more; a run that kept the lock would leave two, one before and one after.
    assert ended - began > 0.5, "the run is too short to tell"
    assert sum(began < at < ended for at in beats) > 10


def test_several_runs_at_a_time_give_what_one_gives():
    tables = {}
    run = lambda seeds: tables.update({seeds: lab.run(MIXED, seeds=range(seeds, seeds + 1), jobs=1)})
    threads = [threading.Thread(target=run, args=(seeds,)) for seeds in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seeds, table in tables.items():
        assert table.equals(lab.run(MIXED, seeds=range(seeds, seeds + 1)))


# A sweep of days, unless somebody ends it; and one after that.
ENDED = """
import os, signal, sys, threading
from whimbrel import lab

def alarm(*_):
    raise TimeoutError

signal.signal(signal.SIGALRM, alarm)
threading.Timer(0.5, os.kill, (os.getpid(), int(sys.argv[2]))).start()
try:
    lab.run(sys.argv[1], seeds=1_000_000)
except (KeyboardInterrupt, TimeoutError) as error:
    print(type(error).__name__, lab.run(sys.argv[1], seeds=1, cells=[0]).num_rows)
"""


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGALRM, "TimeoutError")])
def test_a_signal_ends_a_run(number, raised):
    program = [sys.executable, "-c", ENDED, WARNING, str(int(number))]
    ended = subprocess.run(program, timeout=120, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr, ended.returncode) == (f"{raised} 1\n", "", 0)
