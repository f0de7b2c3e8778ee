"""What stands in a record as the value of an event: numbers with currencies and separators, times with zones, text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from tidings.errors import shown
from tidings.feeds.mapping.mapping import Reading
from tidings.feeds.records.numbers import NotANumber, number_in
from tidings.feeds.records.patterns import NoMatch, matched
from tidings.schema import Instant, Kind
from tidings.schema.values import Place, is_text
from tidings.schema.values import number as canonical_number

_MOST_KEPT = 10_000  # texts of one attribute whose values are remembered: most columns repeat themselves
_LONGEST_KEPT = 100  # characters of such a text
_LONGEST_TIME = 200  # characters; the searches below would take seconds for 30,000 blanks
_UTC_NAMED = re.compile(r"\s*\b(?:GMT|UTC)$", re.IGNORECASE)
_MAILED = re.compile(r"\s*(?:[A-Za-z]{3},?\s*)?\d{1,2}\s+[A-Za-z]{3}\s+\d{2,4}\s+\d{1,2}:\d\d")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")

Value: TypeAlias = int | float | str


class Unconvertible(ValueError):
    """A value of a record cannot be read as the mapping says: the reason, and the fault under which it is counted."""

    def __init__(self, problem: str, fault: str) -> None:
        super().__init__(problem, fault)

    @property
    def fault(self) -> str:
        return str(self.args[1])

    def __str__(self) -> str:
        return str(self.args[0])


class Converter:
    """Reads the values of one attribute. What it read lately is remembered, since most columns repeat themselves."""

    def __init__(self, reading: Reading, kind: Kind) -> None:
        self._reading = reading
        self._read = _reader(reading, kind)
        self.known: dict[str | int, Converted] = {}
        self._missing = frozenset(reading.missing)
        self._is_text = kind not in (Kind.NUMERIC, Kind.TIME, Kind.PLACE)
        # The fast path: most values need no conversion.
        self._as_it_is = not (reading.split or reading.pattern or reading.replace or reading.lower)
        is_plain = self._as_it_is and reading.strip and reading.constant is None
        self.quick = _quick(kind, self._missing) if is_plain else None

    def values(self, found: Sequence[Any]) -> Converted:
        """Each value once, and what could not be read; an empty text is no value."""
        if self._reading.constant is not None:
            found = (self._reading.constant,)
        if len(found) == 1:
            one = found[0]
            if type(one) is str or type(one) is int:
                return self.single(one)
            if type(one) is float and self._as_it_is and not self._missing:
                return self._one(one) or self._converted(found)
        return self._converted(found)

    def single(self, one: str | int) -> Converted:
        """What one text or integer says."""
        known = self.known.get(one)
        if known is None:
            known = (self._as_it_is and self._plainly(one)) or self._converted((one,))
            if len(self.known) >= _MOST_KEPT:
                self.known.clear()
            if type(one) is int or len(one) <= _LONGEST_KEPT:  # type: ignore[arg-type]
                self.known[one] = known
        return known

    def _plainly(self, one: str | int) -> Converted | None:
        if not isinstance(one, str):
            return None if self._missing else self._one(one)
        whole = one.strip() if self._reading.strip else one
        if not whole or whole in self._missing:
            return NOTHING
        return Converted((whole,), ()) if self._is_text and whole.isascii() else self._one(whole)

    def _one(self, whole: Any) -> Converted | None:
        """None where it cannot be read, which `_converted` tells."""
        try:
            return Converted((self._read(whole),), ())
        except Unconvertible:
            return None

    def _converted(self, found: Iterable[Any]) -> Converted:
        read: list[Value] = []
        wrong: list[Unconvertible] = []
        for part in _cut(found, self._reading):
            try:
                whole = _finished(part, self._reading) if isinstance(part, str) else part
                if whole is not None:
                    read.append(self._read(whole))
            except Unconvertible as problem:
                wrong.append(problem)
        return Converted(tuple(dict.fromkeys(read)), tuple(wrong))


class Converted(NamedTuple):
    values: tuple[Value, ...]
    wrong: tuple[Unconvertible, ...]


NOTHING = Converted((), ())


def converted(found: Sequence[Any], reading: Reading, kind: Kind) -> tuple[Value, ...]:
    """The values of an attribute. Raises the first Unconvertible."""
    read = Converter(reading, kind).values(found)
    for problem in read.wrong:
        raise problem
    return read.values


def _reader(reading: Reading, kind: Kind) -> Callable[[Any], Value]:
    match kind:
        case Kind.NUMERIC:
            return lambda part: (
                int(part)
                if type(part) is str and len(part) <= 15 and part.isdigit() and part.isascii()
                else number(part, reading.decimal, reading.unit)
            )
        case Kind.TIME:
            return lambda part: str(instant(part, reading.time_format, reading.zone))
        case Kind.PLACE:
            return lambda part: place(part, reading.decimal, reading.missing)
        case _:
            return _text


def _text(raw: Any) -> str:
    text = as_text(raw)
    if not is_text(text):
        raise Unconvertible(f"{shown(text)} has bytes that are not text in the encoding of its file", "not text")
    return text


def _quick(kind: Kind, missing: frozenset[str]) -> Callable[[str], Value | None] | None:
    """Reads texts that need no conversion, and integers, in less time than it takes to remember them; None where it
    does not know."""

    def text(raw: str) -> str | None:
        whole = raw.strip()
        return whole if whole and whole.isascii() and whole not in missing else None

    def integer(raw: str) -> int | None:
        return int(raw) if len(raw) <= 15 and raw.isdigit() and raw.isascii() and raw not in missing else None

    return None if kind in (Kind.TIME, Kind.PLACE) else integer if kind is Kind.NUMERIC else text


def parts(found: Iterable[Any], reading: Reading) -> Iterator[Any]:
    """What stands there, cut, stripped, replaced and lowered, but not yet read; what no pattern matches is left out."""
    for part in _cut((reading.constant,) if reading.constant is not None else found, reading):
        try:
            whole = _finished(part, reading) if isinstance(part, str) else part
        except Unconvertible:
            continue
        if whole is not None:
            yield whole


def _cut(found: Iterable[Any], reading: Reading) -> Iterator[Any]:
    """Single values; texts that are empty, or say that there is no value, are not there."""
    for raw in found:
        if raw is None:
            continue
        if isinstance(raw, list):
            for one in raw:
                yield from (one,) if isinstance(one, list) else _cut((one,), reading)
        elif not isinstance(raw, str):
            if not is_missing(raw, reading.missing):
                yield raw
        else:
            for part in raw.split(reading.split) if reading.split else (raw,):
                text = part.strip() if reading.strip else part
                if text and text not in reading.missing:
                    yield text


def _finished(text: str, reading: Reading) -> str | None:
    """After pattern, replacement and lowering; None: then there is no value. Raises Unconvertible."""
    if reading.pattern:
        try:
            text = matched(text, reading.pattern)
        except NoMatch as problem:
            raise Unconvertible(str(problem), problem.fault) from None
    for old, new in reading.replace:
        if text == old:
            text = new
            break
    if not text or text in reading.missing:
        return None
    return text.lower() if reading.lower else text


def is_missing(raw: Any, missing: tuple[str, ...]) -> bool:
    """Whether it says that there is no value; a number is compared as it is written, `-999` also as -999.0."""
    if not missing:
        return False
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw)) in missing or str(raw) in missing
    return isinstance(raw, str | bool | int | float) and as_text(raw) in missing


def number(raw: Any, decimal: str = ".", units: tuple[str, ...] = ()) -> int | float:
    """`1,299.00`, `US $5`, `12 %`; raises Unconvertible unless the whole text is a number, with a unit at most."""
    try:
        return canonical_number(number_in(raw, decimal, units) if isinstance(raw, str) else raw)
    except ValueError as problem:
        fault = problem.fault if isinstance(problem, NotANumber) else "not a number"
        raise Unconvertible(f"{shown(raw)} cannot be read as a number: {problem}", fault) from None


def place(raw: Any, decimal: str = ".", missing: tuple[str, ...] = ()) -> Place:
    """Of a pair, the latitude first, or a text such as `37.8, -122.4`. Raises Unconvertible."""
    try:
        if isinstance(raw, str):
            return Place.parse(raw)
        if not isinstance(raw, tuple) or any(is_empty(one, missing) for one in raw):
            raise ValueError("expected a latitude and a longitude")
        return Place.of(*(number(one, decimal) for one in raw))
    except ValueError as problem:
        raise Unconvertible(f"{shown(raw)} cannot be read as a place: {problem}", "not a place") from None


def is_empty(raw: Any, missing: tuple[str, ...] = ()) -> bool:
    """Whether there is no value."""
    return raw is None or (isinstance(raw, str) and not raw.strip()) or is_missing(raw, missing)


def instant(raw: Any, forms: tuple[str, ...] = (), zone: str = "") -> Instant:
    """By the first form that fits; none: ISO 8601. Raises Unconvertible, with what the first form says."""
    first: Unconvertible | None = None
    for form in forms or ("",):
        try:
            return _instant(raw, form, zone)
        except Unconvertible as problem:
            first = first or problem
    assert first is not None
    raise first


def _instant(raw: Any, form: str, zone: str) -> Instant:
    """By `strptime`'s form or in ISO 8601, or by `rfc822`, `epoch` or `epoch-ms`."""
    try:
        if form in ("epoch", "epoch-ms"):
            seconds = float(raw) / (1_000 if form == "epoch-ms" else 1)
            return Instant.of(datetime.fromtimestamp(seconds, UTC))
        if not isinstance(raw, str):
            raise ValueError('it is not text; `time_format = "epoch"` reads seconds since 1970')
        if len(raw) > _LONGEST_TIME:
            raise ValueError("it is too long; `pattern` can extract the time")
        iso = not form or (_ISO.match(raw) and not form.startswith("%Y-"))  # which nothing else looks like
        if iso:
            moment = datetime.fromisoformat(_UTC_NAMED.sub("+00:00", raw))
        elif form == "rfc822":
            moment = _mailed(raw)
        elif (plain := _by_numbers(form)) is not None and (found := plain.fullmatch(raw)) is not None:
            parts = {name: int(digits) for name, digits in found.groupdict().items()}
            moment = datetime(
                parts["Y"], parts["m"], parts["d"], parts.get("H", 0), parts.get("M", 0), parts.get("S", 0)
            )
        else:
            moment = datetime.strptime(_UTC_NAMED.sub(" +0000", raw) if form.endswith("%z") else raw, form)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=_zone(zone))
        return Instant.of(moment)
    except (ValueError, TypeError, OverflowError, OSError, re.error) as problem:
        raise Unconvertible(f"{shown(raw)} cannot be read as a time: {problem}", "not a time") from None


@lru_cache(maxsize=100)
def _by_numbers(form: str) -> re.Pattern[str] | None:
    """For forms of numbers alone, such as `%d.%m.%Y %H:%M`, which `strptime` reads eight times as slowly; None: others.
    What the pattern does not match is left to `strptime`, which says why."""
    codes = re.findall(r"%(.)", form)
    if not {"Y", "m", "d"} <= set(codes) <= set("YmdHMS") or len(set(codes)) < len(codes):
        return None
    pattern = re.escape(form).replace(r"\ ", " ")
    for code in codes:
        digits = "[0-9]{4}" if code == "Y" else "[0-9]{2}"
        pattern = pattern.replace(f"%{code}", f"(?P<{code}>{digits})", 1)
    return re.compile(pattern)


def _mailed(text: str) -> datetime:
    """As in mails and RSS: `Fri, 01 May 2026 10:00:00 GMT`."""
    if not _MAILED.match(text):
        raise ValueError("expected e.g. 'Fri, 01 May 2026 10:00:00 GMT'")
    moment = parsedate_to_datetime(text)
    if moment.tzinfo is None and text.rstrip()[-1:].isalpha():
        raise ValueError(f"unknown time zone {text.split()[-1]!r}")
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
            raise Unconvertible(f"{shown(raw)} is nested, not a single value", "nested value")
