"""Rounds of a batch: what was not reached is left to the next one, what failed is tried with less."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tidings.errors import TidingsError
from tidings.pipeline.stream.attempts import BatchSize, Stopped, rounds
from tidings.pipeline.stream.match_parts import Limits
from tidings.pipeline.stream.stretch import Stretch


@dataclass(frozen=True)
class Found:
    first: int
    last: int
    reached: int
    shortest: int | None = None
    plan: int = 7
    shards: int = 2
    seconds: float = 1.5


@dataclass(frozen=True)
class Stage:
    limits: Limits = field(default_factory=Limits)
    stretches: tuple[Stretch, ...] = ()

    def over(self, stretches: tuple[Stretch, ...], limits: Limits) -> Stage:
        return replace(self, stretches=stretches, limits=limits)


def found_in(most: int, tried: list[tuple[int, int]], problem: Exception) -> Any:
    """A cluster that fails at more than so many positions at once."""

    def run(frame: Any, stage: Stage) -> Found:
        first, last = (stage.stretches[0].first, stage.stretches[-1].last) if stage.stretches else (1, 1_000)
        tried.append((first, last))
        if last - first >= most:
            raise problem
        return Found(first, last, last)

    return run


class Frame:
    def toArrow(self) -> Frame:  # noqa: N802 (Spark's name)
        return self

    def sort_by(self, _: str) -> Frame:
        return self

    def to_pylist(self) -> list[dict[str, int]]:
        return [{"first": 1, "last": 1_000, "plan": 7, "shards": 2}]


def run(most: int, problem: Exception, size: BatchSize) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    tried: list[tuple[int, int]] = []
    frame: Any = Frame()
    done = [(one.first, one.reached) for one in rounds(frame, Stage(), found_in(most, tried, problem), size, 2)]
    return tried, done


def test_a_round_that_failed_is_halved_and_so_are_the_next_batches() -> None:
    size = BatchSize(1_000, largest=10_000)
    tried, done = run(300, MemoryError("a worker was killed"), size)
    assert tried[:3] == [(1, 1_000), (1, 500), (1, 250)]
    assert done == [(1, 250), (251, 500), (501, 750), (751, 1_000)]
    assert size.positions == 250


def test_what_less_cannot_help_fails_at_once() -> None:
    for problem, attempts in ((TidingsError(), 1), (MemoryError("tidings.store.Gap: missing"), 1), (OSError(), 7)):
        tried: list[tuple[int, int]] = []
        frame: Any = Frame()
        with pytest.raises(type(problem)):
            list(rounds(frame, Stage(), found_in(0, tried, problem), BatchSize(1_000, 1_000), 2))
        assert len(tried) == attempts


def test_what_was_not_reached_is_left_to_the_next_round() -> None:
    def run(frame: Any, stage: Stage) -> Found:
        first, last = (stage.stretches[0].first, stage.stretches[-1].last) if stage.stretches else (1, 10)
        return Found(first, last, min(last, first + 3), shortest=4)

    frame: Any = Frame()
    found = rounds(frame, Stage(), run, BatchSize(100, 100), 1)
    assert [(one.first, one.reached) for one in found] == [(1, 4), (5, 8), (9, 10)]
    with pytest.raises(Stopped):
        list(rounds(frame, Stage(), run, BatchSize(100, 100), 1, lambda: True))
