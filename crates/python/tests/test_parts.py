"""Parts of a sweep run in other processes, and are the sweep when they are put together."""

import pickle

import pyarrow
import pytest
from conftest import MIXED, WARNING, stream
from whimbrel import lab


@pytest.fixture(scope="module")
def whole() -> bytes:
    return stream(lab.run(MIXED, seeds=range(1, 4)))


def test_parts_one_behind_the_other_are_the_sweep(whole):
    for each, count in [(None, 8), (1, 24), (2, 16), (3, 8), (100, 8)]:
        parts = lab.parts(MIXED, seeds=range(1, 4), each=each)
        assert len(parts) == count
        assert stream(pyarrow.concat_tables(map(lab.Part.run, parts))) == whole
    # As the file says without being told.
    assert {part.seeds for part in lab.parts(MIXED)} == {range(2)}


def test_a_part_knows_all_that_it_needs(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MIXED)
    part = lab.parts(path, seeds=1)[5]
    path.unlink()
    again = pickle.loads(pickle.dumps(part))
    assert again == part and hash(again) == hash(part)
    assert (again.series, again.axes) == ("rfc", {"network.wifi.delay": 5, "network.wifi.queue": "per-flow"})
    table = pickle.loads(pickle.dumps(again.run()))
    assert stream(table) == stream(lab.run(MIXED, name="mine", seeds=1, cells=[5]))


def test_a_sweep_on_dask(whole):
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        parts = lab.parts(MIXED, seeds=range(1, 4), each=2)
        futures = client.map(lab.Part.run, parts)
        table = pyarrow.concat_tables(client.gather(futures))
        processes = {process for processes in client.who_has(futures).values() for process in processes}
    assert stream(table) == whole
    assert len(processes) == 2


def test_a_sweep_on_ray(whole):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        parts = lab.parts(MIXED, seeds=range(1, 4), each=2)
        table = pyarrow.concat_tables(ray.get(list(map(ray.remote(lab.Part.run).remote, parts))))
    finally:
        ray.shutdown()
    assert stream(table) == whole


def test_an_error_comes_back_from_a_worker():
    from concurrent.futures import ProcessPoolExecutor
    from dataclasses import replace
    from multiprocessing import get_context

    broken = replace(lab.parts(WARNING)[0], cell=99)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(ValueError, match="there is no cell 99; the last is 13"):
            pool.submit(broken.run).result()
