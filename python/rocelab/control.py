"""Congestion controls that are written in Python."""

from __future__ import annotations

import hashlib
import inspect
import json
from typing import ClassVar, NamedTuple


class Path(NamedTuple):
    """What never changes of a queue pair."""

    line_rate: int
    """The rate of the sender's port [bit/s]."""
    base_rtt: int
    """Round-trip time of a full packet in the idle network (ps)."""
    bdp: int
    """Payload that fills the path at the line rate [bytes]."""
    mtu: int
    """Payload of a full packet [bytes]."""
    seed: int
    """Where random numbers may start: another one for each queue pair."""
    start: int
    """When the queue pair starts (ps)."""


class CongestionControl:
    """How a queue pair reacts to congestion: subclass it, and give the class to `Scenario.run(congestion_control=...)`.

    There is an object for each queue pair. It is told what happens, with the same numbers as a WebAssembly module
    (docs/user-congestion-control.md), and answers by its attributes, which stay until they are changed:

    - `rate`: how fast data may leave, with preamble and gap of its frames [bit/s]. `open` has to set it.
    - `window`: how much payload may be unacknowledged [bytes]; `None` is no limit.
    - `timers`: when each of three timers expires (ps); `None` stops one. `on_timer` has to move or stop the one that it is
      called for.
    - `repaces`: set it in a call, if the new rate counts for the packet that waits already.

    Answers are whole numbers, times picoseconds since the start of the run.

        >>> class Halving(CongestionControl):
        ...     feedback = "ecn-echo"
        ...
        ...     def open(self, path):
        ...         self.rate = path.line_rate
        ...
        ...     def on_ack(self, now, acked, acknowledged, sent, rtt, ecn_echo):
        ...         if ecn_echo:
        ...             self.rate = max(self.rate // 2, 10**9)
        ...         else:
        ...             self.rate = min(self.rate + 10**7, self.path.line_rate)
    """

    name: ClassVar[str | None] = None
    """What results call it, behind `python:`. `None`: the name of the class."""
    version: ClassVar[str] = ""
    """A line, in `run.json`."""
    feedback: ClassVar[str] = "ecn-echo"
    """What the other end and switches have to tell: `none`, `cnp`, `rtt`, `ecn-echo` or `qcn`."""
    cnp_interval: ClassVar[int] = 4_000_000
    """With `cnp`: the least time between two CNPs for a queue pair (ps)."""
    events: ClassVar[tuple[str, ...]] = ("ack", "cnp", "cnm", "loss")
    """What it is called for, beside timers. `sent` costs a call for each packet."""

    path: Path
    """The path of the queue pair."""
    rate: int = 0
    window: int | None = None
    timers: list[int | None]
    repaces: bool = False

    def open(self, path: Path) -> None:
        """The queue pair starts. A rate has to be set."""
        raise NotImplementedError("`open` has to set `self.rate`")

    def on_ack(self, now: int, acked: int, acknowledged: int, sent: int, rtt: int | None, ecn_echo: bool) -> None:
        """Something was acknowledged: with `rtt` and `ecn-echo`.

        `acked` bytes newly; all before the position `acknowledged` has arrived, and the packet at `sent` is the next.
        `rtt` is `None` after a packet was sent twice.
        """

    def on_cnp(self, now: int) -> None:
        """A CNP arrived: with `cnp`."""

    def on_cnm(self, now: int, feedback: int) -> None:
        """A notification of a switch arrived, with its quantized feedback, 0 to 63: with `qcn`."""

    def on_sent(self, now: int, bytes: int) -> None:
        """A data packet begins to leave, a frame of so many bytes with FCS: only with `sent` in `events`."""

    def on_loss(self, now: int, timeout: bool) -> None:
        """Something is sent again; `timeout`: a timeout told of it."""

    def on_timer(self, now: int, timer: int) -> None:
        """A timer expired, 0 to 2. It has to be moved to a later time, or stopped."""
        self.timers[timer] = None

    def _open(self, *path: int) -> None:
        self.path = Path(*path)
        self.timers = [None, None, None]
        self.open(self.path)


def described(control: type[CongestionControl]) -> tuple[str, str, str]:
    """The name of a class, its metadata as those of a WebAssembly module, and the SHA-256 of its text, if that is known."""
    metadata = {
        "abi": 1,
        "name": control.name or control.__name__,
        "version": control.version,
        "feedback": control.feedback,
        "cnp_interval": control.cnp_interval,
        "state": 0,
        "events": list(control.events),
    }
    try:
        sha256 = hashlib.sha256(inspect.getsource(control).encode()).hexdigest()
    except (OSError, TypeError):
        sha256 = ""
    return f"{control.__module__}.{control.__qualname__}", json.dumps(metadata), sha256
