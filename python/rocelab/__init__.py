"""RoCE Lab: packet-level simulation of RDMA over Converged Ethernet.

    >>> import rocelab
    >>> scenario = rocelab.Scenario(
    ...     topology={"single-switch": {"hosts": 3, "link": {"rate": "100Gbps", "cable": "3m"}}},
    ...     workload={"incast": {"senders": 2, "bytes": "1MB"}},
    ... )
    >>> results = scenario.run()
    >>> len(results.flows)
    2

Keys, values and units are those of scenario files (docs/scenario.md), tables those of results directories
(docs/results.md). Tables have Arrow's PyCapsule interface: `polars.DataFrame(results.flows)`,
`pyarrow.table(results.flows)` and `pandas.DataFrame.from_arrow(results.flows)` take them without a copy.
"""

from __future__ import annotations

import json as _json
import math as _math
import os as _os
import warnings as _warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _native, _progress
from ._native import Check, Explanation, Table, __version__
from .control import CongestionControl, described as _described
from .errors import InputError, ResultsError, RocelabError, RunError, ScenarioError
from .sweeps import Sweep, sweep

__all__ = [
    "Check",
    "CongestionControl",
    "Explanation",
    "Headroom",
    "InputError",
    "Results",
    "ResultsError",
    "RocelabError",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "Table",
    "__version__",
    "headroom",
    "json_schema",
    "open",
    "pcap",
    "sweep",
]

Progress = bool | Callable[[float, int, int], object] | None


def _overrides(settings: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Settings as `--set` takes them: texts as they are, all else as TOML."""
    return [(key, _value(key, value)) for key, value in (settings or {}).items()]


def _value(key: str, value: Any) -> str:
    value = _plain(key, value)
    # A label is a text, whatever it looks like.
    if isinstance(value, str) and not key.startswith("labels."):
        return value
    return _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return _json.dumps(value, ensure_ascii=False)


def _plain(key: str, value: Any) -> Any:
    """A value of Python as JSON knows it: of NumPy too, and paths. What is `None` in a dictionary is left out."""
    if isinstance(value, _os.PathLike):
        return _os.fspath(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        items = ((str(name), one) for name, one in value.items() if one is not None)
        return {name: _plain(f"{key}.{name}" if key else name, one) for name, one in items}
    if isinstance(value, (list, tuple)):
        return [_plain(f"{key}[{place}]", one) for place, one in enumerate(value)]
    if value is None:
        raise InputError(f"{key} = None: None is no value of a scenario; leave the key out")
    if isinstance(value, float) and not _math.isfinite(value):
        raise InputError(f"{key} = {value}: is no number that a scenario can have; give a finite one")
    if not isinstance(value, (bool, int, float, str)):
        raise InputError(f"{key} = {value!r}: is of {type(value).__name__}; give a number, a text, a list or a dictionary")
    return value


def _counted(name: str, value: int | None) -> int | None:
    """A number of threads or parts, at least 1."""
    if value is not None and not 1 <= value < 2**32:
        raise InputError(f"{name} = {value}: give a number from 1")
    return value


class Scenario:
    """A network, what is sent over it, and all settings.

    Sections are given by their names in scenario files, as dictionaries with the same keys and units as texts:
    `Scenario(topology={...}, workload={...}, seed=3)`. Names with a hyphen are keys: `{"fat-tree": {"k": 4}}`; what is
    `None` is left out. `name` is what the run is called, and `folder` where relative paths start from.

    Raises `ScenarioError` with the words of `rocelab check` if something is wrong with it. Places are lines of the same
    scenario as TOML.
    """

    def __init__(
        self, *, name: str = "scenario", folder: str | _os.PathLike[str] = ".", **sections: Any
    ) -> None:
        text = _json.dumps(_plain("", sections))
        self._native = _native.Scenario.from_json(text, Path(folder) / f"{name}.toml", [])

    @classmethod
    def _of(cls, native: _native.Scenario) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._native = native
        return scenario

    @classmethod
    def load(cls, path: str | _os.PathLike[str], set: Mapping[str, Any] | None = None) -> Scenario:
        """The scenario in a file: TOML, or a `config.txt` of HPCC's simulator.

        `set` changes keys, as `--set` does: `{"switch.alpha": "1/16", "workload.incast.senders": 8}`.
        """
        return cls._of(_native.Scenario.load(Path(path), _overrides(set)))

    @classmethod
    def from_toml(cls, text: str, folder: str | _os.PathLike[str] = ".", set: Mapping[str, Any] | None = None) -> Scenario:
        """The scenario that a text in TOML is."""
        return cls._of(_native.Scenario.parse(text, Path(folder) / "scenario.toml", _overrides(set)))

    def set(self, settings: Mapping[str, Any] | None = None, /, **keys: Any) -> Scenario:
        """The same scenario with other values: `scenario.set({"switch.ecn.kmin": "40KB"}, seed=2)`."""
        return self._of(self._native.with_settings(_overrides(settings) + _overrides(keys)))

    def __reduce__(self):
        return (_restored, self._native.parts())

    @property
    def name(self) -> str:
        """What the run is called: as its file, without the ending."""
        return self._native.name

    def to_toml(self) -> str:
        """The scenario with every default, as TOML that `rocelab run` takes."""
        return self._native.to_toml()

    def run(
        self,
        *,
        out: str | _os.PathLike[str] | None = None,
        force: bool = False,
        threads: int | None = None,
        partitions: int | None = None,
        progress: Progress = None,
        congestion_control: type[CongestionControl] | None = None,
    ) -> Results:
        """Runs it to its end.

        Results stay in memory. With `out`, they are a results directory as of `rocelab run`, which holds captures too;
        `force` replaces one that is there. They do not depend on `threads` and `partitions`. `progress` shows a bar
        (`None`: in a terminal or a notebook), or is called with the share that is done, the simulated time in ps, and the
        number of flows that have ended. Python's other threads go on meanwhile; an interruption (Ctrl-C) ends the run
        and leaves nothing.

        `congestion_control` is a class of your own, a subclass of `CongestionControl`, for all flows whose class or workload
        names no other. Such a run has one part. What the class raises ends it with a `RunError` that says when, in which
        queue pair, and has the exception as its cause.

        Raises `ScenarioError` if the scenario cannot run, `RunError`, and `ResultsError` if results cannot be written.
        """
        destination = None if out is None else (Path(out), force)
        threads, partitions = _counted("threads", threads), _counted("partitions", partitions)
        if out is None and self._native.captures:
            _warnings.warn(
                "the scenario captures frames, and captures are files: they are lost without `out`", stacklevel=2
            )
        native = self._native
        if congestion_control is not None:
            if not (isinstance(congestion_control, type) and issubclass(congestion_control, CongestionControl)):
                raise InputError(
                    f"congestion_control = {congestion_control!r}: give a subclass of rocelab.CongestionControl, or name an "
                    'algorithm of the program by scenario.set(congestion_control="dcqcn")'
                )
            native = native.with_control(congestion_control, *_described(congestion_control))
        with _progress.of_run(progress) as tell:
            return Results._of(native.run(destination, threads, partitions, tell))

    def check(self) -> Check:
        """What can be proved of it before it runs: `print(scenario.check())`."""
        return self._native.check()

    def explain(
        self,
        flow: int | None = None,
        *,
        operation: tuple[int, int] | None = None,
        progress: Progress = None,
    ) -> Explanation:
        """Where the time of a flow went, or of an operation (connection and number); of neither, what was paused."""
        if flow is not None and operation is not None:
            raise InputError(f"flow = {flow}, operation = {operation}: give one of them")
        with _progress.of_run(progress) as tell:
            return self._native.explain(flow, operation, tell)

    def __repr__(self) -> str:
        return repr(self._native)


def _restored(text: str, path: str, overrides: list[tuple[str, str]]) -> Scenario:
    """A scenario that was pickled."""
    return Scenario._of(_native.Scenario.parse(text, Path(path), overrides))


class Results:
    """The results of a run.

    Each table is an attribute: `flows`, `operations`, `pfc`, `queues`, `drops`, `links`, `switches`, `storms`, the
    samples `marks`, `utilisation`, `rates`, `ingress`, `memory`, `flow_samples`, and `flow_counters`. A run has those
    that its scenario asks for: `names`.
    """

    _native: _native.Results

    @classmethod
    def _of(cls, native: _native.Results) -> Results:
        results = cls.__new__(cls)
        results._native = native
        results._tables = {}
        return results

    @property
    def names(self) -> list[str]:
        """The names of the tables that there are."""
        return [name.replace("-", "_") for name in self._native.names]

    def __reduce__(self):
        if self.directory is None:
            raise TypeError("results in memory cannot be pickled: run with `out`, or take the tables")
        return (open, (self.directory.absolute(),))

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        tables = self.__dict__.setdefault("_tables", {})
        if name not in tables:
            names = {known.replace("-", "_"): known for known in self._native.names}
            if name not in names:
                known = ", ".join(sorted(names))
                raise AttributeError(
                    f"these results have no table `{name}`, but {known}; samples are taken where the scenario asks "
                    "for them ([sample])"
                )
            tables[name] = self._native.table(names[name])
        return tables[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names})

    def __iter__(self) -> Iterator[Table]:
        return (getattr(self, name) for name in self.names)

    @property
    def directory(self) -> Path | None:
        """The results directory; `None` if they are in memory."""
        directory = self._native.directory
        return None if directory is None else Path(directory)

    @property
    def summary(self) -> dict[str, Any]:
        """`summary.json`: the same for the same scenario and seed."""
        return self._native.summary()

    @property
    def run_info(self) -> dict[str, Any]:
        """`run.json`: what differs from run to run, such as the time that it took."""
        return self._native.run_info()

    @property
    def digest(self) -> str:
        """Equal for equal runs."""
        return self._native.digest

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run."""
        return Scenario._of(self._native.scenario)

    def explain(
        self,
        flow: int | None = None,
        *,
        operation: tuple[int, int] | None = None,
        progress: Progress = None,
    ) -> Explanation:
        """Runs the scenario again, and says where the time of a flow or operation went; see `Scenario.explain`.

        Raises `RunError` if the digest of that run is another: files have changed, or these results are of a branch or
        of another version.
        """
        explanation = self.scenario.explain(flow, operation=operation, progress=progress)
        if explanation.digest != self.digest:
            raise RunError(
                f"run again, the digest is {explanation.digest}, not {self.digest}: what would be explained is another "
                "run; the results are incomplete, or of a branch, or of another version of rocelab, or files have changed"
            )
        return explanation

    def __repr__(self) -> str:
        where = f" in {self.directory}" if self.directory else ""
        return f"<rocelab.Results{where}: {', '.join(self.names)}>"


class Headroom(dict):
    """The answer of `headroom`: a dictionary of numbers, with the terms of the calculation as text."""

    _text = ""

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


def headroom(
    rate: str,
    *,
    cable: str | None = None,
    delay: str | None = None,
    mtu: int = 1024,
    largest_frame: str | None = None,
    response: str | None = None,
    cell: str | None = None,
    ports: int = 32,
    buffer: str = "12MB",
    shared: str | float = "0.5",
    reserve: str = "0B",
) -> Headroom:
    """The headroom that a lossless class needs, and how many classes fit, as `rocelab headroom` says.

    `rate` is that of every port, `cable` the length of every cable or `delay` its propagation delay; the others are the
    options of the program.
    """
    arguments = {name: value for name, value in locals().items() if value is not None}
    numbers, text = _native.headroom(arguments)
    answer = Headroom(numbers)
    answer._text = text
    return answer


def open(path: str | _os.PathLike[str]) -> Results:
    """Opens a results directory.

    Raises `ResultsError` if it is none.
    """
    return Results._of(_native.open_results(Path(path)))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of scenarios."""
    return _native.json_schema()


from . import pcap  # noqa: E402  (it needs nothing of the above, and is part of the package)
