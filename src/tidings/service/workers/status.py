"""The state of a child process as its supervisor knows it: for /readyz, the metrics and the pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

State = Literal["elsewhere", "starting", "running", "waiting", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """`waiting`: it ended and is about to be restarted. `failed`: it keeps failing for the given reason and is retried
    every few minutes (`process` is set during a retry) until it gets something done."""

    state: State
    reason: str = ""
    process: int | None = None
    restarts: int = 0
    lag: int | None = None  # what is left to do, as the child said last
    leads: bool | None = None  # whether it has its lease; None: it did not say
    busiest: tuple[tuple[str, int, str], ...] = ()  # of an outbox: destination, places it takes, how it answers
    heard: float = field(default=0.0, compare=False)  # when it last said something, by the monotonic clock


OFF = ChildStatus("elsewhere")
