"""Questions for the processes of `inquiries`: a filter tried on recent events before it is saved."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from tidings.language import Filter
from tidings.service.workers import questions
from tidings.service.workers.covers import covering as wider
from tidings.service.workers.questions import StoredEvent
from tidings.store import Store
from tidings.store.journal.journal import before_newest

_SHOWN = 3  # events that the page for subscribing shows


@dataclass(frozen=True, slots=True)
class Trial:
    """How many of how many events it matched, and the newest of these."""

    matched: int
    scanned: int
    newest: tuple[StoredEvent, ...] = ()


def tried(store: Store, filter: str, last: int) -> Trial:
    """On the `last` newest events. Raises LanguageError."""
    bound = Filter.parse(filter, store.catalog())
    upto = store.tail()
    with store.database.reading() as connection:
        after = before_newest(connection, last)
    matched = scanned = 0
    newest: deque[StoredEvent] = deque(maxlen=_SHOWN)
    for rows, found, _ in questions.matching(store, bound, after, upto):
        scanned += len(rows)
        matched += len(found)
        newest.extend(found)
    return Trial(matched, scanned, tuple(reversed(newest)))


def covering(store: Store, owner: str, filter: str, besides: str) -> str:
    """One of the owner's other subscriptions that finds all of it already, or ''. Raises LanguageError."""
    return next(iter(wider(store, owner, filter, besides, 1)), "")
