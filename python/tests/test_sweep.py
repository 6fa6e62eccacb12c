"""Sweeps: the same points and tables whoever carries them out."""

import subprocess

import pytest

import rocelab

PLAN = """
[topology.single-switch]
hosts = 5
link = { rate = "100Gbps", cable = "3m" }

[workload.incast]
senders = 2
bytes = "100KB"

[sweep]
seeds = 2

[sweep.grid]
"workload.incast.senders" = [1, 2, 4]
congestion_control = ["dcqcn", "hpcc"]
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return file


def tables(folder):
    return [(folder / name).read_bytes() for name in ("runs.parquet", "flows.parquet")]


def test_tables_are_those_of_the_program(plan, program, tmp_path):
    swept = rocelab.sweep(plan, out=tmp_path / "python", threads=2)
    assert swept.done == list(range(12)) and not swept.failed
    subprocess.run([program, "sweep", plan, "--out", tmp_path / "program", "--quiet"], check=True)
    assert tables(tmp_path / "python") == tables(tmp_path / "program")
    assert swept.runs.height == 12 and swept.flows.height == 2 * 2 * (1 + 2 + 4)
    # Flows have a column of this name already.
    assert (swept.flows["sweep.congestion_control"] == swept.flows["congestion_control"]).all()
    assert swept.results(11).summary["seed"] == 2


STORAGE = """
[topology.single-switch]
hosts = 2
link = { rate = "100Gbps", cable = "3m" }

[workload.storage]
name = "disk"
clients = ["host-0"]
servers = ["host-1"]
block = "4KiB"
read_fraction = 0.5
queue_depth = 1
access_time = "5us"
until = "200us"

[sweep.grid]
"workload.storage.queue_depth" = [1, 4]
"""


def test_operations_have_a_table(tmp_path):
    file = tmp_path / "storage.toml"
    file.write_text(STORAGE)
    swept = rocelab.sweep(file, out=tmp_path / "out")
    operations = swept.operations
    assert set(operations["workload.storage.queue_depth"]) == {1, 4}
    assert operations.height == swept.runs["operations_completed"].sum()
    assert operations["latency_ps"].max() == swept.runs["operation_latency_max_ps"].max()


def test_workers_of_dask_give_the_same_tables(plan, tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    rocelab.sweep(plan, out=tmp_path / "here", threads=1)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        swept = rocelab.sweep(plan, out=tmp_path / "dask", client=client)
    assert len(swept.done) == 12
    assert tables(tmp_path / "here") == tables(tmp_path / "dask")


def test_a_point_that_fails_is_named_and_others_are_kept(plan, tmp_path):
    swept = rocelab.sweep(plan, out=tmp_path / "out", set={"topology.single-switch.hosts": 4})
    assert sorted(swept.failed) == [8, 9, 10, 11]
    assert "plan.toml:14:36: workload.incast.senders = 4" in swept.failed[8]
    assert swept.runs.height == 8


def test_if_no_scenario_can_be_read_nothing_is_written(plan, tmp_path):
    with pytest.raises(rocelab.ScenarioError, match="sendrs"):
        rocelab.sweep(plan, out=tmp_path / "out", set={"workload.incast.sendrs": 1})
    assert not (tmp_path / "out").exists()


def test_if_no_point_is_done_earlier_tables_stay(plan, tmp_path):
    rocelab.sweep(plan, out=tmp_path / "out")
    before = tables(tmp_path / "out")
    hosts = {"topology.single-switch.hosts": 1}
    with pytest.raises(rocelab.RunError, match="no point is done; point 0: .*other settings"):
        rocelab.sweep(plan, out=tmp_path / "out", set=hosts)
    with pytest.raises(rocelab.RunError, match="no point is done; point 0: .*hosts"):
        rocelab.sweep(plan, out=tmp_path / "out", set=hosts, force=True)
    assert tables(tmp_path / "out") == before


def test_progress_is_told_of_each_point(plan, tmp_path):
    ended = []
    rocelab.sweep(plan, out=tmp_path / "out", progress=ended.append, threads=1)
    assert ended == list(range(12))


def test_a_wrong_plan_is_told_with_its_place(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("seeds = 2", "seed = 2"))
    with pytest.raises(rocelab.ScenarioError) as raised:
        rocelab.sweep(plan, out=tmp_path / "out")
    assert raised.value.line == 11 and not (tmp_path / "out").exists()
