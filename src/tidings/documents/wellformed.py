"""The bytes of a document, checked by expat before anything else reads them: well-formed, UTF-8, nothing declared.

Expat checks in one pass and builds no tree. Nothing is fetched, and no entity is ever declared: a document type
declaration may only name an external file, which is not read."""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat

from tidings.documents.errors import MalformedDocument

_DECLARED = re.compile(rb"""\A<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_KNOWN = re.compile(r"utf-?8|utf-?16(le|be)?|us-ascii|ascii|iso-8859-\d{1,2}|windows-125\d", re.IGNORECASE)


def checked(document: bytes) -> bytes:
    """The document as UTF-8 without a byte order mark. Raises MalformedDocument."""
    source = _utf8(document)
    parser = expat.ParserCreate("utf-8", " ")  # resolves namespaces: a prefix that is not declared is an error
    parser.StartDoctypeDeclHandler = _refuse_declarations
    parser.buffer_text = False
    try:
        parser.Parse(source, True)
    except _Declarations:
        raise MalformedDocument(
            parser.CurrentLineNumber,
            parser.CurrentColumnNumber + 1,
            "a document type declaration may only name an external file, which is not read; "
            "declarations of its own, such as entities, are refused",
        ) from None
    except expat.ExpatError as problem:
        words = expat.ErrorString(problem.code)
        raise MalformedDocument(problem.lineno, problem.offset + 1, words) from None
    return source


class _Declarations(Exception):
    """The document type declaration has an internal subset."""


def _refuse_declarations(name: str, system: str | None, public: str | None, internal_subset: int) -> None:
    if internal_subset:
        raise _Declarations


def _utf8(document: bytes) -> bytes:
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
