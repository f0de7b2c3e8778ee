"""A batch is done in rounds: what a task could not do in one go is left to the next, and a round that failed (a worker
was killed for its memory, say) is tried again with less at a time. So no batch is too large, whatever Spark's
checkpoint says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from tidings.errors import Explained, PipelineError, TidingsError
from tidings.pipeline.stream.match_parts import Limits
from tidings.pipeline.stream.rounds import cut
from tidings.pipeline.stream.stretch import Stretch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_FAILURES = 6  # of one round, each with less at a time than the one before
_QUICK, _SLOW = 1.0, 2.5  # seconds: after a round that took less, or more, the next batch is larger, or smaller


class Stopped(Explained, PipelineError):
    template = "the batch was stopped; the rest is matched at the next start"


class Stage(Protocol):
    """The first stage of a round."""

    @property
    def limits(self) -> Limits: ...
    @property
    def stretches(self) -> tuple[Stretch, ...]: ...

    def over(self, stretches: tuple[Stretch, ...], limits: Limits) -> Self:
        """The same for other positions."""


class Round(Protocol):
    """What the tasks of a round did with the positions [first, last]: they `reached` a position. `shortest`: the
    positions of the shortest stretch that was not done to its end."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def plan(self) -> int: ...
    @property
    def shards(self) -> int: ...
    @property
    def reached(self) -> int: ...
    @property
    def shortest(self) -> int | None: ...
    @property
    def seconds(self) -> float: ...


S = TypeVar("S", bound=Stage)
R = TypeVar("R", bound=Round)


class BatchSize:
    """How many positions a batch may have, so that its matches take about two seconds to find and store; what Spark
    takes for any batch does not count. Below `smallest` it goes only where a round failed: a busy machine is slow with
    any batch, and what a task does not finish is left to another round."""

    def __init__(self, positions: int, largest: int, smallest: int = 1) -> None:
        self.positions = positions
        self.storing = 0.0  # seconds that the last round took to store
        self._largest, self._smallest = largest, smallest

    def adapt(self, found: Round, tasks: int) -> None:
        seconds, length = found.seconds + self.storing, found.last - found.first + 1
        if found.shortest is not None:
            self.positions = max(found.shortest * tasks, self._smallest)
        elif seconds > _SLOW:
            self.positions = max(tasks, self._smallest, int(length * _SLOW / seconds))
        elif seconds < _QUICK and 2 * length > self.positions:
            self.positions = min((8 if seconds < _QUICK / 8 else 2) * self.positions, self._largest)

    def fail(self, length: int) -> None:
        """So many positions at once failed."""
        self.positions = max(1, min(self.positions, length // 2))


def rounds(
    frame: DataFrame, stage: S, run: Callable[[DataFrame, S], R], size: BatchSize, tasks: int,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[R]:  # fmt: skip
    """Runs the stage over the frame's stretches until their end is reached. What each round found must be stored before
    the next one is asked for. Raises Stopped."""
    limits, last, failures = stage.limits, 0, 0
    while True:
        if stopping():
            raise Stopped
        try:
            found = run(frame, stage)
        except Exception as problem:
            failures += 1
            if failures > _MOST_FAILURES or not _may_pass(problem) or stopping():
                raise
            tried = stage.stretches or tuple(Stretch(**row) for row in frame.toArrow().sort_by("first").to_pylist())
            last = last or tried[-1].last
            size.fail(tried[-1].last - tried[0].first + 1)
            stage = _halved(stage, tried)
            continue
        last, failures = last or found.last, 0
        size.adapt(found, tasks)
        yield found
        if found.reached >= last:
            return
        first = found.reached + 1
        upto = min(last, first + size.positions - 1)
        stage = stage.over(cut(first, upto, tasks, found.plan, found.shards), limits)


def frame_of(frame: DataFrame, stage: Stage) -> DataFrame:
    """What the stage is run over: the numbers of its own stretches, if it has some."""
    pieces = len(stage.stretches)
    return frame.sparkSession.range(0, pieces, 1, pieces) if pieces else frame


def stretch_of(stage: Stage, row: dict[str, Any]) -> Stretch:
    return stage.stretches[row["id"]] if stage.stretches else Stretch(**row)


def _halved(stage: S, tried: tuple[Stretch, ...]) -> S:
    """For another attempt at a round that failed: the first half of its positions, and smaller pages."""
    first, last = tried[0].first, (tried[0].first + tried[-1].last) // 2
    return stage.over(cut(first, last, 1, tried[0].plan, tried[0].shards), stage.limits.smaller())


def _may_pass(problem: Exception) -> bool:
    """Whether less at a time may help: not where Tidings itself said what is wrong."""
    said = (line.strip() for line in str(problem).splitlines())
    return not isinstance(problem, TidingsError) and not any(line.startswith("tidings.") for line in said)
