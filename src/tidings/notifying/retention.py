"""Removing what is older than it is to be kept, a little at a time, so that deliveries need not wait long for it.

The outbox does it because only one leads: two would stand in each other's way.
"""

from __future__ import annotations

from tidings.notifying.limits import Limits
from tidings.notifying.schedule import MICROSECONDS
from tidings.schema import Instant
from tidings.store import Store

_AT_ONCE = 500  # of each kind


def sweep(store: Store, limits: Limits, now: Instant) -> bool:
    """Whether there may be more to remove."""
    removed = [store.sweep(_ago(now, limits.keep), _AT_ONCE)]
    if limits.keep_events is not None:
        removed.append(store.forget(_AT_ONCE))
        removed.append(store.trim(_ago(now, limits.keep_events), limit=_AT_ONCE))
    return max(removed) >= _AT_ONCE


def _ago(now: Instant, seconds: float) -> Instant:
    return Instant(max(0, now - int(seconds * MICROSECONDS)))
