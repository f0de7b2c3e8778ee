"""XML text from outside into an element tree: nothing is fetched or expanded, only closing tags are guessed.

`xml_form` calls it. No document type declaration reaches the parser: one that only names an external file is
blanked out, any other is refused; so there are no entities to expand. What the parser still refuses comes
back with line and column.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection

from lxml import etree

from tidings.errors import SchemaError, nearest

LARGEST = 16 * 2**20  # bytes
DEEPEST = 256  # nested elements; libxml2's own limit without huge_tree
_MOST_REPAIRS = 100  # a text with more mis-spelt tags is not a slip of the pen, and each repair counts lines anew

_ENCODING = re.compile(rb"""\A<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_KNOWN_ENCODING = re.compile(r"utf-?8|utf-?16(le|be)?|us-ascii|iso-8859-\d{1,2}|windows-125\d", re.IGNORECASE)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DOCTYPE = re.compile(
    r"""<!DOCTYPE\s+[^\s\[<>"']+(?:\s+(?:SYSTEM|PUBLIC\s+(?:"[^"<]*"|'[^'<]*'))\s+(?:"[^"<]*"|'[^'<]*'))?\s*>"""
)
_BLANKS = re.compile(r"\s*")
# No `<` inside, not even quoted (XML forbids it there): the search never reads a text twice.
_TAG = re.compile(r"""<(/?)([^\s<>/="'!?]++)((?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>""")


class MalformedXml(SchemaError):
    """The text is not XML that Tidings reads; line and column are 0 where there is no place."""

    line: int
    column: int
    what: str

    def problem(self) -> str:
        return f"line {self.line}, column {self.column}: {self.what}" if self.line else self.what


def parse(text: bytes | str, names: Collection[str]) -> tuple[etree._Element, list[str]]:
    """The root element and a note for each closing tag that was put right; raises MalformedXml.

    `names` are the elements of the form: a closing tag with one of them is in the wrong place, not mis-spelt.
    """
    plain = _without_doctype(_decoded(text))
    try:
        return _parsed(plain), []
    except etree.XMLSyntaxError as problem:
        if "tag mismatch" not in (problem.msg or ""):
            raise _malformed(problem) from None
    repaired, notes = _with_tags_repaired(plain, names)
    try:
        return _parsed(repaired), notes
    except etree.XMLSyntaxError as problem:
        raise _malformed(problem) from None


def _parsed(text: str) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8",  # whatever the text declares: it has been decoded
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    return etree.fromstring(text.encode(), parser)


def _malformed(problem: etree.XMLSyntaxError) -> MalformedXml:
    line, column = problem.position
    message = re.sub(r"\s*, line \d+, column \d+$", "", problem.msg or "")
    if "Excessive depth" in message:
        message = f"elements are nested more than {DEEPEST} deep"
    return MalformedXml(line, column, f"not XML: {message}")


def _decoded(text: bytes | str) -> str:
    if isinstance(text, str):
        try:
            size = len(text.encode())
        except UnicodeEncodeError as problem:
            raise MalformedXml(*_place(text, problem.start), "unpaired surrogate") from None
        _refuse_large(size)
        return text.removeprefix("\ufeff")
    _refuse_large(len(text))
    encoding = _encoding(text)
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as problem:
        name = encoding.removesuffix("-sig").upper()
        raise MalformedXml(0, 0, f"byte {problem.start}: not {name} text") from None
    except LookupError:
        raise MalformedXml(1, 1, f"unknown encoding {encoding!r}; use UTF-8") from None


def _encoding(text: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if text.startswith(mark):
            return encoding
    declared = _ENCODING.match(text)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    if not _KNOWN_ENCODING.fullmatch(name):
        raise MalformedXml(1, 1, f"the encoding {name!r} is not supported; use UTF-8")
    return name


def _refuse_large(size: int) -> None:
    if size > LARGEST:
        raise MalformedXml(0, 0, f"the text has {size:,} bytes; at most {LARGEST:,} are read")


def _without_doctype(text: str) -> str:
    """The text with its document type declaration blanked out, so that every place stays where it was."""
    place = 0
    while True:
        place = _BLANKS.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing, too
        if text.startswith("<!DOCTYPE", place):
            break
        end = _end_of_aside(text, place)
        if end is None:
            return text
        place = end
    found = _DOCTYPE.match(text, place)
    if found is None:
        raise MalformedXml(
            *_place(text, place),
            "a document type declaration may only name an external file, which is not read; "
            "internal declarations, such as entities, are refused",
        )
    return text[:place] + re.sub(r"[^\r\n]", " ", found[0]) + text[found.end() :]


def _end_of_aside(text: str, place: int) -> int | None:
    """The end of the comment, instruction or CDATA that begins here; None when none does or it never ends."""
    for opening, closing in (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")):
        if text.startswith(opening, place):
            end = text.find(closing, place + len(opening))
            return None if end < 0 else end + len(closing)
    return None


def _with_tags_repaired(text: str, names: Collection[str]) -> tuple[str, list[str]]:
    """The text with mis-spelt closing tags put right, up to anything else that is wrong, and the notes."""
    pieces: list[str] = []
    notes: list[str] = []
    opened: list[str] = []
    copied = 0
    place = text.find("<")
    while place >= 0 and len(notes) < _MOST_REPAIRS and len(opened) <= DEEPEST:
        end = _end_of_aside(text, place)
        if end is None:
            tag = _TAG.match(text, place)
            if tag is None:
                break
            end = tag.end()
            closing, name, rest = tag.groups()
            if not closing:
                if not rest.endswith("/"):
                    opened.append(name)
            elif not opened:
                break
            elif (meant := opened.pop()) != name:
                if name in names or not is_near_miss(name, meant):
                    break
                pieces += (text[copied : tag.start(2)], meant)
                copied = tag.end(2)
                notes.append(f"line {_place(text, place)[0]}: the closing tag </{name}> was read as </{meant}>")
        place = text.find("<", end)
    return "".join(pieces) + text[copied:], notes


def is_near_miss(word: str, meant: str) -> bool:
    """Whether the word is a slip of the pen; a longer one ('untrue') may well mean another thing."""
    return abs(len(word) - len(meant)) <= 1 and nearest(word, (meant,)) == meant


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
