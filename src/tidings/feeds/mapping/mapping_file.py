"""A mapping from a TOML file. Which keys there are, and what each may say, stands here and in docs/feeds.md.

url = "http://127.0.0.1:8181/cars"
format = "html"
records = "li.item"
event_type = "car"

[fields]
title = "h3"
price = { from = ".price", kind = "numeric" }
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import regex

from tidings.errors import one_of, shown
from tidings.feeds.errors import SourceUnreachable, WrongMapping, WrongPath
from tidings.feeds.mapping.mapping import (
    EVERY,
    FORMATS,
    GROW_LIMIT,
    ON_BAD,
    OUTER,
    Field,
    Layout,
    Mapping,
    Origin,
    Reading,
)
from tidings.feeds.mapping.mapping_table import Table
from tidings.feeds.records.element_path import ElementPath
from tidings.feeds.records.icalendar import calendar_path
from tidings.feeds.records.json_path import JsonPath
from tidings.feeds.records.log_lines import log_path
from tidings.feeds.sources.content import codec_of
from tidings.feeds.sources.packed import ENDINGS
from tidings.feeds.sources.url_source import host_of
from tidings.schema import Kind
from tidings.schema.catalog import IllegalName, check_name

ORIGINS = ("url", "folder", "file")
READING_KEYS: tuple[str, ...] = (
    "from",
    "constant",
    "strip",
    "lower",
    "split",
    "decimal",
    "unit",
    "time_format",
    "zone",
)
READING_KEYS += ("missing", "pattern", "replace", "on_bad")
FIELD_KEYS = (
    *READING_KEYS,
    "kind",
    "domain",
    "mandatory",
    "several",
    "grow",
    "open",
    "parent",
    "path",
    "latitude",
    "longitude",
)
TIME_KEYS = ("from", "time_format", "zone", "missing", "pattern", "replace", "on_bad")
KEYS: tuple[str, ...] = (*ORIGINS, "every", "pattern", "format", "records", "each", "delimiter", "encoding")
KEYS += ("event_type", "source", "contact", "id", "time", "grow_limit", "fields")
_LARGEST = 1 << 20  # bytes of a mapping file
_LONGEST_PATTERN = 500  # characters
BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_mapping(path: Path) -> Mapping:
    """Raises WrongMapping with the file, the key and what was expected; OSError where there is no file."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise WrongMapping(str(path), "", f"it has more than {_LARGEST:,} bytes")
    try:
        document = tomllib.loads(content.decode())
    except UnicodeDecodeError as problem:
        raise WrongMapping(str(path), "", f"byte {problem.start}: not valid UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise WrongMapping(str(path), "", f"not valid TOML: {problem}") from None
    return mapping_of(document, str(path), path.parent)


def mapping_of(document: dict[str, Any], file: str, folder: Path) -> Mapping:
    """From a parsed file; relative paths start at `folder`."""
    table = Table(file, "", document, KEYS)
    layout, origin = _layout(table), _origin(table, folder)
    event_types = table.texts("event_type")
    if not event_types:
        raise table.wrong("event_type", "expected the name of an event type, or a list of them; it is missing")
    fields = tuple(_field(table, name, raw, layout.format) for name, raw in table.table("fields").items())
    if not fields:
        raise table.wrong("fields", 'expected a table of attributes, such as price = ".price"; it is missing')
    ids = table.texts("id")
    for path in ids:
        _check_path(table, "id", path, layout.format)
    limit = table.number("grow_limit", GROW_LIMIT)
    if limit != int(limit) or limit < 0:
        raise table.wrong("grow_limit", f"expected a whole number from 0 on, got {limit}")
    name = Path(file).stem
    source, contact = table.text("source") or name, table.text("contact")
    return Mapping(
        name, origin, layout, event_types, fields, source, contact, ids, _time(table, layout), int(limit), file
    )


def _origin(table: Table, folder: Path) -> Origin:
    given = [key for key in ORIGINS if key in table.raw]
    if len(given) != 1:
        got = "none of them" if not given else " and ".join(given)
        raise table.wrong("", f"expected one of url, folder and file, got {got}")
    every = table.number("every", EVERY)
    if every < 0.1:
        raise table.wrong("every", f"expected seconds, at least 0.1, got {every}")
    where = table.text(given[0])
    if not where:
        raise table.wrong(given[0], "expected where the feed comes from, got nothing")
    if "pattern" in table.raw and given != ["folder"]:
        raise table.wrong("pattern", "only a folder has files to choose from")
    pattern = table.text("pattern", "*")
    if not _is_pattern(pattern):
        files = "expected the names of files in the folder, such as '*.csv', or '**/*.csv' with those in its subfolders"
        raise table.wrong("pattern", f"{files}; got {shown(pattern)}")
    if given != ["url"]:
        path = folder / where
        if given == ["file"]:
            return Origin(file=path, every=every)
        return Origin(folder=path, pattern=pattern, every=every)
    try:
        parts = urlsplit(where)
        legal = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        legal = False
    if not legal:
        raise table.wrong("url", f"expected http://… or https://…, got {shown(where)}")
    try:
        host_of(where)
    except SourceUnreachable as problem:
        raise table.wrong("url", f"expected http://… or https://…; {problem}") from None
    return Origin(url=where, every=every)


def _is_pattern(pattern: str) -> bool:
    """Whether it stays inside the folder, and `**` stands only for whole folders."""
    *folders, name = pattern.split("/")
    alone = all(one == "**" or "**" not in one for one in folders) and "**" not in name
    return alone and not {"", ".", ".."}.intersection((*folders, name))


def _layout(table: Table) -> Layout:
    format = table.choice("format", FORMATS)
    if not format:
        where = table.text("pattern") if "folder" in table.raw else table.text("file") or table.text("url")
        format = format_of(where) or ""
    if not format:
        raise table.wrong("format", f"expected {one_of(FORMATS)}; it is missing and no ending says it")
    records = table.text("records")
    if records and format in ("csv", "log"):
        raise table.wrong("records", f"the {'rows' if format == 'csv' else 'lines'} are the records; leave it out")
    if not records and format in ("xml", "html"):
        raise table.wrong(
            "records", "expected the path of the elements that are records, such as 'li.item'; it is missing"
        )
    _check_path(table, "records", records, format)
    if "@" in records:
        raise table.wrong("records", "a record is an element, not an attribute")
    delimiter = table.text("delimiter", ",")
    if "delimiter" in table.raw and format != "csv":
        raise table.wrong("delimiter", f"only CSV has one; this feed is {format}")
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise table.wrong("delimiter", f"expected one character, got {shown(delimiter)}")
    encoding = table.text("encoding")
    if encoding and codec_of(encoding) is None:
        raise table.wrong("encoding", f"no encoding {shown(encoding)} is known; expected one such as 'utf-8'")
    each = table.text("each")
    if each and format not in ("json", "xml", "html"):
        raise table.wrong("each", f"records in {format} cannot contain others; leave it out")
    _check_path(table, "each", each, format)
    if "@" in each:
        raise table.wrong("each", "a record is an element, not an attribute")
    return Layout(format, records, delimiter, encoding, each)


def format_of(name: str) -> str | None:
    """By the ending of a file's name or a URL's path, `cars.csv` or `cars.csv.gz`."""
    words = name.partition("?")[0].partition("#")[0].lower().split(".")
    ending = words[-2] if words[-1] in ENDINGS and len(words) > 1 else words[-1]
    others = {"htm": "html", "jsonl": "json", "ndjson": "json", "geojson": "json", "rss": "xml", "atom": "xml"}
    others |= {"ics": "icalendar", "ical": "icalendar"}
    return others.get(ending, ending if ending in FORMATS else None)


def _check_path(table: Table, key: str, path: str, format: str) -> None:
    parse: dict[str, Callable[[str], object]] = {
        "json": JsonPath.parse,
        "xml": ElementPath.parse,
        "html": ElementPath.parse,
        "icalendar": calendar_path,
        "log": log_path,
    }
    if path and format in parse:
        if path.startswith(OUTER) and key not in ("records", "each"):
            if "each" not in table.root:
                raise table.wrong(key, f"{OUTER} looks into the record around, which only a mapping with `each` has")
            path = path.removeprefix(OUTER).strip()
        try:
            parse[format](path)
        except WrongPath as problem:
            raise table.wrong(key, str(problem)) from None


def _time(table: Table, layout: Layout) -> Reading | None:
    raw = table.raw.get("time")
    if raw is None:
        return None
    below = Table(table.file, "time.", _as_table(table, "time", raw), TIME_KEYS, table.root)
    reading = _reading(below, layout.format)
    if not reading.path:
        raise below.wrong("from", "expected a path; it is missing")
    return reading


def _as_table(table: Table, key: str, raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        return {"from": raw}
    if not isinstance(raw, dict):
        raise table.wrong(key, f"expected a path, or a table with 'from', got {shown(raw)}")
    return raw


def _reading(table: Table, format: str) -> Reading:
    path = table.text("from")
    _check_path(table, "from", path, format)
    constant = table.raw.get("constant")
    if constant is not None and (isinstance(constant, bool) or not isinstance(constant, str | int | float)):
        raise table.wrong("constant", f"expected text or a number, got {shown(constant)}")
    decimal = table.text("decimal", ".")
    if decimal not in (".", ","):
        raise table.wrong("decimal", f"expected '.' or ',', got {shown(decimal)}")
    zone = table.text("zone")
    try:
        ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise table.wrong("zone", f"expected a time zone such as 'Europe/Athens', got {shown(zone)}") from None
    if "split" in table.raw and not table.text("split"):
        raise table.wrong("split", "expected a separator such as ','; got nothing")
    return Reading(
        path,
        constant,
        table.flag("strip", True),
        table.flag("lower", False),
        table.text("split"),
        decimal,
        table.texts("unit"),
        table.texts("time_format"),
        zone,
        table.texts("missing"),
        _pattern(table),
        _replace(table),
        table.choice("on_bad", ON_BAD),
    )


def _pattern(table: Table) -> str:
    pattern = table.text("pattern")
    if len(pattern) > _LONGEST_PATTERN:
        raise table.wrong("pattern", f"expected at most {_LONGEST_PATTERN} characters")
    try:
        groups = regex.compile(pattern).groups
    except (regex.error, OverflowError, RecursionError) as problem:
        raise table.wrong("pattern", f"expected a regular expression: {problem}") from None
    if pattern and groups != 1:
        raise table.wrong("pattern", f"expected one group, as in '([0-9]+) km', got {groups}")
    return pattern


def _replace(table: Table) -> tuple[tuple[str, str], ...]:
    pairs = table.table("replace")
    for old, new in pairs.items():
        if not isinstance(new, str):
            raise table.wrong("replace", f"expected text for {shown(old)}, got {shown(new)}")
    return tuple(pairs.items())


def _field(above: Table, name: str, raw: Any, format: str) -> Field:
    key = name if BARE.fullmatch(name) else json.dumps(name)
    table = Table(above.file, f"fields.{key}.", _as_table(above, f"fields.{key}", raw), FIELD_KEYS, above.root)
    try:
        check_name("an attribute", name)
    except IllegalName as problem:
        raise above.wrong(f"fields.{key}", str(problem)) from None
    reading = _reading(table, format)
    longitude = table.text("longitude")
    if longitude or "latitude" in table.raw:
        reading = replace(reading, path=_latitude(table, longitude, format))
    elif (reading.constant is None) == (not reading.path):
        raise table.wrong("from", "expected a path, or 'constant', and not both")
    named = table.choice("kind", tuple(str(kind) for kind in Kind))
    kind = Kind(named) if named else None
    growing = (None, Kind.ENUMERATED, Kind.HIERARCHICAL)
    if table.flag("grow", False) and kind not in growing:
        raise table.wrong("grow", f"only enumerated and hierarchical domains grow by values; this one is {kind}")
    parent = table.text("parent")
    if parent and kind not in (None, Kind.HIERARCHICAL):
        raise table.wrong("parent", f"only hierarchical values have a parent; this one is {kind}")
    _check_path(table, "parent", parent, format)
    if longitude and kind not in (None, Kind.PLACE):
        raise table.wrong("longitude", f"only places have one; this attribute is {kind}")
    return Field(
        name,
        reading,
        kind,
        table.text("domain"),
        table.flag("mandatory", False),
        table.flag("several", bool(reading.split)),
        table.flag("grow", False),
        parent,
        _category_path(table, kind, parent),
        _open(table, kind),
        longitude,
    )


def _open(table: Table, kind: Kind | None) -> bool:
    open = table.flag("open", False)
    if open and kind is not Kind.ENUMERATED:
        raise table.wrong("open", f"only enumerated domains can be open; this one is {kind or 'of no named kind'}")
    if open and table.flag("grow", False):
        raise table.wrong("open", "an open enumeration takes any value; remove `grow`")
    return open


def _latitude(table: Table, longitude: str, format: str) -> str:
    """Its path; `latitude` and `longitude` come together, and without `from`."""
    latitude = table.text("latitude")
    if not latitude or not longitude:
        missing = "longitude" if latitude else "latitude"
        raise table.wrong(missing, "a place needs both latitude and longitude")
    for key in ("from", "constant"):
        if key in table.raw:
            raise table.wrong(key, "latitude and longitude say where the place is; remove this key")
    _check_path(table, "latitude", latitude, format)
    _check_path(table, "longitude", longitude, format)
    return latitude


def _category_path(table: Table, kind: Kind | None, parent: str) -> str | bool:
    path = table.raw.get("path", False)
    if not isinstance(path, str | bool) or (isinstance(path, str) and not path.strip()):
        raise table.wrong("path", f"expected the separator, such as '>' or '/', or true for a list; got {shown(path)}")
    if path and kind not in (None, Kind.HIERARCHICAL):
        raise table.wrong("path", f"only hierarchical values have a path; this attribute is {kind}")
    if path and parent:
        raise table.wrong("path", "a path names all nodes above; remove `parent`")
    return path
