"""Group commit: many submit at once, one thread appends whatever is waiting in one transaction.

The gateway's requests end here: a commit that reaches the disk costs the same for one draft and for thousands.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from tidings.store.errors import AppenderClosed
from tidings.store.journal.entries import Draft, Outcome
from tidings.store.store import Store, check_drafts

_MOST_DRAFTS = 5_000  # in one transaction, unless one submission has more

PendingOutcomes = Future[list[Outcome]]


class Appender:
    """Submissions are appended in their order, each whole. The store stays the caller's to close."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: deque[tuple[list[Draft], PendingOutcomes]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="tidings-appender", daemon=True)
        self._thread.start()

    def submit(self, drafts: Sequence[Draft]) -> PendingOutcomes:
        """The outcomes, once they are committed; raises AppenderClosed."""
        check_drafts(drafts)
        answer: PendingOutcomes = Future()
        with self._changed:
            if self._closed:
                raise AppenderClosed
            self._waiting.append((list(drafts), answer))
            self._changed.notify()
        return answer

    def close(self) -> None:
        """Returns when all that was submitted is answered."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        while group := self._next_group():
            drafts = [draft for some, _ in group for draft in some]
            try:
                outcomes = self._store.append(drafts)
            except Exception as problem:  # whatever it is, those who wait must hear of it; the next group may do better
                for _, answer in group:
                    answer.set_exception(problem)
                continue
            start = 0
            for some, answer in group:
                answer.set_result(outcomes[start : start + len(some)])
                start += len(some)

    def _next_group(self) -> list[tuple[list[Draft], PendingOutcomes]]:
        """Waits for the next submissions; empty when closed and all done."""
        group: list[tuple[list[Draft], PendingOutcomes]] = []
        size = 0
        with self._changed:
            while True:
                while self._waiting and (not group or size + len(self._waiting[0][0]) <= _MOST_DRAFTS):
                    drafts, answer = self._waiting.popleft()
                    if answer.set_running_or_notify_cancel():
                        group.append((drafts, answer))
                        size += len(drafts)
                if group or self._closed:
                    return group
                self._changed.wait()
