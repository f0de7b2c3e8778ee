"""Many filters' texts cut at their literals, so that what they share is parsed once.

`price < 1300 and brand = 'mini'` is the pieces `price < `, ` and brand = ` and the end, with the literals `1300` and
`'mini'` between them. Thousands of filters have few different pieces. A piece is read by the ordinary parser and
binder, together with one of its literals; where what it means does not hang on the other pieces, `predicates_of`
answers, and a filter made of such pieces is the conjunction of their predicates with its own literals put in. All
other filters must be parsed one by one, which also finds what is wrong with them.

A cut agrees with `tokens`, or its filter is parsed: names keep their digits, hyphens and dots; a piece that ends inside
double quotes, or in which a single quote opens and nothing closes it, is not a filter with any literal after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tidings.errors import LanguageError
from tidings.language.binder import bind
from tidings.language.parser import parse
from tidings.language.tree import And, Comparison, Contains, ContainsWords
from tidings.schema.catalog import Catalog
from tidings.schema.values import LARGEST_INTEGER, Value

_BEGIN, _END, _NEXT = "\x01", "\x02", "\x03"  # around each text and between two; no text that is cut contains them
_MARKS = re.compile("[\x01-\x03]")
_LONGEST = 4096  # a longer filter is parsed: it may be too long

# It begins with a set of characters, so that `re` skips all others at once: 1.4 µs a filter of le-subscribe instead of
# 3.2. `literal_value` rejects what is not a number (`+`, `.5.6`).
_LITERAL = re.compile(
    r"([0-9+\-.'\x03](?:"
    r"(?<=')(?:[^'\x01-\x03]++|'')*+'"
    r"|(?<=\x03)"
    r"|(?<!')(?<![\w.\-].)[0-9]*+(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]+)?"
    r"))"
)
_AND = re.compile(r"\s*and(?![\w.\-])", re.IGNORECASE)

Simple = Comparison | Contains | ContainsWords


class Cut(NamedTuple):
    """The pieces of many texts, one text after the other, and the literal after each: none after a last one."""

    pieces: list[str]
    literals: list[str]


def cut(texts: Sequence[str]) -> Cut:
    """One or more texts. One that cannot be cut counts as empty, which is not a filter either."""
    joined = _joined(texts)
    marks = sum(map(joined.count, (_BEGIN, _END, _NEXT)))
    if marks >= 3 * len(texts) or max(map(len, texts)) > _LONGEST:
        joined = _joined(["" if len(text) > _LONGEST or _MARKS.search(text) else text for text in texts])
    parts = _LITERAL.split(joined)
    return Cut(parts[::2], [*parts[1::2], _NEXT])


def _joined(texts: Sequence[str]) -> str:
    return _BEGIN + (_END + _NEXT + _BEGIN).join(texts) + _END


def is_last(piece: str) -> bool:
    """Whether a text ends with it."""
    return piece.endswith(_END)


def predicates_of(piece: str, literal: str, catalog: Catalog) -> tuple[Simple, ...] | None:
    """The bound predicates that a piece with the literal after it adds to the conjunction: the last of them has the
    literal, except in a last piece. None where only the whole filter can be understood, or is wrong."""
    text = piece.strip(_BEGIN + _END)
    if not piece.startswith(_BEGIN):
        if is_last(piece) and not text.strip():
            return ()
        joint = _AND.match(text)
        if joint is None:
            return None
        text = text[joint.end() :]
    text += literal.removeprefix(_NEXT)
    try:
        tree = bind(parse(text), text, catalog)
    except LanguageError:
        return None
    terms = tree.terms if isinstance(tree, And) else (tree,)
    simple = tuple(term for term in terms if isinstance(term, Comparison | Contains | ContainsWords))
    return simple if len(simple) == len(terms) else None


def literal_value(written: str) -> Value | None:
    """What a literal stands for; None if it is not a number, or so large that the parser must judge it."""
    if written[0] == "'":
        return written[1:-1].replace("''", "'")
    try:
        value = float(written)
    except ValueError:
        return None
    return value if abs(value) < LARGEST_INTEGER else None
