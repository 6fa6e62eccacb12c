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
    sizes = [1000] * 100 + [1_000_000] * 100
    runs = {"a": flows(sizes, [1.0] * 100 + list(range(1, 101)))}
    ax = figures.slowdown_by_size(runs, percentiles=(50, 95, 99, 99.0, 90), buckets=2)
    lines = ax.get_lines()
    assert len(lines) == 5
    assert list(lines[0].get_xdata()) == [1000, 1_000_000]
    # The nearest rank, as in summary.json.
    assert [line.get_ydata()[1] for line in lines[:3]] == [50, 95, 99]
    assert ax.get_legend().get_texts()[0].get_text() == "a p50"


def test_percentiles_take_as_many_flows_as_summaries_ask_for():
    runs = {
        "few": flows([1000] * 99 + [2000] * 100, list(range(199))),
        "enough": flows([1000] * 101 + [2000] * 100, list(range(201))),
    }
    with pytest.warns(UserWarning, match="p99.9 is left out.* 1000 flows"):
        ax = figures.slowdown_by_size(runs, percentiles=(99, 99.9), buckets=2)
    few, enough = ax.get_lines()
    assert numpy.isnan(few.get_ydata()[0]) and few.get_ydata()[1] == 197
    assert list(enough.get_ydata()) == [99, 199]


def test_flows_that_did_not_complete_are_told():
    table = flows([1000] * 4, [1.0] * 4).with_columns(status=polars.Series(["completed"] * 3 + ["unfinished"]))
    for ax in (figures.slowdown_by_size({"a": table}, percentiles=[50]), figures.cdf({"a": table}, "slowdown")):
        assert "(1 flows did not complete)" in ax.get_legend().get_texts()[0].get_text()


def test_seeds_are_a_band():
    sizes = [1000, 1000, 2000, 2000]
    runs = {"a": [flows(sizes, [1.0, 1.0, 2.0, 2.0]), flows(sizes, [3.0, 3.0, 6.0, 6.0])]}
    ax = figures.slowdown_by_size(runs, percentiles=[50], buckets=2)
    assert list(ax.get_lines()[0].get_ydata()) == [2.0, 4.0]
    assert len(ax.collections) == 1


def test_without_completed_flows_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no flow"):
        figures.slowdown_by_size(flows([], []).cast({"bytes": polars.Int64, "slowdown": polars.Float64}))


def test_a_cdf_is_the_share_of_flows_up_to_a_value():
    table = flows([1, 1], [1.0, 2.0]).with_columns(fct_ps=polars.Series([1_000_000, 100_000_000]))
    (line,) = figures.cdf(table).get_lines()
    assert list(line.get_xdata()) == [1, 1, 100] and list(line.get_ydata()) == [0, 0.5, 1]
    assert line.get_drawstyle() == "steps-post"
    ax = figures.cdf(table, "slowdown")
    assert list(ax.get_lines()[0].get_xdata()) == [1, 1, 2] and ax.get_xlabel() == "slowdown"
    assert figures.cdf(table).get_xlabel() == "FCT (us)"
    with pytest.raises(rocelab.InputError, match="no flow"):
        figures.cdf(table.head(0))


def test_missing_samples_of_queues_are_zero():
    times = [0, 10, 20, 50, 60]
    samples = polars.DataFrame(
        {"time_ps": times, "node": ["s"] * 5, "port": [1] * 5, "priority": [3] * 5, "queue_bytes": [1000] * 5}
    )
    (line,) = figures.queues(samples).get_lines()
    assert list(numpy.array(line.get_xdata()) * 1e9) == pytest.approx([0, 10, 20, 30, 50, 60, 70])
    assert list(line.get_ydata()) == [1, 1, 1, 0, 1, 1, 0]
    with pytest.raises(rocelab.InputError, match="add a column to `by`"):
        figures.queues(polars.concat([samples, samples.with_columns(priority=polars.lit(4, polars.Int64))]), by=("node", "port"))


def test_a_value_of_an_interval_is_drawn_over_it():
    samples = polars.DataFrame({"time_ps": [10, 20, 50], "flow": [1] * 3, "goodput_bps": [10**9, 2 * 10**9, 10**9]})
    (line,) = figures.goodput(samples).get_lines()
    assert line.get_drawstyle() == "steps-pre"
    assert list(numpy.array(line.get_xdata()) * 1e9) == pytest.approx([0, 10, 20, 30, 40, 50, 60])
    assert list(line.get_ydata()) == [0, 1, 2, 0, 0, 1, 0]


def test_the_largest_are_drawn_whatever_their_gaps():
    standing = {"time_ps": list(range(10)), "node": ["a"] * 10, "queue_bytes": [900] * 10}
    once = {"time_ps": [5], "node": ["b"], "queue_bytes": [1000]}
    both = polars.concat([polars.DataFrame(standing), polars.DataFrame(once)]).with_columns(port=1, priority=3)
    (line,) = figures.queues(both, most=1).get_lines()
    assert max(line.get_ydata()) == 0.9


def test_a_pause_without_an_end_is_drawn_to_the_end():
    table = polars.DataFrame(
        {
            "time_ps": [10, 20, 30, 50],
            "node": ["a", "a", "a", "b"],
            "port": [1] * 4,
            "priority": [3] * 4,
            "event": ["pause", "resume", "pause", "pause"],
            "duration_ps": [None, 10, None, None],
        }
    )
    ax = figures.pauses(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a port 1 priority 3", "b port 1 priority 3"]
    spans = [(box.get_extents().x0 * 1e9, box.get_extents().x1 * 1e9) for box in ax.collections[0].get_paths()]
    assert spans == [pytest.approx((10, 20)), pytest.approx((30, 50))]


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
    ax = figures.slowdown_by_size({"x": [part for _, part in frame.group_by("seed")]}, percentiles=[50])
    assert ax.get_xscale() == "log"
    assert isinstance(rocelab.__version__, str)


def test_intervals_that_double_leave_no_gaps():
    interval = figures._Interval(10, 3)
    times = [0]
    for _ in range(9):
        times.append(int(interval.after(numpy.array([times[-1]]))[0]))
    assert times == [0, 10, 20, 30, 50, 70, 90, 130, 170, 210]
    before = interval.before(numpy.array(times[1:] + [211]))
    assert before.tolist() == [*times[:-1], 210]
    # 50 is missing, and 130 with all behind it.
    known = numpy.array([10, 20, 30, 70, 90])
    at, values = figures._with_zeros(known, numpy.ones(5), interval, of_interval=False)
    assert dict(zip(at.tolist(), values.tolist(), strict=True)) == {10: 1, 20: 1, 30: 1, 50: 0, 70: 1, 90: 1, 130: 0}


def test_default_samples_have_the_interval_of_the_run():
    star = {"hosts": 3, "link": {"rate": "100Gbps", "cable": "3m"}}
    work = {"incast": {"senders": 2, "bytes": "200KB"}}
    results = rocelab.Scenario(topology={"single-switch": star}, workload=work).run()
    known = results.summary["sample_intervals"]["utilisation"]
    samples = polars.DataFrame(results.utilisation)
    interval = figures._interval(results, "utilisation", samples, None)
    assert (interval.first, interval.phase) == (known["first_ps"], known["first_ps"] * known["double_after"])
    figures.series(results, "utilisation", "rate_bps", gaps_are_zero=True)


def test_flows_outside_the_measuring_window_are_left_out():
    table = flows([1, 1, 1], [1.0, 2.0, 9.0]).with_columns(measured=polars.Series([1, 1, 0]))
    assert list(figures.cdf(table, "slowdown").get_lines()[0].get_xdata()) == [1, 1, 2]
