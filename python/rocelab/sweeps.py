"""Many runs of one scenario: `rocelab.sweep`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native, _progress
from .errors import InputError, RunError


@dataclass(frozen=True)
class Sweep:
    """A sweep that was carried out.

    `folder` has `runs.parquet`, `flows.parquet`, `points.csv`, and with applications `operations.parquet`
    and `kinds.parquet` (docs/sweep.md). `failed` says why points have no results, by their numbers.
    """

    folder: Path
    points: int
    done: list[int]
    failed: dict[int, str]

    @property
    def runs(self) -> Any:
        """`runs.parquet` as a data frame of polars: a row for each point."""
        return _frame(self.folder / "runs.parquet")

    @property
    def flows(self) -> Any:
        """`flows.parquet` as a data frame of polars: a row for each flow of each point."""
        return _frame(self.folder / "flows.parquet")

    @property
    def operations(self) -> Any:
        """`operations.parquet` as a data frame of polars: a row for each operation of the applications of each point.

        Raises `FileNotFoundError` if no point has applications.
        """
        return _frame(self.folder / "operations.parquet")

    @property
    def kinds(self) -> Any:
        """`kinds.parquet` as a data frame of polars: a row for each kind of operation of the applications of each point.

        Raises `FileNotFoundError` if no point has applications.
        """
        return _frame(self.folder / "kinds.parquet")

    def results(self, point: int) -> Any:
        """The results of a point."""
        from . import open as open_results

        return open_results(self.folder / "points" / str(point))


def _frame(path: Path) -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError(f"polars is not installed: pip install polars, or read {path} by other means") from error
    return polars.read_parquet(path)


def sweep(
    plan: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    force: bool = False,
    client: Any = None,
    progress: bool | Callable[[int], object] | None = None,
) -> Sweep:
    """Carries out the sweep in a file with `[sweep]` (docs/sweep.md): the same points and tables as `rocelab sweep`.

    Results go to `out` (`results/NAME-sweep`); points that have some are not run again, and `force` replaces those of other
    settings. `set` changes the scenario or the sweep, as `--set` does. With a `client` of `dask.distributed`, its workers
    carry the points out; they must see the same files at the same paths, as on one machine or on a cluster's shared disk.
    `progress` shows a bar, or is called with the number of each point that has ended.

    Raises `ScenarioError` if the plan has an error, or the scenarios of all points; and `RunError` if no point is done.
    Then the tables of an earlier sweep stay as they are.
    """
    from . import _counted, _overrides

    if client is not None and threads is not None:
        raise InputError(f"threads = {threads}: the workers of `client` carry points out; leave `threads` out")
    overrides = _overrides(set)
    path = Path(plan).absolute()
    native = _native.SweepPlan.load(path, overrides)
    native.check()
    folder = (Path("results") / f"{native.name}-sweep" if out is None else Path(out)).absolute()
    numbers = list(range(len(native)))
    with _progress.of_points(progress, len(numbers)) as tell:
        if client is None:
            failures = native.carry_out(folder, numbers, _counted("threads", threads), force, tell)[1]
        else:
            failures = _on_workers(client, path, overrides, folder, numbers, force, tell)
    done, failed, without = native.collect(folder)
    reasons = {number: "it was not carried out" for number in without} | dict(failed) | dict(failures)
    failed = {number: reason for number, reason in sorted(reasons.items()) if number not in done}
    if not done:
        number, reason = next(iter(failed.items()))
        raise RunError(f"no point is done; point {number}: {reason}")
    return Sweep(folder, len(numbers), done, failed)


def _carry_out_points(
    path: Path, overrides: list[tuple[str, str]], folder: Path, numbers: list[int], force: bool
) -> list[tuple[int, str]]:
    """Carries out some points in a worker of Dask; returns why some failed."""
    return _native.SweepPlan.load(path, overrides).carry_out(folder, numbers, 1, force, None)[1]


def _on_workers(
    client: Any,
    path: Path,
    overrides: list[tuple[str, str]],
    folder: Path,
    numbers: list[int],
    force: bool,
    tell: Any,
) -> list[tuple[int, str]]:
    """Carries out all points, in tasks of several, because each task reads the plan; returns why some failed."""
    from dask.distributed import as_completed

    threads = sum(client.nthreads().values()) or 1
    size = max(1, len(numbers) // (16 * threads))
    parts = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    tasks = {
        client.submit(_carry_out_points, path, overrides, folder, part, force, pure=False): part for part in parts
    }
    failures = []
    try:
        ended = list(_ended(as_completed(tasks), tasks, tell))
    except BaseException:
        # Those that have not begun would go on without anybody who waits for them.
        client.cancel(list(tasks))
        raise
    for task in ended:
        if task.status == "finished":
            failures += task.result()
        else:  # a worker was lost, or the task could not start
            failures += [(number, f"its worker failed: {task.exception()}") for number in tasks[task]]
    return failures


def _ended(ended: Iterable[Any], tasks: Mapping[Any, list[int]], tell: Any) -> Iterator[Any]:
    """Passes tasks on as they end, and tells of their points."""
    for task in ended:
        for number in tasks[task] if tell is not None else ():
            tell(number)
        yield task
