"""Which kind a column of values most likely is, and how they have to be read for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from tidings.feeds.conversion import Unconvertible, instant, number
from tidings.feeds.mapping import Reading
from tidings.schema import Kind

FEWEST_REPEATS = 3  # of an enumeration: each value stands so often on average
MOST_VALUES = 200
LONGEST_VALUE = 40
LONG_TEXT = 60  # characters on average, from which on it is text

_TIME_FORMS = (
    "%Y-%m-%d %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%d %b %Y %H:%M",
    "%d %b %Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y",
)
_LOOKS_LIKE_TIME = re.compile(r"\d{4}-\d\d-\d\d")
_COMMA_IS_DECIMAL = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}(?!\d)")
_POINT_IS_DECIMAL = re.compile(r"\d\.\d{1,2}(?!\d)|,\d{3}\.\d")
_OF_ADDRESSES = frozenset("/:#_@=&?")  # with which no amount is written
_BETWEEN_VALUES = ("|", ";", ",")


@dataclass(frozen=True, slots=True)
class Guess:
    kind: Kind
    reading: Reading


def guess(values: list[Any], reading: Reading) -> Guess:
    """`values` are what stands in the records, as text; where there are none it is a string."""
    texts = [str(value) for value in values]
    if not texts:
        return Guess(Kind.STRING, reading)
    for found in (_numeric(texts, reading), _time(texts, reading)):
        if found is not None:
            return found
    for mark in () if reading.split else _BETWEEN_VALUES:
        parts = [[part.strip() for part in text.split(mark)] for text in texts]
        alone = {listed[0] for listed in parts if len(listed) == 1}
        among = [part for listed in parts for part in listed]
        # Where what stands between the marks mostly stands alone elsewhere, it is a value of its own.
        if len(among) > len(texts) and 2 * len(alone) >= len(set(among)) and _repeat(among):
            return Guess(Kind.ENUMERATED, replace(reading, split=mark))
    if _repeat(texts):
        return Guess(Kind.ENUMERATED, reading)
    if sum(map(len, texts)) > LONG_TEXT * len(texts):
        return Guess(Kind.TEXT, reading)
    return Guess(Kind.STRING, reading)


def _repeat(texts: list[str]) -> bool:
    """Whether they are few short words that come again and again."""
    different = set(texts)
    if len(different) > MOST_VALUES or len(texts) < FEWEST_REPEATS * len(different):
        return False
    return all(0 < len(text) <= LONGEST_VALUE and text.isprintable() for text in different)


def _numeric(texts: list[str], reading: Reading) -> Guess | None:
    """All are numbers with the same words around them; what begins with a zero is a code."""
    around = {re.sub(r"[\d.,'’\s+\u2212-]+", "", text) for text in texts[:1_000]}
    if len(around) > 1 or any(len(word) > 10 or set(word) & _OF_ADDRESSES for word in around):
        return None
    if any(re.match(r"0\d", text) for text in texts) or not _is_currency(texts[0]):
        return None
    commas = sum(bool(_COMMA_IS_DECIMAL.search(text)) for text in texts)
    points = sum(bool(_POINT_IS_DECIMAL.search(text)) for text in texts)
    chosen = replace(reading, decimal="," if commas > points else reading.decimal)
    try:
        for text in texts:
            number(text, chosen.decimal)
    except Unconvertible:
        return None
    return Guess(Kind.NUMERIC, chosen)


def _is_currency(text: str) -> bool:
    """Whether the words before the digits, which all texts share, may be: `US $`, `EUR`, but not `Car`."""
    before = re.match(r"\D*", text)
    words = re.findall(r"[^\W\d_]+", before[0]) if before else []
    return all(len(word) <= 3 and word.isupper() for word in words)


def _time(texts: list[str], reading: Reading) -> Guess | None:
    forms = [reading.time_format] if reading.time_format else [*_TIME_FORMS]
    if not reading.time_format and all(_LOOKS_LIKE_TIME.match(text) for text in texts):
        forms.insert(0, "")
    for form in forms:
        try:
            for text in texts:
                instant(text, form, reading.zone)
        except Unconvertible:
            continue
        return Guess(Kind.TIME, replace(reading, time_format=form))
    return None
