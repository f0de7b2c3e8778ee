"""Columns of times: in which form, and with how much junk among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from tidings.feeds.inference.guess import Guess, are_most
from tidings.feeds.mapping.mapping import Reading
from tidings.feeds.records.conversion import Unconvertible, instant
from tidings.schema import Instant, Kind

_HOURS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
_DAYS = (
    "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%b-%d-%Y", "%d-%b-%y", "%b-%d-%y", "%d.%m.%Y",
    "%Y/%m/%d",
)  # fmt: skip
_FORMS = ("%Y-%m-%d %H:%M:%S %z", "rfc822", *(f"{day}{hour}" for day in _DAYS for hour in _HOURS))
_EITHER_WAY = tuple(  # the day first, or the month
    (f"%d/%m/%Y{hour}", f"%m/%d/%Y{hour}") for hour in (*_HOURS, " %I:%M %p", " %I:%M:%S %p")
)
_LOOKS_LIKE_TIME = re.compile(r"\d{4}-\d\d-\d\d")
_MAY_BE_TIME = re.compile(r"(?=.*\d).{4,40}")
_TRIED = 200  # texts, before all of a column are read in one form

Form: TypeAlias = tuple[str, ...]


def times(texts: list[str], reading: Reading) -> Guess | None:
    """All are times, in one form or in those that the reading names."""
    for form in _forms(reading, all(map(_LOOKS_LIKE_TIME.match, texts))):
        if _instants(texts, form, reading.zone) is not None:
            return Guess(Kind.TIME, replace(reading, time_format=form))
    for day_first, month_first in () if reading.time_format else _EITHER_WAY:
        one, other = (_instants(texts, (form,), reading.zone) for form in (day_first, month_first))
        if (one is None) != (other is None) or (one is not None and one == other):
            return Guess(Kind.TIME, replace(reading, time_format=(day_first if one is not None else month_first,)))
    return None


def mostly_times(texts: list[str], reading: Reading) -> Guess | None:
    """Times with some junk among them."""
    if not are_most(sum(map(bool, map(_MAY_BE_TIME.fullmatch, texts))), len(texts)):
        return None
    looks = sum(map(bool, map(_LOOKS_LIKE_TIME.match, texts)))
    for form in _forms(reading, are_most(looks, len(texts))):
        if (junk := _junk(texts, form, reading.zone)) is not None:
            return Guess(Kind.TIME, replace(reading, time_format=form), junk=junk)
    for pair in () if reading.time_format else _EITHER_WAY:
        found = [(form, junk) for form in pair if (junk := _junk(texts, (form,), reading.zone)) is not None]
        if len(found) == 1:  # else nobody knows which it is
            return Guess(Kind.TIME, replace(reading, time_format=(found[0][0],)), junk=found[0][1])
    return None


def _forms(reading: Reading, iso: bool) -> Iterator[Form]:
    if reading.time_format:
        yield reading.time_format
        return
    if iso:
        yield ()
    yield from ((form,) for form in _FORMS)


def _junk(texts: list[str], forms: Form, zone: str) -> tuple[str, ...] | None:
    """The texts that are no times in these forms; None: too many are not."""
    some = texts[:: max(1, len(texts) // _TRIED)]
    for tried in (some, texts):
        wrong = [text for text in tried if not _is_read(text, forms, zone)]
        if not are_most(len(tried) - len(wrong), len(tried)):
            return None
    return tuple(dict.fromkeys(wrong))


def _instants(texts: list[str], forms: Form, zone: str) -> list[Instant] | None:
    """None: some cannot be read in these forms."""
    try:
        return [instant(text, forms, zone) for text in texts]
    except Unconvertible:
        return None


def _is_read(text: str, forms: Form, zone: str) -> bool:
    return _instants([text], forms, zone) is not None
