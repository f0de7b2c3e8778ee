"""What the members of a subscription or a quota must be for the tables of both databases to hold and find them."""

from __future__ import annotations

from tidings.schema.values import Instant, is_text
from tidings.store.errors import UnfitQuota, UnfitSubscription
from tidings.store.journal.entries import KEEP, Edit, Keep, Subscribe

LONGEST_ID = 500  # characters of an id or an owner: PostgreSQL's index takes 2,700 bytes
LONGEST_DELIVERY = 10_000
LARGEST_QUOTA = 10**12


def is_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID and value.isprintable()


def check_members(draft: Subscribe) -> None:
    """All but the filter; raises UnfitSubscription."""
    if not is_id(draft.id):
        raise UnfitSubscription(str(draft.id), "id", f"text of 1 to {LONGEST_ID} printable characters")
    if not _fits(draft.owner, LONGEST_ID):
        raise UnfitSubscription(draft.id, "owner", f"text of at most {LONGEST_ID} characters, none of them zero")
    _check_delivery(draft.id, draft.delivery)
    _check_expiry(draft.id, draft.expiry)


def check_edit(draft: Edit) -> None:
    """All but the filter, and that there is something to change; raises UnfitSubscription."""
    if draft.filter is None and draft.expiry is draft.delivery is draft.state is draft.channel is KEEP:
        raise UnfitSubscription(draft.id, "edit", "of its filter, expiry, delivery, state or channel")
    if draft.state not in (KEEP, "active", "paused"):
        raise UnfitSubscription(draft.id, "state", "'active' or 'paused'")
    if not isinstance(draft.expiry, Keep):
        _check_expiry(draft.id, draft.expiry)
    if not isinstance(draft.delivery, Keep):
        _check_delivery(draft.id, draft.delivery)


def check_filter(id: str, filter: object) -> None:
    """Its length is the parser's business; raises UnfitSubscription."""
    if not isinstance(filter, str) or not is_text(filter) or "\0" in filter:
        raise UnfitSubscription(id, "filter", "text without zero characters or halves of surrogate pairs")


def check_quota(account: object, matches: object) -> None:
    """Raises UnfitQuota."""
    if account != "" and not is_id(account):
        raise UnfitQuota("account", f"text of 1 to {LONGEST_ID} printable characters")
    if not isinstance(matches, int) or isinstance(matches, bool) or not 0 <= matches <= LARGEST_QUOTA:
        raise UnfitQuota("matches_per_minute", f"a whole number from 0 (any number) to {LARGEST_QUOTA:,}")


def _check_delivery(id: str, delivery: object) -> None:
    if not _fits(delivery, LONGEST_DELIVERY):
        legal = f"text of at most {LONGEST_DELIVERY:,} characters, none of them zero"
        raise UnfitSubscription(id, "delivery", legal)


def _check_expiry(id: str, expiry: object) -> None:
    if expiry is not None and not _is_instant(expiry):
        raise UnfitSubscription(id, "expiry", "an Instant in the years 1 to 9999")


def _fits(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and "\0" not in value and is_text(value)


def _is_instant(value: object) -> bool:
    try:
        return isinstance(value, Instant) and bool(str(value))
    except OverflowError:
        return False
