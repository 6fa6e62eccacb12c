"""Figures for papers, by matplotlib: `pip install ".[figures]"` in the checkout.

Each function draws into `ax` (one of its own if there is none) and returns it. Runs are given by name; a name with
several runs, such as one for each seed, is drawn as a line of their median and a band from the least to the most:

    rocelab.figures.slowdown_by_size({"DCQCN": dcqcn, "HPCC": [hpcc_seed_1, hpcc_seed_2]})

A run is `rocelab.Results`, or any table with the columns of `flows`: a part of a sweep's `flows`, say.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.ticker import LogFormatter

from . import Results
from .errors import InputError

Runs = Results | pl.DataFrame | Sequence[Any]

_SIZES = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


def _size(number: float, _position: object = None) -> str:
    for unit, name in _SIZES:
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.0f}B"


def _axes(ax: Any) -> Any:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _table(run: Any, name: str) -> pl.DataFrame:
    if isinstance(run, pl.DataFrame):
        return run
    if isinstance(run, Results):
        return pl.DataFrame(getattr(run, name))
    return pl.DataFrame(run)


def _several(runs: Runs) -> list[Any]:
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]


def _named(runs: Mapping[str, Runs] | Runs) -> dict[str, list[Any]]:
    """Runs by name; those without one have an empty name."""
    if isinstance(runs, Mapping):
        return {str(name): _several(some) for name, some in runs.items()}
    return {"": _several(runs)}


def _measured(run: Any) -> pl.DataFrame:
    """The flows of a run that started in its measuring window, if it has one."""
    flows = _table(run, "flows")
    return flows.filter(pl.col("measured") == 1) if "measured" in flows.columns else flows


def _completed(run: Any) -> pl.DataFrame:
    return _measured(run).filter(pl.col("status") == "completed")


def _unfinished(some: Iterable[Any]) -> str:
    """How many flows a figure of completed flows leaves out: without them an algorithm looks better than it is."""
    count = sum(_measured(run).filter(pl.col("status") != "completed").height for run in some)
    return f"({count} flows did not complete)" if count else ""


def _band(ax: Any, x: Any, lines: Sequence[Any], label: str, **style: Any) -> None:
    """The median of several lines, with a band between the least and the most; where some have no value, of the others."""
    lines = np.asarray(lines, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where none has a value there is none to draw
        median, least, most = np.nanmedian(lines, axis=0), np.nanmin(lines, axis=0), np.nanmax(lines, axis=0)
    (drawn,) = ax.plot(x, median, label=label or None, **style)
    if len(lines) > 1:
        ax.fill_between(x, least, most, alpha=0.2, color=drawn.get_color(), linewidth=0)


def _legend(ax: Any) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend()


def slowdown_by_size(
    runs: Mapping[str, Runs] | Runs,
    *,
    percentiles: Iterable[float] = (50, 95, 99),
    buckets: int | None = None,
    ax: Any = None,
) -> Any:
    """Slowdown of completed flows by their size: buckets with equal numbers of flows, a line for each percentile.

    There are 20 buckets, or fewer, so that each has 20 flows of each run. They are those of all runs together, so that lines can be compared. Flows of the same size are never in two
    buckets. A bucket is drawn at its largest size. Percentiles are those of docs/results.md: the nearest rank, and none where
    a run has too few flows in a bucket, 100 for p99; a percentile that no bucket has is left out, with a warning. The legend
    says how many flows did not complete. Both axes are logarithmic; `ax.set_yscale("linear")` changes that.
    """
    ax, named, percentiles = _axes(ax), _named(runs), list(percentiles)
    if buckets is not None and buckets < 1:
        raise InputError(f"buckets = {buckets}: give at least 1")
    flows = {name: [_completed(run) for run in some] for name, some in named.items()}
    sizes = np.sort(np.concatenate([[], *(run["bytes"].to_numpy() for some in flows.values() for run in some)]))
    if len(sizes) == 0:
        raise InputError("no flow of these runs completed: there is no slowdown to draw")
    if buckets is None:
        buckets = min(max(min(run.height for some in flows.values() for run in some) // 20, 1), 20)
    places = np.ceil(np.linspace(0, len(sizes), buckets + 1)[1:]).astype(int) - 1
    edges = np.unique(sizes[places])
    colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    styles = itertools.cycle(("-", "--", ":", "-."))
    for percentile, style in zip(percentiles, styles, strict=False):
        drawn = False
        for place, (name, some) in enumerate(flows.items()):
            lines = [_by_bucket(run, edges, percentile) for run in some]
            if np.isnan(lines).all():
                continue
            label = " ".join(filter(None, (name, f"p{percentile:g}", _unfinished(named[name]))))
            color, marker = colors[place % len(colors)], "o" if len(edges) < 3 else None
            _band(ax, edges, lines, label, color=color, linestyle=style, marker=marker)
            drawn = True
        if not drawn:
            need = _least_flows(percentile)
            warnings.warn(
                f"p{percentile:g} is left out: no bucket of a run has the {need} flows that it takes; give fewer buckets "
                f"than {buckets}, or longer runs",
                stacklevel=2,
            )
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(_size)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    ax.set(xlabel="flow size", ylabel="FCT slowdown")
    _legend(ax)
    return ax


def _least_flows(percentile: float) -> int:
    """How many values a percentile takes to be more than their largest."""
    return math.ceil(round(100 / (100 - percentile), 6)) if percentile < 100 else 1


def _by_bucket(run: pl.DataFrame, edges: Any, percentile: float) -> list[float]:
    bucket = np.searchsorted(edges, run["bytes"].to_numpy())
    slowdown = run["slowdown"].to_numpy()
    values = (slowdown[bucket == place] for place in range(len(edges)))
    least = _least_flows(percentile)
    return [
        float(np.percentile(some, percentile, method="inverted_cdf")) if len(some) >= least else float("nan")
        for some in values
    ]


def cdf(
    runs: Mapping[str, Runs] | Runs,
    column: str = "fct_ps",
    *,
    unit: float | None = None,
    label: str | None = None,
    ax: Any = None,
) -> Any:
    """The cumulative distribution of a column of completed flows; by default their completion times in us.

    Values are divided by `unit` (1e6 for times, which gives us; otherwise 1); `label` is that of the axis. All runs of a
    name count together. The legend says how many flows did not complete.
    """
    ax = _axes(ax)
    is_time = column.endswith("_ps") and unit is None
    unit = unit or (1e6 if is_time else 1)
    for name, some in _named(runs).items():
        values = np.sort(np.concatenate([[], *(_completed(run)[column].drop_nulls().to_numpy() for run in some)]))
        if len(values) == 0:
            raise InputError(f"no flow of these runs completed: {name or 'they have'} no {column} to draw")
        shares = np.arange(len(values) + 1) / len(values)
        text = " ".join(filter(None, (name, _unfinished(some))))
        ax.step(np.insert(values, 0, values[0]) / unit, shares, where="post", label=text or None)
    what = {"fct_ps": "FCT"}.get(column, column.removesuffix("_ps"))
    ax.set(xlabel=label or (f"{what} (us)" if is_time else column), ylabel="share of flows", ylim=(0, 1))
    _legend(ax)
    return ax


class _Interval:
    """The time between two samples, which may double: as `sample_intervals` of `summary.json` has it."""

    def __init__(self, first_ps: int, double_after: int | None = None) -> None:
        self.first, self.phase = first_ps, first_ps * double_after if double_after else None

    def begin(self, times: Any) -> tuple[Any, Any]:
        """When the interval was last doubled by these times, and what it is then."""
        if not self.phase:
            return np.zeros_like(times), np.full_like(times, self.first)
        doubled = np.floor(np.log2(times // self.phase + 1)).astype(np.int64)
        return self.phase * (2**doubled - 1), self.first * 2**doubled

    def after(self, times: Any) -> Any:
        """The samples that follow on those of these times."""
        return times + self.begin(times)[1]

    def before(self, times: Any) -> Any:
        """The samples before those of these times, or before the end of the run."""
        earlier = np.maximum(times - 1, 0)
        begin, interval = self.begin(earlier)
        return begin + (earlier - begin) // interval * interval


# The sections of `[sample]` of tables that are called otherwise.
_SECTIONS = {"memory": "ingress", "flow-samples": "flows"}


def _interval(results: Results | pl.DataFrame, table: str, samples: pl.DataFrame, given: int | None) -> _Interval | None:
    """That which is given; or that of the run; or else the shortest time between two samples."""
    if given:
        return _Interval(given)
    if isinstance(results, Results):
        known = results.summary.get("sample_intervals", {}).get(_SECTIONS.get(table, table))
        if known:
            return _Interval(**known)
    shortest = samples["time_ps"].unique().sort().diff().drop_nulls().min()
    return _Interval(shortest) if shortest else None


# Tables and columns whose `time_ps` is the end of the interval that they are about.
_OF_INTERVALS = ("marks", "utilisation", "goodput_bps", "cnps", "out_of_order")


def series(
    results: Results | pl.DataFrame,
    table: str,
    value: str,
    *,
    by: Sequence[str] = ("node", "port"),
    unit: float = 1.0,
    label: str | None = None,
    most: int = 8,
    gaps_are_zero: bool = False,
    interval_ps: int | None = None,
    ax: Any = None,
) -> Any:
    """A sampled value over time, a line for each of `by`: those with the largest means, at most `most` of them.

    Tables leave out what is zero, such as empty queues; with `gaps_are_zero` a sample that is missing is drawn as 0. For this,
    `interval_ps` is the sampling interval: that of the run, or, of a data frame, the shortest time between two samples. A value of an interval,
    such as goodput, is drawn over that interval, one of an instant from then on.
    """
    ax = _axes(ax)
    by = [by] if isinstance(by, str) else list(by)
    samples = _table(results, table).drop_nulls(value)
    if samples.select("time_ps", *by).is_duplicated().any():
        raise InputError(f"`{table}` has several {value} of one time for the same {', '.join(by)}; add a column to `by`")
    interval = _interval(results, table, samples, interval_ps)
    of_interval = table in _OF_INTERVALS or value in _OF_INTERVALS
    size = pl.col(value).sum() if gaps_are_zero else pl.col(value).mean()
    largest = samples.group_by(by).agg(size.alias("_size")).sort("_size", *by, descending=[True, *[False] * len(by)])
    for row in largest.head(most).iter_rows(named=True):
        one = samples.filter(pl.all_horizontal(pl.col(key) == row[key] for key in by)).sort("time_ps")
        name = " ".join(str(row[key]) if key == "node" else f"{key} {row[key]}" for key in by)
        times, values = one["time_ps"].to_numpy(), one[value].to_numpy() / unit
        if gaps_are_zero and interval:
            times, values = _with_zeros(times, values, interval, of_interval)
        ax.step(times / 1e9, values, where="pre" if of_interval else "post", label=name)
    ax.set(xlabel="time (ms)", ylabel=label or value)
    _legend(ax)
    return ax


def _with_zeros(times: Any, values: Any, interval: _Interval, of_interval: bool) -> tuple[Any, Any]:
    """The same with a 0 where a sample is missing: after each that no other follows an interval later, and for values of
    intervals before the next."""
    follows = np.append(times[1:] <= interval.after(times[:-1]), False)
    zeros = interval.after(times[~follows])
    if of_interval:
        first = np.insert(~follows[:-1], 0, True)
        zeros = np.unique(np.concatenate([zeros, interval.before(times[first])]))
    order = np.argsort(np.concatenate([times, zeros]), kind="stable")
    return np.concatenate([times, zeros])[order], np.concatenate([values, np.zeros(len(zeros))])[order]


def queues(results: Results | pl.DataFrame, **options: Any) -> Any:
    """Sampled egress queues over time, in KB; the longest ones. See `series`."""
    defaults = {"by": ("node", "port", "priority"), "unit": 1e3, "label": "queue (KB)", "gaps_are_zero": True}
    return series(results, "queues", "queue_bytes", **{**defaults, **options})


def rates(results: Results | pl.DataFrame, **options: Any) -> Any:
    """Rates that congestion control allows flows, over time, in Gbit/s. See `series`."""
    return series(results, "rates", "rate_bps", **{"by": ("flow",), "unit": 1e9, "label": "rate (Gbit/s)", **options})


def goodput(results: Results | pl.DataFrame, **options: Any) -> Any:
    """Payload that receivers accepted of flows, over time, in Gbit/s. See `series`."""
    defaults = {"by": ("flow",), "unit": 1e9, "label": "goodput (Gbit/s)", "gaps_are_zero": True}
    return series(results, "rates", "goodput_bps", **{**defaults, **options})


def pauses(results: Results | pl.DataFrame, *, most: int = 20, ax: Any = None) -> Any:
    """When ports were paused: a row for each port and priority, those that were paused longest. A pause that did not end, as
    in a deadlock, lasts until the end of the run; of a table alone, until its last event."""
    ax = _axes(ax)
    events = _table(results, "pfc")
    end = results.summary["simulated_ps"] if isinstance(results, Results) else events["time_ps"].max()
    keys = ["node", "port", "priority"]
    ended = events.filter(pl.col("duration_ps").is_not_null())
    # Of each port and priority, the last pause, if nothing ended it.
    last = events.filter(pl.col("event") != "refresh").group_by(keys).agg(pl.all().last())
    open_ones = last.filter(pl.col("event") == "pause").with_columns(
        duration_ps=pl.lit(end, dtype=pl.Int64) - pl.col("time_ps"), time_ps=pl.lit(end, dtype=pl.Int64)
    )
    bars = pl.concat([ended, open_ones.select(ended.columns)])
    total = bars.group_by(keys).agg(pl.col("duration_ps").sum())
    total = total.sort("duration_ps", *keys, descending=[True, False, False, False]).head(most)
    names = []
    for place, row in enumerate(total.iter_rows(named=True)):
        one = bars.filter(pl.all_horizontal(pl.col(key) == row[key] for key in keys)).sort("time_ps")
        until, length = one["time_ps"].to_numpy() / 1e9, one["duration_ps"].to_numpy() / 1e9
        ax.broken_barh(list(zip(until - length, length, strict=True)), (place - 0.4, 0.8))
        names.append(f"{row['node']} port {row['port']} priority {row['priority']}")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="time (ms)", title=None if names else "nothing was paused")
    return ax
