"""Whether a journal was put back from an older copy: what is kept beside the store, in the data folder, knows better.

Positions are then given a second time, so nothing that speaks of positions may be trusted: plans are made again and
checkpoints set aside, under a new incarnation of the journal.
"""

from __future__ import annotations

from tidings.pipeline.plans.plans import Plans
from tidings.store import Store


def was_put_back(store: Store, plans: Plans) -> bool:
    """Where the newest plan covers a position that the journal has not reached, or that holds another entry there."""
    known = plans.newest()
    if known is None or known.incarnation != store.incarnation():
        return False
    if store.tail() < known.covers:
        return True
    found = store.fingerprint(known.covers)
    return bool(found and known.fingerprint) and found != known.fingerprint
