"""A run shares the interpreter with what else there is."""

import os
import signal
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


def test_an_interrupt_ends_a_run():
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    # Minutes, if nobody ends it.
    with pytest.raises(KeyboardInterrupt):
        lab.run(WARNING, seeds=5_000)
    timer.join()
    assert lab.run(WARNING, seeds=1, cells=[0]).num_rows == 1


def test_what_a_signals_handler_raises_comes_through():
    def alarm(*_):
        raise TimeoutError("enough")

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(TimeoutError, match="enough"):
            lab.run(WARNING, seeds=5_000, jobs=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
