"""Chooses how many threads share a large batch, by measuring.

More threads are not always faster: with 3.2 M filters of Le Subscribe, two matched 35,800 events/s and one 42,200 (two
cores). So the first large batches run with one thread, two, four and so on in turn, three times each; then the fastest
number stays in use. It is measured again when the number of boxes has doubled or halved, and after a thousand batches,
since other work on the machine comes and goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_TURNS = 3  # per number of threads; the fastest counts, so one disturbed batch does no harm
_WORTHWHILE = 0.95  # more threads must take at most this share of the time
_BATCHES = 1000  # that a choice is used for


class Threads:
    """`fixed`: use this number without measuring."""

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
        """The number of threads for the next large batch; `boxes` is the matcher's number of boxes."""
        if not self._boxes <= 2 * boxes <= 4 * self._boxes or self._batches == _BATCHES:
            self._boxes = boxes
            self._start_over()
        self._batches += 1
        due = min(self._options, key=lambda option: len(self._seconds[option]))  # the fewest threads first
        return due if len(self._seconds[due]) < _TURNS else self._quickest()

    def note(self, threads: int, events: int, seconds: float) -> None:
        """Records how long a large batch took."""
        if len(self._seconds[threads]) < _TURNS:
            self._seconds[threads].append(seconds / events)

    def _quickest(self) -> int:
        best = self._options[0]
        for option in self._options[1:]:
            if min(self._seconds[option]) <= _WORTHWHILE * min(self._seconds[best]):
                best = option
        return best

    def run(self, work: Callable[[int, int], T], parts: Iterable[tuple[int, int]]) -> list[T]:
        """The results of all parts, in order; the caller's thread runs the first."""
        first, *others = parts
        if not others:
            return [work(*first)]
        jobs = [self._workers().submit(work, *part) for part in others]
        return [work(*first), *(job.result() for job in jobs)]

    def _workers(self) -> ThreadPoolExecutor:
        """One pool for the matcher's life; a forked process creates its own, since threads do not survive a fork."""
        if self._pool is None or self._process != os.getpid():
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(max(self._options), "tidings-match")
        return self._pool
