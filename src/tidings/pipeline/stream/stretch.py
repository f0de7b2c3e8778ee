"""What Spark hands to a task: a stretch of the journal.

Apart from `stage`: the processes in which Spark runs the source need it, and would load the matcher for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """The positions [first, last], to be matched with all shards of a plan."""

    first: int
    last: int
    plan: int
    shards: int
