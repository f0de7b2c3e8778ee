"""Which kind a column of values most likely is, and how they have to be read for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from tidings.feeds.mapping.mapping import Reading
from tidings.feeds.records.conversion import Unconvertible, as_text, instant, number
from tidings.feeds.records.numbers import unit_in
from tidings.schema import Instant, Kind
from tidings.schema.hierarchy import SEPARATOR, is_node_name

FEWEST_REPEATS = 3  # of an enumeration: each value stands so often on average
FEWEST_PATHS = 10  # lists of names, before they are taken for paths
MOST_VALUES = 200
LONGEST_VALUE = 40
LONG_TEXT = 60  # characters on average, from which on it is text

_TIME_FORMS = (
    "%Y-%m-%d %H:%M:%S %z",
    "rfc822",
    *(
        f"{day}{hour}"
        for day in ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d.%m.%Y", "%Y/%m/%d")
        for hour in ("", " %H:%M", " %H:%M:%S")
    ),
)
_EITHER_WAY = tuple(  # the day first, or the month
    (f"%d/%m/%Y{hour}", f"%m/%d/%Y{hour}") for hour in ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
)
_MISSING = frozenset(("NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "-", "–", "—", "?"))
_LOOKS_LIKE_TIME = re.compile(r"\d{4}-\d\d-\d\d")
_COMMA_IS_DECIMAL = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,})(?!\d)|(?<![\d.,])0,\d|\d{4,},\d")
_POINT_IS_DECIMAL = re.compile(r"\d\.(?:\d{1,2}|\d{4,})(?![\d.])|,\d{3}\.\d|(?<![\d.,])0\.\d|\d{4,}\.\d")
_TELEPHONE = re.compile(r"\+?\d{1,4}(?: \d{2,4}){2,}")  # `210 123 456`; amounts so large differ in length
_OF_ADDRESSES = frozenset("/:#_@=&?")  # with which no amount is written
_BETWEEN_VALUES = ("|", ";", ",")


@dataclass(frozen=True, slots=True)
class Guess:
    """`path` is what stands between the names of a category's path."""

    kind: Kind
    reading: Reading
    path: str = ""


def guess(values: list[Any], reading: Reading) -> Guess:
    """`values` are what stands in the records; where there are none it is a string."""
    texts = [as_text(value) for value in values]
    if not texts:
        return Guess(Kind.STRING, reading)
    there = _there(texts)
    if _are_numbers(values):
        return Guess(Kind.NUMERIC, reading)
    if there:
        missing = reading.missing or tuple(sorted(_MISSING.intersection(texts)))
        for found in (_numeric(there, reading), _time(there, reading)):
            if found is not None:
                return replace(found, reading=replace(found.reading, missing=missing))
    if _are_paths(texts):
        return Guess(Kind.HIERARCHICAL, reading, SEPARATOR)
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


def _are_numbers(values: list[Any]) -> bool:
    """Whether they are so already, as those of JSON, whatever their texts look like."""
    try:
        return all(isinstance(value, int | float) and number(value) is not None for value in values)
    except Unconvertible:
        return False


def is_numeric(texts: list[str]) -> bool:
    """With one decimal sign or the other."""
    there = _there(texts)
    return bool(there) and any(_numeric(there, Reading(decimal=sign)) for sign in (".", ","))


def _there(texts: list[str]) -> list[str]:
    return [text for text in texts if text not in _MISSING]


def _are_paths(texts: list[str]) -> bool:
    """Whether most have several names, of which the first are few and come again."""
    paths = {tuple(name.strip() for name in text.split(SEPARATOR.strip())) for text in texts}
    if 2 * sum(SEPARATOR in text for text in texts) < len(texts) or not all(name for path in paths for name in path):
        return False
    return 2 * len({path[0] for path in paths}) <= len(paths)


def are_list_paths(lists: list[list[Any]]) -> bool:
    """Whether lists of texts, as JSON has them, are paths: what stands first in one stands first in all others."""
    long = [one for one in lists if len(one) > 1]
    if (
        len(long) < FEWEST_PATHS
        or 2 * len(long) < len(lists)
        or not all(_is_name(name) for one in lists for name in one)
    ):
        return False
    first, later = {one[0] for one in lists}, {name for one in long for name in one[1:]}
    return not first & later and 2 * len(first) <= len(later)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and is_node_name(value.strip())


def _repeat(texts: list[str]) -> bool:
    """Whether they are few short words that come again and again."""
    different = set(texts)
    if len(different) > MOST_VALUES or len(texts) < FEWEST_REPEATS * len(different):
        return False
    return all(0 < len(text) <= LONGEST_VALUE and text.isprintable() for text in different)


def _numeric(texts: list[str], reading: Reading) -> Guess | None:
    """All are numbers with the same words around them; what begins with a zero is a code."""
    around = {re.sub(r"[\d.,'’\s+\u2010-\u2014\u2212-]+", "", text) for text in texts[:1_000]}
    if len(around) > 1 or any(len(word) > 10 or set(word) & _OF_ADDRESSES for word in around):
        return None
    if any(re.match(r"0\d", text) for text in texts) or not _is_currency(texts[0]):
        return None
    if all(_TELEPHONE.fullmatch(text) for text in texts) and len({len(text) for text in texts}) == 1:
        return None
    commas, points = signs(texts)
    chosen = reading if commas == points else replace(reading, decimal="," if commas > points else ".")
    try:
        for text in texts:
            number(text, chosen.decimal, reading.unit)
    except Unconvertible:
        return None
    units = reading.unit or tuple(sorted({unit_in(text) for text in texts} - {""}))
    return Guess(Kind.NUMERIC, replace(chosen, unit=units))


def signs(texts: list[str]) -> tuple[int, int]:
    """In how many a comma, and in how many a point, must be the decimal one."""
    commas = sum(bool(_COMMA_IS_DECIMAL.search(text)) for text in texts)
    return commas, sum(bool(_POINT_IS_DECIMAL.search(text)) for text in texts)


def _is_currency(text: str) -> bool:
    """Whether the words before the digits, which all texts share, may be: `US $`, `EUR`, but not `Car` or `M1`."""
    before = re.match(r"\D*", text)
    words = re.findall(r"[^\W\d_]+", before[0]) if before else []
    return all(len(word) <= 3 and word.isupper() for word in words) and not (before and before[0][-1:].isalpha())


def _time(texts: list[str], reading: Reading) -> Guess | None:
    forms: list[tuple[str, ...]] = [reading.time_format] if reading.time_format else [(form,) for form in _TIME_FORMS]
    if not reading.time_format and all(_LOOKS_LIKE_TIME.match(text) for text in texts):
        forms.insert(0, ())
    for form in forms:
        if _instants(texts, form, reading.zone) is not None:
            return Guess(Kind.TIME, replace(reading, time_format=form))
    for day_first, month_first in () if reading.time_format else _EITHER_WAY:
        one, other = (_instants(texts, (form,), reading.zone) for form in (day_first, month_first))
        if (one is None) != (other is None) or (one is not None and one == other):
            return Guess(Kind.TIME, replace(reading, time_format=(day_first if one is not None else month_first,)))
    return None


def _instants(texts: list[str], forms: tuple[str, ...], zone: str) -> list[Instant] | None:
    """None: some cannot be read in these forms."""
    try:
        return [instant(text, forms, zone) for text in texts]
    except Unconvertible:
        return None
