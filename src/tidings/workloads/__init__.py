"""Seeded generators of the papers' and of today's workloads: the same seed gives the same arrays on every machine.

A workload has a catalog and makes subscriptions as a `PredicateTable` and events as an `EventBatch`, millions
in seconds. Row i depends on the parameters, the seed and i alone: the first k of n are what asking for k
gives, `start` goes on where an earlier call ended, and events and subscriptions are independent. `files`
writes a workload to disk.
"""

from __future__ import annotations

from typing import Protocol

from tidings.events import EventBatch
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.schema import Catalog
from tidings.workloads.flights import Flights
from tidings.workloads.le_subscribe import LeSubscribe
from tidings.workloads.rein import Rein
from tidings.workloads.thesis import Thesis

__all__ = ["WORKLOADS", "Flights", "LeSubscribe", "Rein", "Thesis", "Workload"]


class Workload(Protocol):
    """What every workload offers; each may have more parameters than the seed."""

    def __init__(self, *, seed: int = 1) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def catalog(self) -> Catalog: ...

    def subscriptions(self, n: int, start: int = 0) -> PredicateTable:
        """The filters [start, start + n)."""
        ...

    def events(self, n: int, start: int = 0) -> EventBatch:
        """The events [start, start + n)."""
        ...


WORKLOADS: dict[str, type[Workload]] = {kind.name: kind for kind in (LeSubscribe, Thesis, Rein, Flights)}
