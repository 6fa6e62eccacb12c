"""Many runs of one scenario: `rocelab.sweep`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native, _progress
from .errors import RunError


@dataclass(frozen=True)
class Sweep:
    """A sweep that was carried out.

    `folder` has `runs.parquet`, `flows.parquet` and `points.csv` (docs/sweep.md). `failed` says why points have no
    results, by their numbers.
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

    def results(self, point: int) -> Any:
        """The results of a point."""
        from . import open as open_results

        digits = len(str(self.points - 1))
        return open_results(self.folder / "points" / f"{point:0{digits}}")


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
    progress: bool | None = None,
) -> Sweep:
    """Carries out the sweep in a file with `[sweep]` (docs/sweep.md): the same points and tables as `rocelab sweep`.

    Results go to `out` (`results/NAME-sweep`); points that have some are not run again, and `force` replaces those of other
    settings. `set` changes the scenario or the sweep, as `--set` does. With a `client` of `dask.distributed`, its workers
    carry the points out; they must see the same files at the same paths, as on one machine or on a cluster's shared disk.

    Raises `ScenarioError` if the plan has an error, and `RunError` if no point is done.
    """
    from . import _overrides

    overrides = _overrides(set)
    path = Path(plan).absolute()
    native = _native.SweepPlan.load(path, overrides)
    folder = (Path("results") / f"{native.name}-sweep" if out is None else Path(out)).absolute()
    numbers = list(range(len(native)))
    with _progress.of_points(progress, len(numbers)) as tell:
        if client is None:
            native.carry_out(folder, numbers, threads, force, tell)
        else:
            _on_workers(client, path, overrides, folder, numbers, force, tell)
    done, failed, without = native.collect(folder)
    failed = {**dict(failed), **{number: "it was not carried out" for number in without}}
    if not done:
        number, reason = next(iter(failed.items()))
        raise RunError(f"no point is done; point {number}: {reason}")
    return Sweep(folder, len(numbers), done, failed)


def _carry_out_point(
    path: Path, overrides: list[tuple[str, str]], folder: Path, number: int, force: bool
) -> tuple[int, str | None]:
    """Carries out one point, in a worker of Dask."""
    failed = _native.SweepPlan.load(path, overrides).carry_out(folder, [number], 1, force, None)[1]
    return number, failed[0][1] if failed else None


def _on_workers(
    client: Any,
    path: Path,
    overrides: list[tuple[str, str]],
    folder: Path,
    numbers: list[int],
    force: bool,
    tell: Any,
) -> None:
    from dask.distributed import as_completed

    futures = [client.submit(_carry_out_point, path, overrides, folder, number, force, pure=False) for number in numbers]
    for future, (number, _) in as_completed(futures, with_results=True):
        if tell is not None:
            tell(number)
