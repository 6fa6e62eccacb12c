"""Figures: what is drawn is what was measured."""

import matplotlib

matplotlib.use("Agg")

import numpy
import polars
import pytest

import rocelab
from rocelab import figures


def flows(sizes, slowdowns):
    return polars.DataFrame({"bytes": sizes, "slowdown": slowdowns, "status": ["completed"] * len(sizes)})


def test_slowdown_is_that_of_the_flows_of_a_bucket():
    sizes = [1000] * 10 + [1_000_000] * 10
    runs = {"a": flows(sizes, [1.0] * 10 + list(range(1, 11)))}
    ax = figures.slowdown_by_size(runs, percentiles=(50, 99), buckets=2)
    median, tail = ax.get_lines()
    assert list(median.get_xdata()) == [1000, 1_000_000]
    assert list(median.get_ydata()) == [1.0, 5.5]
    assert tail.get_ydata()[1] == pytest.approx(9.91)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a p50", "a p99"]


def test_seeds_are_a_band():
    runs = {"a": [flows([1000, 2000], [1.0, 2.0]), flows([1000, 2000], [3.0, 6.0])]}
    ax = figures.slowdown_by_size(runs, percentiles=[50], buckets=2)
    assert list(ax.get_lines()[0].get_ydata()) == [2.0, 4.0]
    assert len(ax.collections) == 1


def test_without_completed_flows_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no flow"):
        figures.slowdown_by_size(flows([], []).cast({"bytes": polars.Int64, "slowdown": polars.Float64}))


def test_a_cdf_ends_at_one(incast):
    ax = figures.cdf({"incast": incast.run()})
    (line,) = ax.get_lines()
    assert line.get_ydata()[0] == 0 and line.get_ydata()[-1] == 1
    assert ax.get_xlabel() == "FCT (us)"


def test_missing_samples_of_queues_are_zero():
    times = [0, 10, 20, 50, 60]
    samples = polars.DataFrame(
        {"time_ps": times, "node": ["s"] * 5, "port": [1] * 5, "priority": [3] * 5, "queue_bytes": [1000] * 5}
    )
    (line,) = figures.queues(samples).get_lines()
    assert list(numpy.array(line.get_xdata()) * 1e9) == pytest.approx([0, 10, 20, 30, 50, 60, 70])
    assert list(line.get_ydata()) == [1, 1, 1, 0, 1, 1, 0]


def test_series_are_drawn_of_a_run(incast):
    results = incast.run()
    assert figures.queues(results).get_ylabel() == "queue (KB)"
    assert len(figures.rates(results).get_lines()) == 8
    goodput = figures.goodput(results, most=3)
    assert len(goodput.get_lines()) == 3
    assert max(line.get_ydata().max() for line in goodput.get_lines()) < 100


def test_pauses_are_as_long_as_they_were(incast):
    results = incast.set({"congestion_control": "none", "workload.incast.bytes": "5MB"}).run()
    events = polars.DataFrame(results.pfc)
    ax = figures.pauses(results)
    drawn = sum(box.get_extents().width for bars in ax.collections for box in bars.get_paths())
    assert drawn * 1e9 == pytest.approx(events["duration_ps"].sum(), rel=1e-6) and drawn > 0


def test_a_sweeps_flows_can_be_drawn(tmp_path):
    frame = flows([1000, 2000], [1.0, 2.0]).with_columns(seed=1)
    ax = figures.slowdown_by_size({"x": [part for _, part in frame.group_by("seed")]}, buckets=1)
    assert ax.get_xscale() == "log"
    assert isinstance(rocelab.__version__, str)
