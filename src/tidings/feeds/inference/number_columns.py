"""Columns of numbers: with which decimal sign and unit, and with how much junk among them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from tidings.feeds.inference.guess import Guess, are_most
from tidings.feeds.mapping.mapping import Reading
from tidings.feeds.records.conversion import Unconvertible, number
from tidings.feeds.records.numbers import LONGEST_NUMBER, NO_UNIT, unit_in
from tidings.schema import Kind

_FEWEST_NUMBERS = 10  # different ones, before the rest of the column is junk: `4`, `6`, `8` and `rotary` are a list
_COMMA_IS_DECIMAL = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,})(?!\d)|(?<![\d.,])0,\d|\d{4,},\d")
_POINT_IS_DECIMAL = re.compile(r"\d\.(?:\d{1,2}|\d{4,})(?![\d.])|,\d{3}\.\d|(?<![\d.,])0\.\d|\d{4,}\.\d")
_TELEPHONE = re.compile(r"\+?\d{1,4}(?: \d{2,4}){2,}")  # `210 123 456`; amounts so large differ in length
_CODE = re.compile(r"[^\W\d_]{1,2}[ -]?\d+|\d+[ -]?[^\W\d_]{1,2}")  # `12a`, `A4`: then the numbers are codes too
_OF_ADDRESSES = frozenset("/:#_@=&?")  # with which no amount is written


def numeric(texts: list[str], reading: Reading) -> Guess | None:
    """All are numbers with the same words around them; what begins with a zero is a code."""
    if any(len(text) > LONGEST_NUMBER for text in texts):  # the searches below would take seconds for one of 20,000
        return None
    around = {_words_around(text) for text in texts[:1_000]}
    if len(around) > 1 or any(len(word) > 10 or set(word) & _OF_ADDRESSES for word in around):
        return None
    if any(re.match(r"0\d", text) for text in texts) or not _is_currency(texts[0]):
        return None
    if all(_TELEPHONE.fullmatch(text) for text in texts) and len({len(text) for text in texts}) == 1:
        return None
    commas, points = signs(texts)
    chosen = reading if commas == points else replace(reading, decimal="," if commas > points else ".")
    if not all(_is_read(text, chosen.decimal, reading.unit) for text in texts):
        return None
    units = reading.unit or tuple(sorted({unit_in(text) for text in texts} - {""}))
    return Guess(Kind.NUMERIC, replace(chosen, unit=units))


def mostly_numeric(texts: list[str], reading: Reading) -> Guess | None:
    """Numbers with some junk among them, as `nicht unter 5000` among prices."""
    counted = Counter(map(_words_around, texts))
    words, count = counted.most_common(1)[0]
    if not are_most(count, len(texts)):
        return None
    alike = [text for text in texts if _words_around(text) == words and _may_be_number(text, reading)]
    if not are_most(len(alike), len(texts)) or len(set(alike)) < _FEWEST_NUMBERS:
        return None
    found, numbers = numeric(alike, reading), set(alike)
    junk = tuple(dict.fromkeys(text for text in texts if text not in numbers))
    if found is None or any(_CODE.fullmatch(text) for text in junk):
        return None
    # Without this, `EUR 900` among bare numbers would be read as one of them.
    units = found.reading.unit or ((NO_UNIT,) if any(_may_be_number(text, reading) for text in junk) else ())
    return replace(found, reading=replace(found.reading, unit=units), junk=junk)


def is_numeric(texts: list[str]) -> bool:
    """With one decimal sign or the other."""
    return bool(texts) and any(numeric(texts, Reading(decimal=sign)) for sign in (".", ","))


def signs(texts: list[str]) -> tuple[int, int]:
    """In how many a comma, and in how many a point, must be the decimal one."""
    commas = sum(bool(_COMMA_IS_DECIMAL.search(text)) for text in texts)
    return commas, sum(bool(_POINT_IS_DECIMAL.search(text)) for text in texts)


def _words_around(text: str) -> str:
    return re.sub(r"[\d.,'’\s+\u2010-\u2014\u2212-]+", "", text)


def _may_be_number(text: str, reading: Reading) -> bool:
    return any(_is_read(text, sign, reading.unit) for sign in (".", ","))


def _is_read(text: str, decimal: str, unit: tuple[str, ...]) -> bool:
    try:
        number(text, decimal, unit)
    except Unconvertible:
        return False
    return True


def _is_currency(text: str) -> bool:
    """Whether the words before the digits, which all texts share, may be: `US $`, `EUR`, but not `Car` or `M1`."""
    before = re.match(r"\D*", text)
    words = re.findall(r"[^\W\d_]+", before[0]) if before else []
    return all(len(word) <= 3 and word.isupper() for word in words) and not (before and before[0][-1:].isalpha())
