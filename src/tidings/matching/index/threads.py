"""How many threads a large batch is split between: as many as help, which is measured and not assumed.

More threads need not be quicker: with 3.2 M filters of Le Subscribe, two matched 35,800 events/s and one 42,200 (two
cores). So the first large batches run with one thread, two, four and
so on in turn, three times each; then the quickest number stays in use. It is measured again when the number of boxes
has doubled or halved, and after a thousand batches, since other work on the machine comes and goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_TURNS = 3  # of each number of threads; the quickest counts, so one disturbed batch does no harm
_WORTHWHILE = 0.95  # of the time with fewer threads: what more of them must not exceed
_BATCHES = 1000  # that a choice holds for


class Threads:
    """`fixed` is a number to use without measuring."""

    def __init__(self, fixed: int | None = None, most: int | None = None) -> None:
        most = most or len(os.sched_getaffinity(0))
        self._options = [fixed] if fixed else [1 << power for power in range(most.bit_length()) if 1 << power <= most]
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()
        self._boxes = 0
        self._start_over()

    def _start_over(self) -> None:
        self._seconds: dict[int, list[float]] = {option: [] for option in self._options}  # per event
        self._batches = 0

    def number(self, boxes: int) -> int:
        """How many threads the next large batch gets; `boxes` is how many the matcher has."""
        if not self._boxes <= 2 * boxes <= 4 * self._boxes or self._batches == _BATCHES:
            self._boxes = boxes
            self._start_over()
        self._batches += 1
        due = min(self._options, key=lambda option: len(self._seconds[option]))  # the fewest threads first
        return due if len(self._seconds[due]) < _TURNS else self._quickest()

    def note(self, threads: int, events: int, seconds: float) -> None:
        """What a large batch took."""
        if len(self._seconds[threads]) < _TURNS:
            self._seconds[threads].append(seconds / events)

    def _quickest(self) -> int:
        best = self._options[0]
        for option in self._options[1:]:
            if min(self._seconds[option]) <= _WORTHWHILE * min(self._seconds[best]):
                best = option
        return best

    def run(self, work: Callable[[int, int], T], parts: Iterable[tuple[int, int]]) -> list[T]:
        """The results of all parts, in order; the caller's thread takes the first."""
        first, *others = parts
        if not others:
            return [work(*first)]
        jobs = [self._workers().submit(work, *part) for part in others]
        return [work(*first), *(job.result() for job in jobs)]

    def _workers(self) -> ThreadPoolExecutor:
        """One pool for the matcher's life; a forked process makes its own, since threads are not forked."""
        if self._pool is None or self._process != os.getpid():
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(max(self._options), "tidings-match")
        return self._pool
