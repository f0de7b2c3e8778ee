"""The bytes of a document, checked by expat before anything else reads them: well-formed, UTF-8, nothing declared.

Expat checks in one pass and builds no tree. Nothing is fetched, and no entity is ever declared: a document type
declaration may only name an external file, which is not read. Entities that a domain's grammar declares as plain
characters become character references."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from tidings.schema.documents.errors import DocumentTooLarge, MalformedDocument
from tidings.schema.documents.limits import DocumentLimits

_DECLARED = re.compile(rb"""\A<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_KNOWN = re.compile(r"utf-?8|utf-?16(le|be)?|us-ascii|ascii|iso-8859-\d{1,2}|windows-125\d", re.IGNORECASE)
# What never ends reaches to the end, so that nothing is read twice.
_REFERENCE = re.compile(
    rb"<!\[CDATA\[(?:.*?\]\]>|.*)|<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|&([^\s;&<#][^\s;&<]*);", re.DOTALL
)
_FIVE = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_DECLARATIONS = (
    "a document type declaration may only name an external file, which is not read; "
    "internal declarations, such as entities, are refused"
)


def checked(document: bytes, limits: DocumentLimits | None = None, entities: Mapping[str, str] | None = None) -> bytes:
    """The document as UTF-8 without a byte order mark. Raises DocumentError.

    Depth and nodes are counted where `limits` are given and the document might pass them."""
    source, unknown = _resolved(as_utf8(document), entities or {})
    parser = expat.ParserCreate("utf-8", " ")  # resolves namespaces: a prefix that is not declared is an error
    parser.StartDoctypeDeclHandler = _refuse_declarations
    parser.buffer_text = False
    # A node takes two bytes or more, and an element that holds another has an end tag.
    if limits is not None and (len(source) // 2 > limits.nodes or source.count(b"</") >= limits.depth):
        _count(parser, limits)
    try:
        parser.Parse(source, True)
    except _Declarations:
        raise MalformedDocument(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1, _DECLARATIONS) from None
    except expat.ExpatError as problem:
        words = expat.ErrorString(problem.code)
        raise MalformedDocument(problem.lineno, problem.offset + 1, words) from None
    if unknown is not None:
        raise unknown
    return source


def place_of_element(source: bytes, number: int) -> tuple[int, int]:
    """Line and column of an element of a well-formed document, counted from 0."""
    parser = expat.ParserCreate("utf-8")
    places: list[tuple[int, int]] = []
    seen = 0

    def start(name: str, attributes: Any) -> None:
        nonlocal seen
        if seen == number:
            places.append((parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))
        seen += 1

    parser.StartElementHandler = start
    parser.Parse(source, True)
    return places[0] if places else (0, 0)


def _count(parser: Any, limits: DocumentLimits) -> None:
    """Makes the parser stop where a limit is passed."""
    nodes = depth = 0
    in_text = False

    def start(name: str, attributes: list[str]) -> None:
        nonlocal nodes, depth, in_text
        in_text = False
        depth += 1
        nodes += 1 + len(attributes) // 2
        check()

    def end(name: str) -> None:
        nonlocal depth, in_text
        in_text = False
        depth -= 1

    def text(data: str) -> None:
        nonlocal nodes, in_text
        nodes += not in_text
        in_text = True
        check()

    def check() -> None:
        if nodes > limits.nodes or depth > limits.depth:
            deep = depth > limits.depth
            what, limit = ("nested elements", limits.depth) if deep else ("nodes", limits.nodes)
            raise DocumentTooLarge(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1, what, limit)

    parser.ordered_attributes = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text


class _Declarations(Exception):
    """The document type declaration has an internal subset."""


def _refuse_declarations(name: str, system: str | None, public: str | None, internal_subset: int) -> None:
    if internal_subset:
        raise _Declarations


def _resolved(source: bytes, entities: Mapping[str, str]) -> tuple[bytes, MalformedDocument | None]:
    """Known entities as character references, and what is to be said of the first other one: expat passes over those
    that an external declaration might declare."""
    if b"&" not in source or not (entities or b"<!DOCTYPE" in source):
        return source, None
    unknown: list[MalformedDocument] = []

    def replaced(found: re.Match[bytes]) -> bytes:
        name = found[1]
        if name is None or name in _FIVE:
            return found[0]
        characters = entities.get(name.decode(errors="replace"))
        if characters is None:
            if not unknown:
                at = found.start()
                line = source.count(b"\n", 0, at) + 1
                column = len(source[source.rfind(b"\n", 0, at) + 1 : at].decode(errors="replace")) + 1
                unknown.append(MalformedDocument(line, column, f"undefined entity {name.decode(errors='replace')!r}"))
            return found[0]
        return "".join(f"&#{ord(one)};" for one in characters).encode()

    resolved = _REFERENCE.sub(replaced, source)
    return resolved, unknown[0] if unknown else None


def as_utf8(document: bytes) -> bytes:
    """Without a byte order mark; bytes that claim to be UTF-8 are not looked at. Raises MalformedDocument."""
    if document.startswith(codecs.BOM_UTF8):
        return document[3:]
    if document.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _recoded(document, "utf-16")
    found = _DECLARED.match(document)
    encoding = found[1].decode("ascii") if found else "utf-8"
    if not _KNOWN.fullmatch(encoding):
        raise MalformedDocument(1, 1, f"the encoding {encoding!r} is not supported; use UTF-8")
    if encoding.lower().replace("-", "") in ("utf8", "usascii", "ascii"):
        return document
    return _recoded(document, encoding)


def _recoded(document: bytes, encoding: str) -> bytes:
    try:
        return document.decode(encoding).encode()
    except (UnicodeError, LookupError) as problem:
        raise MalformedDocument(0, 0, f"the document is not {encoding}: {problem}") from None
