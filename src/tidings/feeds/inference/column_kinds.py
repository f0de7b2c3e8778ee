"""Which kind a column of values most likely is, and how they have to be read for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidings.feeds.inference.guess import Guess
from tidings.feeds.inference.number_columns import mostly_numeric, numeric
from tidings.feeds.inference.time_columns import mostly_times, times
from tidings.feeds.mapping.mapping import Reading
from tidings.feeds.records.conversion import Unconvertible, as_text, number
from tidings.schema import Kind
from tidings.schema.hierarchy import SEPARATOR, is_node_name

FEWEST_REPEATS = 3  # of an enumeration: average occurrences per value
FEWEST_PATHS = 10  # lists of names, before they are taken for paths
MOST_VALUES = 200
LONGEST_VALUE = 40
LONG_TEXT = 60  # characters on average, from which on it is text

_MISSING = frozenset(("NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "-", "–", "—", "?"))
_BETWEEN_VALUES = ("|", ";", ",")


def guess(values: list[Any], reading: Reading) -> Guess:
    """`values` are what stands in the records; where there are none it is a string."""
    texts = [as_text(value) for value in values]
    if not texts:
        return Guess(Kind.STRING, reading)
    there = there_in(texts)
    if _are_numbers(values):
        return Guess(Kind.NUMERIC, reading)
    if there:
        missing = reading.missing or tuple(sorted(_MISSING.intersection(texts)))
        for reads in (numeric, times, mostly_numeric, mostly_times):
            found = reads(there, reading)
            if found is not None:
                return replace(found, reading=replace(found.reading, missing=missing))
    if _are_paths(texts):
        return Guess(Kind.HIERARCHICAL, reading, SEPARATOR)
    for mark in () if reading.split else _BETWEEN_VALUES:
        parts = [[part.strip() for part in text.split(mark)] for text in texts]
        alone = {listed[0] for listed in parts if len(listed) == 1}
        among = [part for listed in parts for part in listed]
        # If most parts between the marks also occur alone, each part is a value of its own.
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


def there_in(texts: list[str]) -> list[str]:
    """Without those that say that there is no value."""
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
