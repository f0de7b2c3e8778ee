"""The bytes of a document, checked by expat before anything else reads them: well-formed, UTF-8, nothing declared.

Expat checks in one pass and builds no tree. Nothing is fetched, and no entity is ever declared: a document type
declaration may only name an external file, which is not read. Entities that a domain's grammar declares as plain
characters become character references, as long as the document stays within the limit of its size."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from tidings.schema.documents.errors import DocumentTooLarge, MalformedDocument
from tidings.schema.documents.limits import LIMITS, DocumentLimits

_DECLARED = re.compile(rb"""\A<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_KNOWN = re.compile(r"utf-?8|utf-?16(le|be)?|us-ascii|ascii|iso-8859-\d{1,2}|windows-125\d", re.IGNORECASE)
# What never ends reaches to the end, so that nothing is read twice.
_REFERENCE = re.compile(
    rb"<!\[CDATA\[(?:.*?\]\]>|.*)|<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|&([^\s;&<#][^\s;&<]*);", re.DOTALL
)
_DECLARATION = re.compile(rb"""xmlns[^=]*=\s*(["'])""")  # of a namespace
_FIVE = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_DECLARATIONS = (
    "a document type declaration may only name an external file, which is not read; "
    "internal declarations, such as entities, are refused"
)


def checked(document: bytes, limits: DocumentLimits = LIMITS, entities: Mapping[str, str] | None = None) -> bytes:
    """The document as UTF-8 without a byte order mark. Raises DocumentError."""
    source, unknown = _resolved(as_utf8(document), entities or {}, limits.size)
    if _may_pass(source, limits):  # before namespaces are resolved: hostile ones take quadratic time
        _parse(_counting(limits, b"xmlns" in source), source)
    _parse(expat.ParserCreate("utf-8", " "), source)  # a prefix that is not declared is an error
    if unknown is not None:
        raise unknown
    return source


def _parse(parser: Any, source: bytes) -> None:
    parser.StartDoctypeDeclHandler = _refuse_declarations
    parser.buffer_text = False
    try:
        parser.Parse(source, True)
    except _Declarations:
        raise MalformedDocument(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1, _DECLARATIONS) from None
    except expat.ExpatError as problem:
        words = expat.ErrorString(problem.code)
        raise MalformedDocument(problem.lineno, problem.offset + 1, words) from None


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


def _may_pass(source: bytes, limits: DocumentLimits) -> bool:
    """A quick look; the size was checked before."""
    return (
        len(source) // 2 > limits.nodes  # a node takes two bytes or more
        or (
            len(source) // 2 > limits.depth and source.count(b"</") >= limits.depth
        )  # what holds another has an end tag
        or (source.count(b"=") > limits.attributes and any(_many(tag, limits) for tag in source.split(b"<")))
        or (b"xmlns" in source and _many_or_long(source, limits))
    )


def _many(tag: bytes, limits: DocumentLimits) -> bool:
    return len(tag) > 4 * limits.attributes and tag.count(b"=") > limits.attributes


def _many_or_long(source: bytes, limits: DocumentLimits) -> bool:
    return source.count(b"xmlns") > limits.namespaces or any(
        _long(source, found, limits) for found in _DECLARATION.finditer(source)
    )


def _long(source: bytes, declaration: re.Match[bytes], limits: DocumentLimits) -> bool:
    value = declaration.end()
    return source.find(declaration[1], value, value + limits.namespace + 1) < 0


def _counting(limits: DocumentLimits, spaces_declared: bool) -> Any:
    """A parser that stops where a limit is passed."""
    parser = expat.ParserCreate("utf-8")
    nodes = 0
    in_text = False
    declared: list[int] = [0]  # namespaces in force, by level

    def start(name: str, attributes: list[str]) -> None:
        nonlocal nodes, in_text
        in_text = False
        count, spaces = len(attributes) // 2, 0
        if count > limits.attributes:
            refuse("attributes of one element", limits.attributes)
        for place in range(0, len(attributes) if spaces_declared else 0, 2):
            if attributes[place].startswith("xmlns") and attributes[place][5:6] in ("", ":"):
                spaces += 1
                if len(attributes[place + 1].encode()) > limits.namespace:
                    refuse("bytes of a namespace", limits.namespace)
        declared.append(declared[-1] + spaces)
        if declared[-1] > limits.namespaces:
            refuse("namespaces declared at once", limits.namespaces)
        nodes += 1 + count - spaces
        check()

    def end(name: str) -> None:
        nonlocal in_text
        in_text = False
        declared.pop()

    def text(data: str) -> None:
        nonlocal nodes, in_text
        nodes += not in_text
        in_text = True
        check()

    def check() -> None:
        if len(declared) > limits.depth + 1:
            refuse("nested elements", limits.depth)
        if nodes > limits.nodes:
            refuse("nodes", limits.nodes)

    def refuse(what: str, limit: int) -> None:
        raise DocumentTooLarge(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1, what, limit)

    parser.ordered_attributes = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    return parser


class _Declarations(Exception):
    """The document type declaration has an internal subset."""


def _refuse_declarations(name: str, system: str | None, public: str | None, internal_subset: int) -> None:
    if internal_subset:
        raise _Declarations


def _resolved(source: bytes, entities: Mapping[str, str], largest: int) -> tuple[bytes, MalformedDocument | None]:
    """Known entities as character references, and what is to be said of the first other one: expat passes over those
    that an external declaration might declare."""
    if b"&" not in source or not (entities or b"<!DOCTYPE" in source):
        return source, None
    unknown: list[MalformedDocument] = []
    made: dict[bytes, bytes | None] = {}
    size = len(source)

    def replaced(found: re.Match[bytes]) -> bytes:
        nonlocal size
        name = found[1]
        if name is None or name in _FIVE:
            return found[0]
        if name not in made:
            made[name] = _references(entities.get(name.decode(errors="replace")))
        references = made[name]
        if references is None:
            if not unknown:
                what = f"undefined entity {name.decode(errors='replace')!r}"
                unknown.append(MalformedDocument(*_place(source, found.start()), what))
            return found[0]
        size += len(references) - len(found[0])
        if size > largest:
            raise DocumentTooLarge(*_place(source, found.start()), "bytes once its entities are expanded", largest)
        return references

    resolved = _REFERENCE.sub(replaced, source)
    return resolved, unknown[0] if unknown else None


def _references(characters: str | None) -> bytes | None:
    return None if characters is None else "".join(f"&#{ord(one)};" for one in characters).encode()


def _place(source: bytes, at: int) -> tuple[int, int]:
    line_start = source.rfind(b"\n", 0, at) + 1
    return source.count(b"\n", 0, at) + 1, len(source[line_start:at].decode(errors="replace")) + 1


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
