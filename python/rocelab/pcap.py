"""Captures of RDMA: pcap and pcapng, of simulated or of real networks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _native
from ._native import Table


def decode(path: str | os.PathLike[str]) -> Table:
    """Every frame of a capture, a row each: `polars.DataFrame(rocelab.pcap.decode("run.pcapng"))`.

    Raises `InputError` if the file is no capture, or ends in the middle of a frame.
    """
    return _native.decode_capture(Path(path))


@dataclass(frozen=True)
class Verification:
    """What `rocelab pcap verify` finds: `faults`, a text each, and the numbers of its last line."""

    faults: list[str]
    summary: dict[str, Any]

    def __bool__(self) -> bool:
        """Whether there are no faults."""
        return not self.faults


def verify(path: str | os.PathLike[str]) -> Verification:
    """Checks every frame: checksums, sequence numbers, acknowledgements.

    Raises `InputError` if the file is no capture, or ends in the middle of a frame.
    """
    summary, faults = _native.verify_capture(Path(path))
    return Verification(faults, summary)
