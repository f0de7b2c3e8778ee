"""Questions for the processes of `inquiries`: a filter tried on the last events, before it is left standing."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.language import Filter
from tidings.service.workers import questions
from tidings.service.workers.covers import covering as wider
from tidings.store import Store
from tidings.store.journal.journal import before_newest


@dataclass(frozen=True, slots=True)
class Trial:
    """How many of how many events it matched."""

    matched: int
    scanned: int


def tried(store: Store, filter: str, last: int) -> Trial:
    """On the newest so many events. Raises LanguageError."""
    bound = Filter.parse(filter, store.catalog())
    upto = store.tail()
    with store.database.reading() as connection:
        after = before_newest(connection, last)
    matched = scanned = 0
    for rows, found, _ in questions.matching(store, bound, after, upto):
        scanned += len(rows)
        matched += len(found)
    return Trial(matched, scanned)


def covering(store: Store, owner: str, filter: str, besides: str) -> str:
    """One of the owner's other subscriptions that finds all of it already, or ''. Raises LanguageError."""
    return next(iter(wider(store, owner, filter, besides, 1)), "")
