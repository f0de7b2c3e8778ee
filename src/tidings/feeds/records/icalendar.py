"""The entries of a calendar (RFC 5545, `.ics`): one record for each, with its properties by name.

Times come out as ISO 8601 with the offset of their TZID, a `GEO` as `latitude, longitude`, and `CATEGORIES` one by one.
The work for a line is linear in its length, and properties longer than LONGEST are ignored, as inline attachments are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidings.feeds.errors import UnreadableFeed, WrongPath
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.sources.content import Content, decoded

LONGEST = 100_000  # characters of one property
ENTRIES = "VEVENT"
_BEGINS = "BEGIN:VCALENDAR"
_MOST_PROPERTIES = 1_000  # of one entry
_TIMES = frozenset(
    ("DTSTART", "DTEND", "DUE", "DTSTAMP", "CREATED", "LAST-MODIFIED", "COMPLETED", "RECURRENCE-ID", "EXDATE", "RDATE")
)
_LISTS = frozenset(("CATEGORIES", "RESOURCES", "EXDATE", "RDATE"))
_TIME = re.compile(r"\d{8}(?:T\d{6}Z?)?")
_COMMA = re.compile(r"(?<!\\),")
_ESCAPED = re.compile(r"\\([\\;,nN])")
_PATH = re.compile(r"[A-Z0-9-]{1,100}(?:@[A-Z0-9-]{1,100})?")
_END_OF_NAME = re.compile(r'[":]')

Entry = dict[str, tuple[str, ...]]


def calendar_entries(content: Content, layout: Layout) -> Iterator[tuple[int, Entry]]:
    """Each with the line in which it begins; parameters are at `NAME@PARAMETER`. Raises UnreadableFeed."""
    wanted = (layout.records or ENTRIES).upper()
    inside: list[str] = []
    entry: dict[str, list[str]] = {}
    began = 0
    for line, text in _unfolded(content, decoded(content, layout)):
        name, _, value = text.partition(":")
        if name.upper() == "BEGIN":
            inside.append(value.strip().upper())
            if inside[-1] == wanted:
                entry, began = {}, line
        elif name.upper() == "END":
            if inside and inside.pop() == wanted:
                yield began, {path: tuple(values) for path, values in entry.items()}
        elif inside and inside[-1] == wanted and len(entry) < _MOST_PROPERTIES:
            _add(entry, text)
    if wanted in inside:
        raise UnreadableFeed(content.place, f"line {began}: this {wanted} has no END; the file may be cut off")


def calendar_path(path: str) -> str:
    """`SUMMARY`, `ATTENDEE@CN`. Raises WrongPath."""
    if not _PATH.fullmatch(path):
        raise WrongPath(path, "is not the name of a property, such as 'SUMMARY' or 'ATTENDEE@CN'")
    return path


def _unfolded(content: Content, text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, which begin with a blank."""
    if not text.lstrip()[: len(_BEGINS)].upper() == _BEGINS:
        raise UnreadableFeed(content.place, f"this is not iCalendar; expected {_BEGINS} in the first line")
    began, pieces, size = 1, [""], 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        if line[:1] in (" ", "\t"):
            size += len(line)
            if size <= LONGEST:
                pieces.append(line[1:])
            continue
        if size <= LONGEST:
            yield began, "".join(pieces)
        began, pieces, size = number, [line], len(line)
    if size <= LONGEST:
        yield began, "".join(pieces)


def _add(entry: dict[str, list[str]], text: str) -> None:
    """`DTSTART;TZID=Europe/Athens:20260501T100000`"""
    quoted = False
    for mark in _END_OF_NAME.finditer(text):
        if mark[0] == '"':
            quoted = not quoted
        elif not quoted:
            break
    else:
        return  # not a property: nothing follows the name
    head, value = text[: mark.start()], text[mark.end() :]
    name, *parameters = head.split(";")
    name = name.upper()
    named = {}
    for parameter in parameters:
        key, _, said = parameter.partition("=")
        named[key.upper()] = said.strip('"')
        entry.setdefault(f"{name}@{key.upper()}", []).append(said.strip('"'))
    for part in _COMMA.split(value) if name in _LISTS else (value,):
        entry.setdefault(name, []).append(_read(name, part, named.get("TZID", "")))


def _read(name: str, value: str, zone: str) -> str:
    if name in _TIMES and _TIME.fullmatch(value):
        return _instant(value, zone)
    if name == "GEO":
        return value.replace(";", ", ")
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], value).strip()


def _instant(value: str, zone: str) -> str:
    """As ISO 8601; a time in a zone that nobody knows is left without one. What is no time stays as it is."""
    try:
        if "T" not in value:
            return datetime.strptime(value, "%Y%m%d").date().isoformat()
        moment = datetime.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S")
    except ValueError:
        return value
    if value.endswith("Z"):
        return moment.isoformat() + "Z"
    try:
        return moment.replace(tzinfo=ZoneInfo(zone)).isoformat() if zone else moment.isoformat()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return moment.isoformat()
