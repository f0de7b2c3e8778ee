"""What the tasks of one round did: whether it is whole, how far it came, and its matches in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import Explained, PipelineError
from tidings.pipeline.stream.chunks import merged
from tidings.pipeline.stream.failures import unpacked
from tidings.pipeline.stream.staging import Run, Staging
from tidings.pipeline.stream.stretch import Stretch
from tidings.store.notifications.expression_errors import FailedEvent


class TornBatch(Explained, PipelineError):
    """Spark handed over a batch of which a part is missing: the stretches that did arrive, as (first, last)."""

    stretches: tuple[tuple[int, int], ...]
    template = (
        "a batch arrived incomplete: ranges (first, last) {listed}. "
        "Nothing of it was committed; start the pipeline again, and report this"
    )

    @property
    def listed(self) -> str:
        return str(list(self.stretches))


@dataclass(frozen=True, slots=True)
class Done:
    """A stretch as its task left it: matched up to `done`."""

    first: int
    last: int
    done: int
    events: int
    matches: int
    plan: int
    shards: int
    seconds: float


class Round:
    """From the rows that the stage gave; raises TornBatch."""

    def __init__(self, rows: pa.Table) -> None:
        ends = rows.filter(pc.is_valid(rows.column("done")))
        names = ["first", "last", "done", "events", "matches", "plan", "shards", "seconds"]
        self._stretches = sorted((Done(**row) for row in ends.select(names).to_pylist()), key=lambda one: one.first)
        if not self._stretches or any(two.first != one.last + 1 for one, two in pairwise(self._stretches)):
            raise TornBatch(tuple((one.first, one.last) for one in self._stretches))
        self._runs = rows.filter(pc.is_valid(rows.column("run"))).sort_by(
            [("first", "ascending"), ("page", "ascending")]
        )
        self._problems = rows.filter(pc.is_valid(rows.column("problem")))
        self._failed = rows.column("failed").drop_null()
        self.first, self.last = self._stretches[0].first, self._stretches[-1].last
        self.plan, self.shards = self._stretches[0].plan, self._stretches[0].shards

    @property
    def usable(self) -> list[Done]:
        """Those that follow on each other without a gap, the last one maybe in part."""
        found = []
        for one in self._stretches:
            found.append(one)
            if one.done < one.last:
                break
        return found

    @property
    def reached(self) -> int:
        """All is matched up to here."""
        return self.usable[-1].done

    @property
    def shortest(self) -> int | None:
        """Positions of the shortest stretch that was not matched to its end; None if all were."""
        return min((one.done - one.first + 1 for one in self._stretches if one.done < one.last), default=None)

    @property
    def seconds(self) -> float:
        """That the longest task took, without what Spark took to start it."""
        return max(one.seconds for one in self._stretches)

    @property
    def events(self) -> int:
        return sum(one.events for one in self.usable)

    @property
    def matches(self) -> int:
        return sum(one.matches for one in self.usable)

    def problems(self) -> list[tuple[int, str]]:
        rows = self._problems.select(["position", "problem"]).to_pylist()
        return sorted((row["position"], row["problem"]) for row in rows if row["position"] <= self.reached)

    def failed(self) -> list[FailedEvent]:
        """Events on which expressions ended in an error, in order."""
        return unpacked(self._failed.to_pylist(), self.reached)

    def chunks(self, staging: Staging) -> Iterator[Any]:
        """The matches, in order."""
        pages: dict[tuple[int, int], list[Run]] = {}
        for row in self._runs.select(["first", "page", "run", "chunks", "body"]).to_pylist():
            run = Run(row["run"], row["chunks"], row["body"])
            pages.setdefault((row["first"], row["page"]), []).append(run)
        for (first, _), runs in pages.items():
            if first <= self.reached:
                yield from merged([run.read(staging) for run in runs])


def cut(first: int, last: int, pieces: int, plan: int, shards: int) -> tuple[Stretch, ...]:
    """The positions [first, last], cut into stretches of about equal length."""
    length = last - first + 1
    cuts = [first + length * piece // pieces for piece in range(pieces + 1)]
    return tuple(Stretch(one, other - 1, plan, shards) for one, other in pairwise(cuts) if one < other)
