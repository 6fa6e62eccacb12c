"""Figures for papers, by matplotlib: `pip install "rocelab[figures]"`.

Each function draws into `ax` (one of its own if there is none) and returns it. Runs are given by name; a name with
several runs, such as one for each seed, is drawn as a line of their median and a band from the least to the most:

    rocelab.figures.slowdown_by_size({"DCQCN": dcqcn, "HPCC": [hpcc_seed_1, hpcc_seed_2]})

A run is `rocelab.Results`, or any table with the columns of `flows`: a part of a sweep's `flows`, say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.ticker import LogFormatter

from . import Results

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


def _completed(run: Any) -> pl.DataFrame:
    return _table(run, "flows").filter(pl.col("status") == "completed")


def _band(ax: Any, x: Any, lines: Sequence[Any], label: str, **style: Any) -> None:
    """The median of several lines, with a band between the least and the most."""
    lines = np.asarray(lines, dtype=float)
    (drawn,) = ax.plot(x, np.median(lines, axis=0), label=label or None, **style)
    if len(lines) > 1:
        ax.fill_between(x, lines.min(axis=0), lines.max(axis=0), alpha=0.2, color=drawn.get_color(), linewidth=0)


def _legend(ax: Any) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend()


def slowdown_by_size(
    runs: Mapping[str, Runs] | Runs,
    *,
    percentiles: Iterable[float] = (50, 95, 99),
    buckets: int = 20,
    ax: Any = None,
) -> Any:
    """Slowdown of completed flows by their size: buckets with equal numbers of flows, a line for each percentile.

    The buckets are those of all runs together, so that lines can be compared. Flows of the same size are never in two
    buckets. A bucket is drawn at its largest size.
    """
    ax, named, percentiles = _axes(ax), _named(runs), list(percentiles)
    flows = {name: [_completed(run) for run in some] for name, some in named.items()}
    sizes = np.sort(np.concatenate([run["bytes"].to_numpy() for some in flows.values() for run in some]))
    if len(sizes) == 0:
        raise ValueError("no flow of these runs completed: there is no slowdown to draw")
    places = np.ceil(np.linspace(0, len(sizes), buckets + 1)[1:]).astype(int) - 1
    edges = np.unique(sizes[places])
    colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    for place, (name, some) in enumerate(flows.items()):
        color = colors[place % len(colors)]
        for style, percentile in zip(("-", "--", ":", "-."), percentiles, strict=False):
            lines = [_by_bucket(run, edges, percentile) for run in some]
            label = f"{name} p{percentile:g}".strip()
            _band(ax, edges, lines, label, color=color, linestyle=style, marker="o" if len(edges) < 3 else None)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(_size)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    ax.set(xlabel="flow size", ylabel="FCT slowdown")
    _legend(ax)
    return ax


def _by_bucket(run: pl.DataFrame, edges: Any, percentile: float) -> list[float]:
    bucket = np.searchsorted(edges, run["bytes"].to_numpy())
    slowdown = run["slowdown"].to_numpy()
    values = (slowdown[bucket == place] for place in range(len(edges)))
    return [float(np.percentile(some, percentile)) if len(some) else float("nan") for some in values]


def cdf(
    runs: Mapping[str, Runs] | Runs, column: str = "fct_ps", *, unit: float = 1e6, label: str | None = None, ax: Any = None
) -> Any:
    """The cumulative distribution of a column of completed flows; by default their completion times in us.

    Values are divided by `unit`; `label` is that of the axis. All runs of a name count together.
    """
    ax = _axes(ax)
    for name, some in _named(runs).items():
        values = np.sort(np.concatenate([_completed(run)[column].drop_nulls().to_numpy() for run in some]))
        ax.step(np.append(values, values[-1:]) / unit, np.append(np.arange(len(values)), len(values)) / max(1, len(values)),
                where="post", label=name or None)
    ax.set(xlabel=label or ("FCT (us)" if column == "fct_ps" else column), ylabel="share of flows", ylim=(0, 1))
    _legend(ax)
    return ax


def series(
    results: Results,
    table: str,
    value: str,
    *,
    by: Sequence[str] = ("node", "port"),
    unit: float = 1.0,
    label: str | None = None,
    most: int = 8,
    gaps_are_zero: bool = False,
    ax: Any = None,
) -> Any:
    """A sampled value over time, a line for each of `by`: those with the largest means, at most `most` of them.

    Tables leave out what is zero, such as empty queues; with `gaps_are_zero` a sample that is missing is drawn as 0.
    """
    ax = _axes(ax)
    samples = _table(results, table).drop_nulls(value)
    interval = samples["time_ps"].unique().sort().diff().drop_nulls().min()
    means = samples.group_by(by).agg(pl.col(value).mean().alias("_mean")).sort("_mean", *by, descending=True).head(most)
    for row in means.iter_rows(named=True):
        one = samples.filter(pl.all_horizontal(pl.col(key) == row[key] for key in by)).sort("time_ps")
        name = " ".join(str(row[key]) if key == "node" else f"{key} {row[key]}" for key in by)
        times, values = one["time_ps"].to_numpy(), one[value].to_numpy() / unit
        if gaps_are_zero and interval:
            times, values = _with_zeros(times, values, interval)
        ax.step(times / 1e9, values, where="post", label=name)
    ax.set(xlabel="time (ms)", ylabel=label or value)
    _legend(ax)
    return ax


def _with_zeros(times: Any, values: Any, interval: int) -> tuple[Any, Any]:
    """The same with a 0 after each sample that no other follows an interval later."""
    last = np.append(np.diff(times) > interval, True)
    zeros = times[last] + interval
    order = np.argsort(np.concatenate([times, zeros]), kind="stable")
    return np.concatenate([times, zeros])[order], np.concatenate([values, np.zeros(len(zeros))])[order]


def queues(results: Results, **options: Any) -> Any:
    """Sampled egress queues over time, in KB; the longest ones. See `series`."""
    defaults = {"by": ("node", "port", "priority"), "unit": 1e3, "label": "queue (KB)", "gaps_are_zero": True}
    return series(results, "queues", "queue_bytes", **{**defaults, **options})


def rates(results: Results, **options: Any) -> Any:
    """Rates that congestion control allows flows, over time, in Gbit/s. See `series`."""
    return series(results, "rates", "rate_bps", **{"by": ("flow",), "unit": 1e9, "label": "rate (Gbit/s)", **options})


def goodput(results: Results, **options: Any) -> Any:
    """Payload that receivers accepted of flows, over time, in Gbit/s. See `series`."""
    defaults = {"by": ("flow",), "unit": 1e9, "label": "goodput (Gbit/s)", "gaps_are_zero": True}
    return series(results, "rates", "goodput_bps", **{**defaults, **options})


def pauses(results: Results, *, most: int = 20, ax: Any = None) -> Any:
    """When ports were paused: a row for each port and priority, those that were paused longest."""
    ax = _axes(ax)
    events = _table(results, "pfc").filter(pl.col("duration_ps").is_not_null())
    keys = ["node", "port", "priority"]
    total = events.group_by(keys).agg(pl.col("duration_ps").sum()).sort("duration_ps", *keys, descending=True).head(most)
    names = []
    for place, row in enumerate(total.iter_rows(named=True)):
        one = events.filter(pl.all_horizontal(pl.col(key) == row[key] for key in keys))
        end, length = one["time_ps"].to_numpy() / 1e9, one["duration_ps"].to_numpy() / 1e9
        ax.broken_barh(list(zip(end - length, length, strict=True)), (place - 0.4, 0.8))
        names.append(f"{row['node']} port {row['port']} priority {row['priority']}")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="time (ms)", title=None if names else "nothing was paused")
    return ax
