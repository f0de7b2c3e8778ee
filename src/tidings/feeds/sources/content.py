"""What was got from a place, and its text: in which encoding, and who says so."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.sources.large_file import LargeFile
from tidings.feeds.sources.packed import LARGEST, unpacked
from tidings.schema.values import is_text

_DECLARED = {
    "html": re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._-]{1,40})", re.IGNORECASE),
    "xml": re.compile(rb"\A\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']"),
}
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_OF_TEXT = re.compile(
    r"utf-(8|16|32).*|ascii|iso8859-.*|cp\d+|koi8-.*|mac-.*|shift_jis.*|euc_.*|iso2022_.*|gb.*|big5.*"
)
_IN_LINES = ("csv", "json", "log")  # where a damaged line costs no other
MOST_DAMAGED = 100  # at most one line in this many
ESCAPED = "surrogateescape"  # invalid bytes become halves of surrogate pairs, which no event may have


@dataclass(frozen=True, slots=True)
class Content:
    """What was got from a place; `encoding` is what whoever sent it said about it.

    A look at a folder reads several files: this is the `number`th of `of`. Of a `large` file, `body` is only the
    beginning, unpacked."""

    place: str
    body: bytes
    encoding: str = ""
    number: int = 1
    of: int = 1
    large: LargeFile | None = None


def decoded(content: Content, layout: Layout) -> str:
    """Unpacked, and by the encoding that `codec` finds. Raises UnreadableFeed, also where it is too large."""
    if content.large is not None:
        advice = "larger files must be CSV, JSON Lines or logs"
        raise UnreadableFeed(content.place, f"it has more than {LARGEST:,} bytes; {advice}")
    body = unpacked(content.place, content.body)
    name = codec(content, body, layout)
    try:
        text = body.decode(name, "replace" if layout.format == "html" else "strict")
    except UnicodeDecodeError as problem:
        text = _mostly_text(body, name) if layout.format in _IN_LINES else ""
        if not text:
            what = not_text(content, layout, body)
            raise UnreadableFeed(content.place, f"byte {problem.start}: {what}") from None
    return text.removeprefix("\ufeff")


def not_text(content: Content, layout: Layout, body: bytes | None = None) -> str:
    """`body` is the content's, unpacked."""
    name = codec(content, content.body if body is None else body, layout)
    return f"not valid {name.upper()}; set another with the mapping's `encoding` or --encoding"


def few_enough(damaged: int, lines: int) -> bool:
    """Whether lines that are not text may be faults of their own; else the encoding is another."""
    return damaged * MOST_DAMAGED <= lines


def _mostly_text(body: bytes, name: str) -> str:
    """With `ESCAPED` where bytes are not valid; empty where too many lines have such, or it cannot be done."""
    try:
        text = body.decode(name, ESCAPED)
    except UnicodeDecodeError:
        return ""
    lines = text.split("\n")
    return text if few_enough(sum(not is_text(line) for line in lines), len(lines)) else ""


def codec(content: Content, body: bytes, layout: Layout) -> str:
    """Python's name of the mapping's encoding, else that of a byte order mark, else the sender's, else its own, else
    UTF-8; `body` is its beginning at least. Raises UnreadableFeed."""
    encoding = layout.encoding or _marked(body) or content.encoding or _declared(body, layout.format)
    name = codec_of(encoding or "utf-8")
    if name is None:
        raise UnreadableFeed(content.place, f"unknown encoding {encoding!r}; set another with the mapping's `encoding`")
    if layout.format == "html" and name in ("ascii", "iso8859-1"):
        name = "cp1252"  # as all browsers read it
    return name


def codec_of(encoding: str) -> str | None:
    """Python's name of an encoding of text; None for what is none or does more than decode."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    return name if _OF_TEXT.fullmatch(name) else None


def _marked(body: bytes) -> str:
    return next((encoding for mark, encoding in _MARKS.items() if body.startswith(mark)), "")


def _declared(body: bytes, format: str) -> str:
    found = _DECLARED[format].search(body[:4096]) if format in _DECLARED else None
    name = "" if found is None else found[1].decode("ascii")
    return "" if name.lower().startswith("utf-16") else name  # whose letters could not be read as these were
