"""What the members of a subscription, a quota or a profile must be for both databases to hold and find them."""

from __future__ import annotations

from tidings.language.composites.profiles import read_options
from tidings.schema.values import Instant, is_text
from tidings.store.errors import UnfitProfile, UnfitQuota, UnfitSubscription
from tidings.store.journal.entries import KEEP, Edit, Keep, Subscribe

LONGEST_ID = 500  # characters of an id or an owner: PostgreSQL's index takes 2,700 bytes
LONGEST_DELIVERY = 10_000
LONGEST_NAME = 100
LONGEST_NOTE = 2_000
LARGEST_QUOTA = 10**12
_LONGEST_OPTIONS = 1_000
NOT_BOTH = "left out where it has a composite"
_JOINERS = str.maketrans("", "", "\u200c\u200d")  # parts of some words and emoji, which Python calls not printable


def is_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID and value.isprintable()


def check_members(draft: Subscribe) -> None:
    """All but the filter or composite, of which there must be one; raises UnfitSubscription."""
    if not is_id(draft.id):
        raise UnfitSubscription(str(draft.id), "id", f"text of 1 to {LONGEST_ID} printable characters")
    if not _fits(draft.owner, LONGEST_ID):
        raise UnfitSubscription(draft.id, "owner", f"text of at most {LONGEST_ID} characters, none of them U+0000")
    if draft.filter and draft.composite:
        raise UnfitSubscription(draft.id, "filter", NOT_BOTH)
    _check_delivery(draft.id, draft.delivery)
    _check_expiry(draft.id, draft.expiry)
    check_names(draft.id, draft.name, draft.note)


def check_names(id: str, name: object, note: object) -> None:
    """Raises UnfitSubscription."""
    if not isinstance(name, Keep) and not _is_line(name, LONGEST_NAME):
        raise UnfitSubscription(id, "name", f"one line of at most {LONGEST_NAME} printable characters")
    if not isinstance(note, Keep) and not _is_note(note):
        raise UnfitSubscription(id, "note", f"text of at most {LONGEST_NOTE:,} printable characters and line breaks")


def check_edit(draft: Edit) -> None:
    """All but the filter or composite, and that there is something to change; raises UnfitSubscription."""
    kept = draft.expiry, draft.delivery, draft.state, draft.channel, draft.name, draft.note
    if draft.filter is None and draft.composite is None and all(one is KEEP for one in kept):
        of = "of its filter, composite, expiry, delivery, state, channel, name or note"
        raise UnfitSubscription(draft.id, "edit", of)
    if draft.filter is not None and draft.composite is not None:
        raise UnfitSubscription(draft.id, "filter", NOT_BOTH)
    check_names(draft.id, draft.name, draft.note)
    if draft.state not in (KEEP, "active", "paused"):
        raise UnfitSubscription(draft.id, "state", "'active' or 'paused'")
    if not isinstance(draft.expiry, Keep):
        _check_expiry(draft.id, draft.expiry)
    if not isinstance(draft.delivery, Keep):
        _check_delivery(draft.id, draft.delivery)


def check_text(id: str, member: str, text: object) -> None:
    """Of a filter or composite; its length is the parser's business. Raises UnfitSubscription."""
    if not isinstance(text, str) or not is_text(text) or "\0" in text:
        raise UnfitSubscription(id, member, "text without zero characters or unpaired surrogates")


def check_quota(account: object, matches: object) -> None:
    """Raises UnfitQuota."""
    if account != "" and not is_id(account):
        raise UnfitQuota("account", f"text of 1 to {LONGEST_ID} printable characters")
    if not isinstance(matches, int) or isinstance(matches, bool) or not 0 <= matches <= LARGEST_QUOTA:
        raise UnfitQuota("matches_per_minute", f"a whole number from 0 (any number) to {LARGEST_QUOTA:,}")


def check_profile(name: object, options: object) -> None:
    """Raises UnfitProfile or LanguageError."""
    if not is_id(name):
        raise UnfitProfile("name", f"text of 1 to {LONGEST_ID} printable characters")
    if not isinstance(options, str) or len(options) > _LONGEST_OPTIONS:
        raise UnfitProfile("options", "text such as 'within 10 min select last, first'")
    if options:
        read_options(options)


def _check_delivery(id: str, delivery: object) -> None:
    if not _fits(delivery, LONGEST_DELIVERY):
        legal = f"text of at most {LONGEST_DELIVERY:,} characters, none of them U+0000"
        raise UnfitSubscription(id, "delivery", legal)


def _check_expiry(id: str, expiry: object) -> None:
    if expiry is not None and not _is_instant(expiry):
        raise UnfitSubscription(id, "expiry", "an Instant in the years 1 to 9999")


def _fits(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and "\0" not in value and is_text(value)


def _is_line(value: object, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and value.translate(_JOINERS).isprintable()


def _is_note(value: object) -> bool:
    if not isinstance(value, str) or len(value) > LONGEST_NOTE:
        return False
    return all(_is_line(line.replace("\t", " "), LONGEST_NOTE) for line in value.split("\n"))


def _is_instant(value: object) -> bool:
    try:
        return isinstance(value, Instant) and bool(str(value))
    except OverflowError:
        return False
