"""What stands in a record as the value of an event: numbers with currencies and separators, times with zones, text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from tidings.errors import shown
from tidings.feeds.mapping.mapping import Reading
from tidings.schema import Instant, Kind
from tidings.schema.values import number as canonical_number

_LONGEST_NUMBER = 80  # characters, with the currency
_SEPARATED = {  # no thousands follow a lone zero: `0,125` is a decimal comma
    ".": re.compile(r"(?<=\d)(?<!(?<![\d.,])0)[,'’_\s](?=\d{3}(?!\d))"),
    ",": re.compile(r"(?<=\d)(?<!(?<![\d.,])0)[.'’_\s](?=\d{3}(?!\d))"),
}
_SUPERSCRIPT = re.compile(r"[\u00b2\u00b3\u00b9\u2070-\u207f]")  # of a unit, as in m², or of a footnote
_DASH = re.compile(r"^(\D*)[\u2010-\u2014](?=[$£€¥]?\.?\d)")  # which many write for a minus
_SIZE = re.compile(r"(?:[kKMB]|\s?(?i:bn|millions?|billions?))(?![^\W\d_])")
_WITH_DIGITS = re.compile(r"(?:(?<=[\s/·])[^\W\d_]+\d{1,2}|^(?:[kcdm]?m|ft|in)[23])(?!\w)")  # m2, CO2
_UTC_NAMED = re.compile(r"\s*\b(?:GMT|UTC)$", re.IGNORECASE)
_MAILED = re.compile(r"\s*(?:[A-Za-z]{3},?\s*)?\d{1,2}\s+[A-Za-z]{3}\s+\d{2,4}\s+\d{1,2}:\d\d")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_DIGITS = re.compile(r"(?P<digits>\d+(?:\.\d+)?|\.\d+)(?P<exponent>[eE][+-]?\d{1,3}(?![\w.]))?")


class Unconvertible(ValueError):
    """A value of a record cannot be read as the mapping says: the value and the reason."""


def converted(found: Iterable[Any], reading: Reading, kind: Kind) -> Iterator[int | float | str]:
    """The values of an attribute; what is empty is no value. Raises Unconvertible."""
    for part in parts(found, reading):
        if kind is Kind.NUMERIC:
            yield number(part, reading.decimal)
        elif kind is Kind.TIME:
            yield str(instant(part, reading.time_format, reading.zone))
        else:
            yield as_text(part)


def parts(found: Iterable[Any], reading: Reading) -> Iterator[Any]:
    """What stands there, cut, stripped and lowered, but not yet read."""
    for raw in (reading.constant,) if reading.constant is not None else found:
        yield from _parts(raw, reading)


def _parts(raw: Any, reading: Reading) -> Iterator[Any]:
    """What is left after cutting, stripping and lowering; texts that are empty then are not there."""
    if raw is None:
        return
    if isinstance(raw, list):
        for one in raw:
            yield from _parts(one, reading) if not isinstance(one, list) else (one,)
        return
    if not isinstance(raw, str):
        if not is_missing(raw, reading.missing):
            yield raw
        return
    for part in raw.split(reading.split) if reading.split else (raw,):
        text = part.strip() if reading.strip else part
        if text and text not in reading.missing:
            yield text.lower() if reading.lower else text


def is_missing(raw: Any, missing: tuple[str, ...]) -> bool:
    """Whether it says that there is no value; a number is compared as it is written, `-999` also as -999.0."""
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw)) in missing or str(raw) in missing
    return isinstance(raw, str | bool | int | float) and as_text(raw) in missing


def number(raw: Any, decimal: str = ".") -> int | float:
    """`1,299.00`, `US $5`, `12 %`; raises Unconvertible where there is not exactly one number."""
    try:
        if isinstance(raw, str):
            return canonical_number(_number_in(raw, decimal))
        return canonical_number(raw)
    except ValueError as problem:
        raise Unconvertible(f"{shown(raw)} cannot be read as a number: {problem}") from None


def _number_in(text: str, decimal: str) -> int | float:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("it is too long for one")
    plain = unicodedata.normalize("NFKC", _SUPERSCRIPT.sub("", text)).replace("\u2212", "-").strip()
    plain = _DASH.sub(r"\1-", plain)
    plain = _SEPARATED[decimal].sub("", plain)
    if decimal == ",":
        plain = plain.replace(",", ".")
    found = _DIGITS.search(plain)
    if found is None:
        raise ValueError("it has no digits")
    before, after = plain[: found.start()], plain[found.end() :]
    if any(character.isdigit() for character in _WITH_DIGITS.sub("", after)):
        raise ValueError("it has several numbers, or separators at odd places")
    if after.strip() == "-" or before.count("(") > before.count(")"):
        raise ValueError("whether it is below zero is not clear")  # bookkeepers write (5) and 5-
    if size := _SIZE.match(after):
        raise ValueError(f"{size[0].strip()!r} after it may stand for thousands or millions; it has to be written out")
    sign = _sign(before)
    digits = found["digits"] + (found["exponent"] or "")
    value = float(digits) if not digits.isdecimal() else int(digits)
    return -value if sign == "-" else value


def _sign(before: str) -> str:
    """Of what stands before the digits: `-`, `- $`, `$ -` have one, the hyphen of `part-5` is none."""
    if before.startswith(("-", "+")):
        return before[0]
    if before.endswith(("-", "+")):
        last = before[:-1][-1:]
        if not last or last.isspace() or unicodedata.category(last) == "Sc":
            return before[-1]
        raise ValueError("it is a word with digits")
    return "+"


def instant(raw: Any, form: str = "", zone: str = "") -> Instant:
    """By `strptime`'s form or in ISO 8601, or by `rfc822`, `epoch` or `epoch-ms`; raises Unconvertible."""
    try:
        if form in ("epoch", "epoch-ms"):
            seconds = float(raw) / (1_000 if form == "epoch-ms" else 1)
            return Instant.of(datetime.fromtimestamp(seconds, UTC))
        if not isinstance(raw, str):
            raise ValueError('it is no text; `time_format = "epoch"` reads seconds since 1970')
        iso = not form or (_ISO.match(raw) and not form.startswith("%Y-"))  # which nothing else looks like
        if iso:
            moment = datetime.fromisoformat(_UTC_NAMED.sub("+00:00", raw))
        elif form == "rfc822":
            moment = _mailed(raw)
        else:
            moment = datetime.strptime(_UTC_NAMED.sub(" +0000", raw) if form.endswith("%z") else raw, form)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=_zone(zone))
        return Instant.of(moment)
    except (ValueError, TypeError, OverflowError, OSError, re.error) as problem:
        raise Unconvertible(f"{shown(raw)} cannot be read as a time: {problem}") from None


def _mailed(text: str) -> datetime:
    """As in mails and RSS: `Fri, 01 May 2026 10:00:00 GMT`."""
    if not _MAILED.match(text):
        raise ValueError("it does not look like 'Fri, 01 May 2026 10:00:00 GMT'")
    moment = parsedate_to_datetime(text)
    if moment.tzinfo is None and text.rstrip()[-1:].isalpha():
        raise ValueError(f"the zone {text.split()[-1]!r} is not known")
    return moment


@lru_cache(maxsize=100)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name or "UTC")


def as_text(raw: Any) -> str:
    """Text as it is, a number or Boolean as JSON writes it; raises Unconvertible for what is nested."""
    match raw:
        case str():
            return raw
        case bool() | int() | float():
            return json.dumps(raw)
        case _:
            raise Unconvertible(f"{shown(raw)} is no single value")
