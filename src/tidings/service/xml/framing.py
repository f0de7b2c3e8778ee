"""Where one XML request ends on a TCP stream: pieces of bytes in, whole documents out.

Only tags are counted here, in one pass over the bytes however they are cut; whether a document is well-formed the
parser says, once it is whole. What no request may have is refused before it is whole: a document type declaration of
its own, elements nested too deep, too many attributes, too many bytes, another encoding than those read here.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from tidings.errors import Explained, ServiceError

DEEPEST = 64
MOST_ATTRIBUTES = 32  # of one element

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_OPENINGS = (b"<!--", b"<![CDATA[", b"<!DOCTYPE")
_STRAY = re.compile(rb"[^ \t\r\n]")
# No `<` inside a tag, not even quoted (XML forbids it there), so nothing is read twice.
_TAG = re.compile(rb"""<(/?)[^\x00-\x20<>/="'!?]++((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>""")
_IN_TAG = {0: re.compile(rb"""[<>"']"""), ord('"'): re.compile(rb'[<"]'), ord("'"): re.compile(rb"[<']")}
_IN_DOCTYPE = {**_IN_TAG, 0: re.compile(rb"""[<>"'\[]""")}
_QUOTED = re.compile(rb""""[^"]*"|'[^']*'""")
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE\s+[^\s\[<>"']+(?:\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+(?:"[^"]*"|'[^']*'))?\s*>"""
)
_DECLARATION = re.compile(rb"<\?xml[ \t\r\n]")
_ENCODING = re.compile(rb"""[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"']*)["']""")
_ENCODINGS = {"utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "us-ascii", "ascii": "us-ascii",
              "iso-8859-1": "iso-8859-1", "latin1": "iso-8859-1"}  # fmt: skip
_NOT_NEWLINE = re.compile(rb"[^\r\n]")


class MalformedRequest(Explained, ServiceError):
    """The line and column in the request (0 where unknown), and why it is not XML that is read here."""

    line: int
    column: int
    reason: str
    template = "{place}{reason}"

    @property
    def place(self) -> str:
        return f"line {self.line}, column {self.column}: " if self.line else ""


class RequestTooLarge(Explained, ServiceError):
    largest: int
    template = "the request is larger than {largest!n} bytes"


class Document(NamedTuple):
    """A request from its first byte to the end of its root element, the document type declaration blanked out."""

    text: bytes
    encoding: str


class Framing:
    """Of one connection. After a problem nothing more is read: nobody knows where the next request begins."""

    def __init__(self, largest: int) -> None:
        self.problem: MalformedRequest | RequestTooLarge | None = None
        self._largest = largest
        self._buffer = bytearray()  # from the first byte of the document that is not whole yet
        self._begin()

    @property
    def partial(self) -> bool:
        """Whether a request has begun and not ended."""
        return bool(self._buffer)

    def __len__(self) -> int:
        """Bytes of the document that is not whole yet."""
        return len(self._buffer)

    def feed(self, piece: bytes) -> list[Document]:
        """The documents that are whole now; `problem` says whether one more may come after them."""
        found: list[Document] = []
        if self.problem is None:
            self._buffer += piece
            try:
                while (document := self._next()) is not None:
                    found.append(document)
            except (MalformedRequest, RequestTooLarge) as problem:
                self.problem = problem
                self._buffer.clear()
        return found

    def clear(self) -> None:
        self._buffer.clear()

    def _begin(self) -> None:
        self._place = 0  # all before is done with
        self._depth = 0
        self._encoding = "utf-8"
        self._doctype: tuple[int, int] | None = None
        self._inside = b""  # the opening of what has begun at `place` and not ended: a comment, a tag
        self._resume = 0  # its bytes before this are read
        self._quote = 0  # in which quotes that is

    def _next(self) -> Document | None:
        """The next whole document, or None until more has come."""
        buffer = self._buffer
        while True:
            if not self._inside and not self._open():
                break
            if self._inside:
                end = self._end()
                if end < 0:
                    break
                if end > self._largest:
                    raise RequestTooLarge(self._largest)
                opening, self._inside = self._inside, b""
                if self._passed(opening, end):
                    return self._whole(end)
        if len(buffer) > self._largest:
            raise RequestTooLarge(self._largest)
        return None

    def _open(self) -> bool:
        """Finds what begins next; False until more has come."""
        buffer = self._buffer
        if self._depth == 0 and not self._skip_blanks():
            return False
        start = buffer.find(b"<", self._place)
        if start < 0:
            self._place = len(buffer)
            return False
        self._place = start
        if len(buffer) < start + 2:
            return False
        mark = buffer[start + 1]
        if mark == 0x21:  # !
            begun = bytes(buffer[start : start + 9])
            for opening in _OPENINGS:
                if begun.startswith(opening):
                    self._inside, self._resume = opening, start + len(opening)
                    return True
                if opening.startswith(begun):
                    return False
            shared = max(_shared(begun, opening) for opening in _OPENINGS)
            self._refuse(start + shared, "'<!' here begins neither a comment nor CDATA nor a DOCTYPE")
        if mark == 0:
            self._refuse(start + 1, "a zero byte: this is not UTF-8 text; write UTF-8")
        self._inside, self._resume = (b"<?" if mark == 0x3F else b"<"), start + 1
        return True

    def _skip_blanks(self) -> bool:
        """Between the parts before the root element there may be nothing else."""
        buffer = self._buffer
        if self._place == 0:
            blanks = len(buffer) - len(buffer.lstrip(_BLANK))
            while buffer.startswith(_BOM, blanks):
                blanks = len(buffer) - len(buffer[blanks + 3 :].lstrip(_BLANK))
            del buffer[:blanks]
            if _BOM.startswith(buffer):
                return False  # a part of a byte order mark, or nothing
        stray = _STRAY.search(buffer, self._place)
        if stray is None:
            self._place = len(buffer)
            return False
        if buffer[stray.start()] != 0x3C:
            self._refuse(stray.start(), "text where a request should begin; a request is one XML element")
        return True

    def _end(self) -> int:
        """Where what has begun ends; below 0 until that has come."""
        buffer, opening = self._buffer, self._inside
        if opening == b"<":
            if self._resume == self._place + 1 and (tag := _TAG.match(buffer, self._place)):
                return tag.end()
            return self._end_of_tag(_IN_TAG)
        if opening == b"<!DOCTYPE":
            return self._end_of_tag(_IN_DOCTYPE)
        closing = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}[opening]
        found = buffer.find(closing, self._resume)
        if found < 0:
            self._resume = max(self._resume, len(buffer) - len(closing) + 1)
            return -1
        return found + len(closing)

    def _end_of_tag(self, marks: dict[int, re.Pattern[bytes]]) -> int:
        buffer = self._buffer
        while found := marks[self._quote].search(buffer, self._resume):
            mark = buffer[found.start()]
            self._resume = found.end()
            if mark == 0x3E:  # >
                return self._resume
            if mark == 0x3C:  # <
                self._refuse(found.start(), "a '<' inside a tag, where it is written &lt;")
            if mark == 0x5B:  # [
                self._refuse(
                    found.start(),
                    "a document type declaration may only name an external file, which is not read; "
                    "internal declarations, such as entities, are refused",
                )
            self._quote = 0 if self._quote else mark
        self._resume = len(buffer)
        return -1

    def _passed(self, opening: bytes, end: int) -> bool:
        """Steps over what has just ended; whether the root element ends with it."""
        buffer, start = self._buffer, self._place
        self._place, self._quote = end, 0
        if opening == b"<":
            return self._passed_tag(start, end)
        if opening == b"<![CDATA[" and self._depth == 0:
            self._refuse(end - 1, "CDATA outside of an element")
        if opening == b"<!DOCTYPE":
            if self._depth or self._doctype or not _DOCTYPE.fullmatch(buffer, start, end):
                self._refuse(end - 1, "this is not a document type declaration, or none is allowed here")
            self._doctype = (start, end)
        if opening == b"<?" and self._depth == 0 and _DECLARATION.match(buffer, start):
            self._declared(start, end)
        return False

    def _declared(self, start: int, end: int) -> None:
        """An XML declaration begins a document; comments before it belong to none."""
        if self._doctype:
            self._refuse(end - 1, "an XML declaration after a DOCTYPE")
        named = _ENCODING.search(self._buffer, start, end)
        name = named[1].decode("ascii", "replace") if named else "utf-8"
        if name.lower() not in _ENCODINGS:
            self._refuse(end - 1, f"the encoding {name[:40]!r} is not supported; use UTF-8")
        self._encoding = _ENCODINGS[name.lower()]
        del self._buffer[:start]
        self._place = end - start

    def _passed_tag(self, start: int, end: int) -> bool:
        buffer = self._buffer
        if buffer[start + 1] == 0x2F:  # </
            if self._depth == 0:
                self._refuse(end - 1, "a closing tag where a request should begin")
            self._depth -= 1
            return self._depth == 0
        if end - start > 4 * MOST_ATTRIBUTES and len(_QUOTED.findall(buffer, start, end)) > MOST_ATTRIBUTES:
            self._refuse(end - 1, f"an element with more than {MOST_ATTRIBUTES} attributes")
        if self._depth == DEEPEST:
            self._refuse(end - 1, f"elements are nested more than {DEEPEST} deep")
        if buffer[end - 2] == 0x2F:  # />
            return self._depth == 0
        self._depth += 1
        return False

    def _whole(self, end: int) -> Document:
        text = bytes(self._buffer[:end])
        if self._doctype:
            start, stop = self._doctype
            text = text[:start] + _NOT_NEWLINE.sub(b" ", text[start:stop]) + text[stop:]
        document = Document(text, self._encoding)
        del self._buffer[:end]
        self._begin()
        return document

    def _refuse(self, place: int, problem: str) -> NoReturn:
        if place >= self._largest:
            raise RequestTooLarge(self._largest)
        line = self._buffer.count(b"\n", 0, place) + 1
        raise MalformedRequest(line, place - self._buffer.rfind(b"\n", 0, place), problem)


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
