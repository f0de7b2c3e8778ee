"""XML to raw columns, with the element names of the thesis (figures 5.3 and 5.4, appendix B).

    <EVENTS>
      <PUBLISH_EVENT id="e1" source="site-a" time="2026-05-01T10:00:00Z" contact="sbile@hotmail.com">
        <EVENT_TYPE><VALUE type="antique"/><VALUE type="car"/></EVENT_TYPE>
        <ATTRIBUTES><ATTR type="price">1300</ATTR><ATTR type="brand">cooper</ATTR></ATTRIBUTES>
      </PUBLISH_EVENT>
    </EVENTS>

`id`, `source` and `time` are ours. An attribute with several values stands several times. All is text in XML, so the
attribute's domain says what is a number; other values are taken to the letter, blanks too.

The parser is expat and not lxml: it keeps no tree, and it knows the line of each event, where libxml2 only guesses
beyond line 65,535. The rules are those of `safe_xml`: nothing is fetched or expanded, a document type declaration may
only name an external file, nesting and sizes are bounded. What is not well-formed damages the file: events before the
fault have been handed on, and then DamagedFile is raised.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import IO, Any
from xml.parsers import expat

from tidings.errors import suggestion
from tidings.events.files.chunk import Chunk
from tidings.events.files.json_lines import raw_columns
from tidings.events.files.lines import LONGEST_LINE, DamagedFile, EmptyFile, ForeignFile, unpacked
from tidings.events.numerals import numeral
from tidings.events.refusal import BrokenRule, Refused, refused_line
from tidings.schema import Catalog, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.safe_xml import DEEPEST

ROOT, EVENT = "EVENTS", "PUBLISH_EVENT"
_ENVELOPE = ("id", "source", "time", "contact")
# Each element inside an event: the element it stands in, and the XML attributes that it must have and has.
_PARTS = {"EVENT_TYPE": (EVENT, ()), "ATTRIBUTES": (EVENT, ()), "VALUE": ("EVENT_TYPE", ("type",)),
          "ATTR": ("ATTRIBUTES", ("type",))}  # fmt: skip
_DOCTYPE = re.compile(
    rb"""\A(?:\xef\xbb\xbf)?(?:\s|<\?.*?\?>|<!--.*?-->)*"""
    rb"""(?P<doctype><!DOCTYPE\s+[^\s<>\[]+\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+(?:"[^"]*"|'[^']*')\s*>)""",
    re.DOTALL,
)
_PIECE = 1 << 16  # bytes read at once
_MOST_PROBLEMS = 20  # of one event that are told
_MOST_PIECES = 100  # of a text between events, each of up to 8,192 bytes


def xml_chunks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Chunk]:
    """The file's events in chunks of about so many; elements that are no events are refused one by one."""
    found = _Found(catalog)
    try:
        for _ in _parsed(stream, name, found):
            if len(found) >= rows:
                yield found.chunk()
    except (ForeignFile, DamagedFile):
        if len(found):
            yield found.chunk()
        raise
    if len(found):
        yield found.chunk()


class _Wrong(Exception):
    """The document as a whole cannot be read."""


def _parsed(stream: IO[bytes], name: str, found: _Found) -> Iterator[int]:
    """Feeds the parser and gives the number of bytes so far after each piece, so that memory holds only one."""
    parser = found.parser
    size = 0
    try:
        buffered = unpacked(stream)
        while piece := buffered.read(_PIECE):
            piece = piece if size else _without_doctype(piece)
            size += len(piece)
            parser.Parse(piece, False)
            found.let_go_of_what_is_too_long()
            if size - parser.CurrentByteIndex > LONGEST_LINE + _PIECE:
                raise _Wrong(f"a tag or comment is longer than {LONGEST_LINE:,} bytes")
            yield size
        if not size:
            raise EmptyFile(name)
        parser.Parse(b"", True)
    except expat.ExpatError as problem:
        raise _fault(name, found, expat.ErrorString(problem.code) or "no XML", problem.lineno) from None
    except (_Wrong, ValueError, LookupError) as problem:  # expat knows few encodings, Python's codecs more
        raise _fault(name, found, str(problem), parser.CurrentLineNumber) from None
    except (EOFError, OSError, zlib.error) as problem:
        raise DamagedFile(name, f"line {parser.CurrentLineNumber}", str(problem)) from None


def _without_doctype(beginning: bytes) -> bytes:
    """Blanks instead of a DOCTYPE that names a file. With one, expat takes an unknown entity in an XML attribute to be
    declared in that file, which nobody reads, and drops it without a word: `a&b;c` would become `ac`."""
    found = _DOCTYPE.match(beginning)
    if found is None:
        return beginning
    start, stop = found.span("doctype")
    return beginning[:start] + re.sub(rb"[^\n]", b" ", found["doctype"]) + beginning[stop:]


def _fault(name: str, found: _Found, reason: str, line: int) -> ForeignFile | DamagedFile:
    if not found.begun:
        return ForeignFile(name, f"no XML file of events (line {line}: {reason})")
    return DamagedFile(name, f"line {line}", f"no XML: {reason}")


class _Found:
    """What the parser has met: whole events, and where it stands in the one that is not whole yet."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        numeric = (a.name for a in catalog.attributes if _kind(a.name, catalog) is Kind.NUMERIC)
        self._numeric = frozenset(numeric)
        self.events: list[dict[str, Any]] = []
        self.lines: list[int] = []
        self.refused: list[Refused] = []
        self.begun = False
        self._open: list[str] = []  # the elements around the place that is read
        self._raw: dict[str, Any] = {}
        self._problems: list[str] = []
        self._line = self._start = 0
        self._text: list[str] = []
        self._too_long = False
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._entity

    def __len__(self) -> int:
        return len(self.events) + len(self.refused)

    def chunk(self) -> Chunk:
        """What was found since the last chunk."""
        made = Chunk(raw_columns(self.events, self._catalog), self.lines, self.refused)
        self.events, self.lines, self.refused = [], [], []
        return made

    def let_go_of_what_is_too_long(self) -> None:
        """Called after each piece of the file: an event without an end must not fill the memory."""
        if len(self._open) < 2:
            del self._text[_MOST_PIECES:]
        elif self.parser.CurrentByteIndex - self._start > LONGEST_LINE:
            self._too_long = True
            self._text.clear()

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            raise _Wrong(
                "a document type declaration may only name an external file, which is not read; "
                "internal declarations, such as entities, are refused"
            )

    def _entity(self, name: str, is_parameter: int) -> None:
        raise _Wrong(f"the entity &{name}; is not known; only those of XML itself are")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        depth = len(self._open)
        if depth == 0 and name != ROOT:
            raise _Wrong(f"its root is <{name}>, that of a file of events is <{ROOT}>")
        if depth >= DEEPEST:
            raise _Wrong(f"elements are nested more than {DEEPEST} deep")
        if self._text:
            self._flush()
        self.begun = True
        self._open.append(name)
        if depth == 1:
            self._begin_event(name, attributes)
        elif depth > 1 and not self._too_long:
            self._begin_part(name, attributes)

    def _begin_event(self, name: str, attributes: dict[str, str]) -> None:
        self._line, self._start = self.parser.CurrentLineNumber, self.parser.CurrentByteIndex
        self._raw, self._problems, self._too_long = {**attributes, "attributes": {}}, [], False
        if name != EVENT:
            self._problems.append(f"<{name}> is not an event{suggestion(name, (EVENT,))}")
            return
        for extra in attributes:
            if extra not in _ENVELOPE:
                self._problems.append(f"<{EVENT}> has no attribute {extra!r}{suggestion(extra, _ENVELOPE)}")

    def _begin_part(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-2]
        inside, needed = _PARTS.get(name, ("", ()))
        if inside != parent:
            legal = tuple(part for part, (around, _) in _PARTS.items() if around == parent)
            self._problem(f"<{name}> is not allowed in <{parent}>{suggestion(name, legal) if legal else ''}")
        elif tuple(attributes) != needed:
            self._problem(f"<{name}> must have {'the attribute type alone' if needed else 'no attributes'}")
        elif name == "VALUE":
            self._raw.setdefault(EVENT_TYPE, []).append(attributes["type"])
        elif name == "ATTR":
            self._raw["attributes"].setdefault(attributes["type"], [])
            self._attribute = attributes["type"]

    def _end(self, name: str) -> None:
        text = "".join(self._text)
        self._text.clear()
        if name != "ATTR" or len(self._open) == 2:
            self._stray(text)
        elif not self._problems and not self._too_long:
            value = numeral(text) if self._attribute in self._numeric else text
            self._raw["attributes"][self._attribute].append(value)
        if len(self._open) == 2:
            self._end_event()
        self._open.pop()

    def _end_event(self) -> None:
        id = self._raw.get("id")
        if self._too_long or self.parser.CurrentByteIndex - self._start > LONGEST_LINE:
            self.refused.append(refused_line(self._line, f"the event is longer than {LONGEST_LINE:,} bytes", id))
        elif self._problems:
            broken = tuple(BrokenRule("form", None, None, message) for message in self._problems)
            self.refused.append(Refused(self._line, id, broken))
        else:
            bound = self._raw["attributes"]
            for attribute, values in bound.items():
                if len(values) == 1:
                    bound[attribute] = values[0]
            self.events.append(self._raw)
            self.lines.append(self._line)
        self._too_long = False

    def _characters(self, text: str) -> None:
        if not self._too_long:
            self._text.append(text)

    def _flush(self) -> None:
        """Text before an element belongs to the one around it, where there may be none."""
        text = "".join(self._text)
        self._text.clear()
        if self._open[-1] != "ATTR":  # there it is the element that is wrong
            self._stray(text)

    def _stray(self, text: str) -> None:
        told = text.strip()
        if not told:
            return
        if len(self._open) > 1:
            self._problem(f"there is text in <{self._open[-1]}>: {told[:40]!r}")
        else:
            line = self.parser.CurrentLineNumber - text.lstrip().count("\n")
            self.refused.append(refused_line(line, f"there is text between the events: {told[:40]!r}"))

    def _problem(self, message: str) -> None:
        if self._open[1] == EVENT and len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(message)


def _kind(attribute: str, catalog: Catalog) -> Kind | None:
    domain = catalog.domain_of(attribute)
    return None if domain is None else domain.kind
