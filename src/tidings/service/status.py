"""How a child process is, as far as whoever supervises it knows: for /readyz, the metrics and the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["elsewhere", "starting", "running", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """`waiting`: it ended and will be started again; `failed`: it will not be, and `reason` says why."""

    state: State
    reason: str = ""
    process: int | None = None
    restarts: int = 0
    lag: int | None = None  # what is left to do, as the child said last
    busiest: tuple[tuple[str, int, str], ...] = ()  # of an outbox: destination, places it takes, how it answers


OFF = ChildStatus("elsewhere")
