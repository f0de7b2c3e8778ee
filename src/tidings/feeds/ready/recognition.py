"""Which format some bytes have, and which ready mapping fits them: told by the content; a name only decides what the
content leaves open."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from typing import Any

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.mapping.mapping_file import format_of
from tidings.feeds.records.json_values import json_document
from tidings.feeds.records.log_lines import is_combined, parts
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.packed import unpacked

_LOOKED_AT = 64 << 10  # bytes
_LINES = 20  # of a log
_BEFORE_ROOT = re.compile(
    r"\s*(?:<\?[^>]{0,2000}>\s*|<!--.{0,5000}?-->\s*|<!DOCTYPE[^>\[]{0,500}>\s*)*", re.DOTALL | re.I
)
_ROOT = re.compile(r"<(?:[\w.-]{1,60}:)?([\w.-]{1,60})")
_OF_QUAKES = ("mag", "time", "place")


@dataclass(frozen=True, slots=True)
class Recognized:
    """`what` names it to a person; `ready` is the ready mapping, empty where there is none."""

    format: str
    what: str
    ready: str = ""
    records: str = ""


def recognized(content: Content, name: str = "") -> Recognized:
    """`name` is the file's or the URL's. Raises UnreadableFeed where it cannot be unpacked."""
    named = format_of(name) or ""
    start = _start(content)
    if not start.strip():
        raise UnreadableFeed(content.place, "it is empty")
    if start[:15].upper() == "BEGIN:VCALENDAR":
        return Recognized("icalendar", "a calendar (iCalendar)", "icalendar")
    if start.startswith("<"):
        return _marked_up(start, named)
    if start[0] in "{[" and named != "csv":
        return _json(content)
    lines = [line for line in start.splitlines()[:_LINES] if line.strip()]
    if sum(parts(line) is not None for line in lines) * 2 > len(lines):
        combined = any(map(is_combined, lines))
        what = f"a web server's log ({'Combined' if combined else 'Common'} Log Format)"
        return Recognized("log", what, "combined_log" if combined else "common_log")
    if named in ("json", "xml", "icalendar"):  # which it is not, and the reader says where
        return Recognized(named, named)
    return Recognized("html", "a web page (HTML)") if named == "html" else Recognized("csv", "a table (CSV)")


def _start(content: Content) -> str:
    body = unpacked(content.place, content.body)[:_LOOKED_AT]
    encoding = "utf-16" if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    return body.decode(encoding, "replace").removeprefix("\ufeff").lstrip()


def _marked_up(start: str, named: str) -> Recognized:
    before = _BEFORE_ROOT.match(start)
    root = _ROOT.match(start, before.end() if before else 0)
    match root[1].lower() if root else "":
        case "rss" | "rdf":
            return Recognized("xml", "a news feed (RSS)", "rss")
        case "feed":
            return Recognized("xml", "a news feed (Atom)", "atom")
        case "html":
            return Recognized("html", "a web page (HTML)")
    if named == "html" or start[:14].lower() == "<!doctype html":
        return Recognized("html", "a web page (HTML)")
    return Recognized("xml", "XML")


def _json(content: Content) -> Recognized:
    if content.large is not None:
        return Recognized("json", "JSON Lines")
    document = json_document(content, Layout("json"))
    features = document.get("features") if isinstance(document, dict) else None
    if isinstance(document, dict) and document.get("type") == "FeatureCollection" and isinstance(features, list):
        ready = "earthquakes" if any(map(_is_quake, features[:1])) else ""
        return Recognized("json", "earthquakes (GeoJSON)" if ready else "GeoJSON", ready, "/features")
    return Recognized("json", "JSON")


def _is_quake(feature: Any) -> bool:
    properties = feature.get("properties") if isinstance(feature, dict) else None
    return isinstance(properties, dict) and all(name in properties for name in _OF_QUAKES)
