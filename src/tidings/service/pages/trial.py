"""A question for the processes of `inquiries`: a filter tried on the last events, before it is left standing."""

from __future__ import annotations

from tidings.service import questions
from tidings.service.questions import Tried
from tidings.store import Store
from tidings.store.clock import now


def tried(store: Store, owner: str, filter: str, last: int) -> Tried:
    """As POST /subscriptions/test does it, on the last so many positions. Raises LanguageError."""
    end = now()
    first = max(0, store.tail() - last, store.complete_from() - 1)
    entry = next(iter(store.entries(first, first + 1)), None)
    return questions.test(store, owner, filter, end if entry is None else entry.accepted, end, 0)
