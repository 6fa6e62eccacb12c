"""A bar in a terminal or a notebook, by tqdm, of what takes longer than a second."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Tell = Callable[[float, int, int], object]

_PATIENCE_S = 1.0


def _is_shown(asked: bool | None) -> bool:
    """Unasked, a bar is shown where somebody looks."""
    if asked is not None:
        return asked
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class _Bar:
    """A bar that appears after a second, and is removed at the end."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._begun = time.monotonic()
        self._bar = None

    def show(self, done: float, text: str = "") -> None:
        """Shows so much of `total` as done."""
        if self._bar is None:
            if time.monotonic() - self._begun < _PATIENCE_S:
                return
            with warnings.catch_warnings():
                # Without ipywidgets a notebook gets a bar of text.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self._bar = tqdm(leave=False, **self._options)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(max(0.0, done - self._bar.n))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def of_run(asked: bool | Tell | None) -> Iterator[Tell | None]:
    """What a run tells of its progress: a bar, what the user gave, or nothing."""
    if callable(asked):
        yield asked
        return
    if not _is_shown(asked):
        yield None
        return
    bar = _Bar(total=100, bar_format="{percentage:3.0f}%|{bar}| {elapsed}{postfix}")
    try:
        yield lambda fraction, time_ps, flows: bar.show(
            round(fraction * 100, 1), f"{time_ps / 1e9:.3f} ms, {flows} flows have ended"
        )
    finally:
        bar.close()


@contextmanager
def of_points(
    asked: bool | Callable[[int], object] | None, points: int
) -> Iterator[Callable[[int], object] | None]:
    """What a sweep tells when a point has ended."""
    if callable(asked):
        yield asked
        return
    if not _is_shown(asked):
        yield None
        return
    bar = _Bar(total=points, unit="points")
    ended = 0

    def tell(_point: int) -> None:
        nonlocal ended
        ended += 1
        bar.show(ended)

    try:
        yield tell
    finally:
        bar.close()
