"""JSON Lines to raw columns: each line is parsed once, then the parsed objects are turned into columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

import msgspec

from tidings.events.columns import RawColumns
from tidings.events.files.chunk import ENVELOPE_COLUMNS, Chunk
from tidings.events.files.lines import TOO_LONG, numbered_lines
from tidings.events.refusal import Refused, refused_line
from tidings.events.validation import MEMBERS
from tidings.schema import Catalog

_MEMBERS = frozenset(MEMBERS)
_NOTHING: dict[str, Any] = {}


def json_chunks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Chunk]:
    """The file's lines in chunks of so many; what is no JSON is refused at once."""
    decode = msgspec.json.Decoder().decode
    numbered = numbered_lines(stream, name)
    while lines := list(islice(numbered, rows)):
        parsed: list[Any] = []
        numbers: list[int] = []
        refused: list[Refused] = []
        for number, line in lines:
            if line is None:
                refused.append(refused_line(number, TOO_LONG))
                continue
            if line.isspace() or not line:
                continue
            try:
                parsed.append(decode(line))
                numbers.append(number)
            except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
                refused.append(refused_line(number, _no_json(problem)))
        yield Chunk(raw_columns(parsed, catalog), numbers, refused)


def raw_columns(parsed: list[Any], catalog: Catalog) -> RawColumns:
    """Parsed raw events by column. Those with unexpected members or that are no objects are doubted."""
    doubted: set[int] = set()
    objects = parsed
    if set(map(type, parsed)) - {dict}:
        objects = [raw if type(raw) is dict else _NOTHING for raw in parsed]
        doubted.update(row for row, raw in enumerate(objects) if raw is _NOTHING)
    if not set().union(*objects) <= _MEMBERS:
        doubted.update(row for row, raw in enumerate(objects) if not raw.keys() <= _MEMBERS)
    envelope = {name: [raw.get(name) for raw in objects] for name in ENVELOPE_COLUMNS}
    for name in ("source", "time", "contact"):
        if envelope[name].count(None) == len(objects):
            del envelope[name]
    attributes = [raw.get("attributes", _NOTHING) for raw in objects]
    if set(map(type, attributes)) - {dict}:
        doubted.update(row for row, bound in enumerate(attributes) if type(bound) is not dict)
        attributes = [bound if type(bound) is dict else _NOTHING for bound in attributes]
    names: set[str] = set().union(*attributes)
    known = {attribute.name for attribute in catalog.attributes}
    if not names <= known:
        # Only names of the catalog become columns: a hostile file could invent a million.
        doubted.update(row for row, bound in enumerate(attributes) if not bound.keys() <= known)
    columns = {name: [bound.get(name) for bound in attributes] for name in sorted(names & known)}
    return RawColumns(len(parsed), envelope, columns, parsed.__getitem__, doubted)


def _no_json(problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "the line is nested too deeply"
    if isinstance(problem, UnicodeDecodeError):
        return f"the line is not valid UTF-8: {problem.reason} at byte {problem.start}"
    return f"the line is not valid JSON: {problem}"
