"""Regular expressions that people write into mappings: bounded in time, for each text and for each file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import regex

from tidings.errors import shown
from tidings.feeds.errors import PatternTooSlow

LONGEST_MATCHED = 10_000  # characters of a text in which a pattern is looked for
MOST_SECONDS = 0.05  # that one search may take
_PATIENCE = 1.0  # seconds, where it was not the search that took them
# By the processor: by the clock a search may wait for other threads and processes.
_SECONDS = 10.0  # that all searches for a pattern in one file may take,
_SECONDS_EACH = 0.0002  # and so much more for each text: the usual one takes a hundredth of that


class NoMatch(ValueError):
    """The text and the fault under which it is counted."""

    def __init__(self, problem: str, fault: str) -> None:
        super().__init__(problem)
        self.fault = fault


class _Spent:
    """The time that searches took, by pattern."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._texts: dict[str, int] = {}

    def see(self, pattern: str, seconds: float) -> None:
        self._seconds[pattern] = spent = self._seconds.get(pattern, 0.0) + seconds
        self._texts[pattern] = texts = self._texts.get(pattern, 0) + 1
        if spent > _SECONDS + texts * _SECONDS_EACH:
            raise PatternTooSlow(pattern, spent, texts)


_spent: ContextVar[_Spent | None] = ContextVar("_spent", default=None)


@contextmanager
def limited_patterns() -> Iterator[None]:
    """Within it, PatternTooSlow is raised where the searches for one pattern take too long together."""
    before = _spent.set(_Spent())
    try:
        yield
    finally:
        _spent.reset(before)


def matched(text: str, pattern: str) -> str:
    """What the pattern's group finds. Raises NoMatch where it finds nothing, or not within MOST_SECONDS."""
    if len(text) > LONGEST_MATCHED:
        raise NoMatch(f"{shown(text)} is longer than {LONGEST_MATCHED:,} characters", "too long for its pattern")
    begun = time.thread_time()
    try:
        found = _found(text, pattern)
    except TimeoutError:
        problem = f"the pattern {pattern!r} takes more than {MOST_SECONDS * 1_000:.0f} ms for {shown(text)}"
        raise NoMatch(problem, "pattern takes too long") from None
    finally:
        if (spent := _spent.get()) is not None:
            spent.see(pattern, time.thread_time() - begun)
    if found is None:
        raise NoMatch(f"{shown(text)} does not match the pattern {pattern!r}", "pattern does not match")
    return found[1] or ""


def _found(text: str, pattern: str) -> regex.Match[str] | None:
    """Raises TimeoutError. The time-out is by the clock: on a busy machine it may pass before the search has begun, so
    one that hardly had the processor is tried again."""
    begun = time.thread_time()
    try:
        return _compiled(pattern).search(text, timeout=MOST_SECONDS)
    except TimeoutError:
        if time.thread_time() - begun > MOST_SECONDS / 2:
            raise
    return _compiled(pattern).search(text, timeout=_PATIENCE)


@lru_cache(maxsize=1_000)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)
