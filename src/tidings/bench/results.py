"""What a run gives: a result for each algorithm and peer, and what all of them share."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tidings.bench.machine import Machine

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Result:
    """None where there is nothing to say; then `note` says why."""

    algorithm: str
    kind: Literal["algorithm", "peer"] = "algorithm"
    events_per_s: float | None = None
    matches_per_event: float | None = None
    ns_per_match: float | None = None
    floor_ratio: float | None = None  # how many times the floor's time a match takes
    build_s: float | None = None
    subscriptions_per_s: float | None = None
    bytes_per_subscription: float | None = None
    compile_s: float | None = None
    candidates_per_event: float | None = None
    events: int | None = None  # on how many it was measured
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered, event by event: how many matches, and the sum of their numbers where these are known."""

    counts: Counts
    sums: Counts | None = None

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class Measured:
    result: Result
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class Run:
    workload: str
    options: dict[str, Any]  # of the workload: its parameters and seed
    subscriptions: int
    events: int
    threads: int
    floor_ns_per_match: float
    results: tuple[Result, ...]
    machine: Machine = field(default_factory=Machine.here)
    commit: str = "unknown"

    def result(self, algorithm: str) -> Result | None:
        return next((one for one in self.results if one.algorithm == algorithm), None)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "results": [asdict(one) for one in self.results]}
