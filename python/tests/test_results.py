"""Runs, in memory and in directories, and their tables."""

import filecmp
import pickle
import signal
import subprocess
import threading
import time

import pandas
import polars
import pyarrow
import pytest

import rocelab

LONG = {"workload.incast.bytes": "500MB"}


def test_tables_are_those_of_the_files(incast, tmp_path):
    memory = incast.run()
    files = incast.run(out=tmp_path / "run")
    assert memory.digest == files.digest
    assert memory.directory is None and files.directory == tmp_path / "run"
    assert memory.names == files.names and {"flows", "queues", "rates", "pfc", "links"} <= set(memory.names)
    for table, other in zip(memory, files, strict=True):
        assert polars.DataFrame(table).equals(polars.DataFrame(other)), table
    flows = polars.read_parquet(tmp_path / "run" / "flows.parquet")
    assert polars.DataFrame(memory.flows).equals(flows)
    assert polars.DataFrame(memory.flows).schema == flows.schema
    assert memory.summary == files.summary


def test_results_are_those_of_the_program(incast, program, tmp_path):
    text = tmp_path / "incast.toml"
    text.write_text(incast.to_toml())
    subprocess.run([program, "run", text, "--out", tmp_path / "program", "--quiet"], check=True)
    rocelab.Scenario.load(text).run(out=tmp_path / "python")
    difference = filecmp.dircmp(tmp_path / "program", tmp_path / "python")
    assert not difference.left_only and not difference.right_only
    _, differ, failed = filecmp.cmpfiles(
        tmp_path / "program", tmp_path / "python", difference.common_files, shallow=False
    )
    assert differ == ["run.json"] and not failed, "how long it took is in run.json alone"


def test_data_frames_of_all_kinds_take_tables(incast):
    flows = incast.run().flows
    frame = polars.DataFrame(flows)
    assert frame.height == len(flows) == 8
    assert frame.columns == flows.columns
    assert pyarrow.table(flows).num_rows == 8
    assert pandas.DataFrame.from_arrow(flows).shape == (8, len(flows.columns))
    assert frame["fct_ps"].to_list() == flows.column("fct_ps")
    assert flows.unit("fct_ps") == "ps" and "completion" in flows.meaning("fct_ps")
    with pytest.raises(KeyError, match="no column `fct`"):
        flows.column("fct")


def test_rows_without_a_value_are_null(incast):
    rates = polars.DataFrame(incast.run().rates)
    assert rates["goodput_bps"].null_count() > 0 and rates["rate_bps"].null_count() > 0
    assert (rates["goodput_bps"].is_null() | rates["rate_bps"].is_null()).any()


def test_a_table_that_is_not_there_is_told_with_those_that_are(incast):
    with pytest.raises(AttributeError, match="no table `operations`, but .*flows"):
        incast.run().operations  # noqa: B018


@pytest.mark.parametrize("threads", [0, -1, 2**40])
def test_threads_are_counted_from_one(incast, threads):
    with pytest.raises(rocelab.InputError, match=f"threads = {threads}"):
        incast.run(threads=threads)


def test_what_a_run_took_is_told(incast):
    info = incast.set({"workload.incast.bytes": "20MB"}).run(threads=1).run_info
    assert info["cpu_s"] > 0 and info["wall_s"] > 0 and info["peak_memory_bytes"] > 1_000_000


def test_threads_and_parts_change_nothing(scenarios):
    scenario = rocelab.Scenario.load(scenarios / "websearch-leaf-spine.toml", {"workload.poisson.load": 0.1})
    digests = {scenario.run(threads=threads, partitions=parts).digest for threads, parts in ((1, 1), (2, 4))}
    assert len(digests) == 1


def test_results_in_a_directory_can_be_pickled(incast, tmp_path):
    results = incast.run(out=tmp_path / "run")
    assert pickle.loads(pickle.dumps(results)).digest == results.digest
    with pytest.raises(TypeError, match="in memory"):
        pickle.dumps(incast.run())


def test_results_that_are_there_are_kept(incast, tmp_path):
    incast.run(out=tmp_path / "run")
    with pytest.raises(rocelab.ResultsError, match="exists.*`force=True`"):
        incast.run(out=tmp_path / "run")
    incast.set(seed=8).run(out=tmp_path / "run", force=True)
    assert rocelab.open(tmp_path / "run").summary["seed"] == 8


def test_what_is_no_results_directory_is_refused(tmp_path):
    with pytest.raises(rocelab.ResultsError, match="summary.json"):
        rocelab.open(tmp_path)


def test_progress_is_told(incast):
    told = []
    incast.set(LONG).run(progress=lambda share, time_ps, flows: told.append((share, time_ps, flows)), threads=1)
    times = [time_ps for _, time_ps, _ in told]
    assert times == sorted(times) and times[0] > 0
    assert all(0 <= share <= 1 and 0 <= flows <= 8 for share, _, flows in told)


def test_errors_of_progress_end_the_run(incast):
    def refuse(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        incast.set(LONG).run(progress=refuse)


def test_an_interruption_ends_the_run_and_leaves_nothing(incast, tmp_path):
    # A shell has what it starts in the background ignore interruptions, and then Python does so too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            incast.set({"workload.incast.bytes": "2GB"}).run(out=tmp_path / "run")
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list(tmp_path.iterdir())


def test_other_threads_go_on_meanwhile(incast):
    counted = 0
    run = threading.Thread(target=incast.set(LONG).run)
    run.start()
    while run.is_alive():
        counted += 1
        time.sleep(0.001)
    assert counted > 20


def test_flows_are_explained(incast, tmp_path):
    results = incast.run()
    explanation = results.explain(flow=3)
    assert explanation.digest == results.digest
    flow = explanation.to_dict()["flows"][0]
    assert "flow 3" in str(explanation) and flow
    assert "pause" in str(results.explain())
    with pytest.raises(rocelab.RunError, match="no flow 99"):
        results.explain(flow=99)
    stored = incast.run(out=tmp_path / "run")
    assert str(stored.explain(flow=3)) == str(explanation)


def test_captures_are_decoded_and_verified(tmp_path):
    scenario = rocelab.Scenario(
        topology={"single-switch": {"hosts": 2, "link": {"rate": "100Gbps", "cable": "3m"}}},
        workload={"incast": {"senders": 1, "bytes": "10KB"}},
        capture={"ports": ["host-0:0"]},
    )
    with pytest.warns(UserWarning, match="without `out`"):
        scenario.run()
    scenario.run(out=tmp_path / "run")
    (capture,) = (tmp_path / "run").glob("**/*.pcap*")
    frames = polars.DataFrame(rocelab.pcap.decode(capture))
    assert frames.height >= 11
    assert set(frames["icrc"]) == {"ok"}
    assert frames["payload_bytes"].sum() == 10_000
    verification = rocelab.pcap.verify(capture)
    assert verification and verification.faults == []
    broken = tmp_path / "broken.pcapng"
    broken.write_bytes(b"no capture at all")
    with pytest.raises(rocelab.InputError, match="broken.pcapng"):
        rocelab.pcap.decode(broken)
    with pytest.raises(rocelab.InputError, match="none.pcap.*there is no such file"):
        rocelab.pcap.verify(tmp_path / "none.pcap")
