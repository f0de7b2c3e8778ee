"""A word pattern as a tree of plain values. What it means is in `meaning`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

LONGEST_GAP = 1_000  # words between two operands
MOST_WORDS = 256
DEEPEST = 50


@dataclass(frozen=True, slots=True)
class PatternWord:
    """`red`; `red*`, a word that begins so; `runs~`, a word with the same stem."""

    word: str
    form: Literal["", "*", "~"] = ""
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """`"red w* car"`: two or more words, one right after the other."""

    words: tuple[PatternWord, ...]


class Link(NamedTuple):
    """`<[least,most]`, so many words between; `near[most]`, in either order."""

    kind: Literal["<", "near"]
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Chain:
    """`a <[0,0] b near[5] c`: one more operand than links. Operands are words, phrases and `AnyOf` of these."""

    operands: tuple[Pattern, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Two or more, none of them an AllOf."""

    terms: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Two or more, none of them an AnyOf."""

    terms: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Lacks:
    """`not p`."""

    term: Pattern


@dataclass(frozen=True, slots=True)
class AtLeast:
    """`at least 2 of (p, q, r)`."""

    count: int
    terms: tuple[Pattern, ...]


Pattern = PatternWord | Phrase | Chain | AllOf | AnyOf | Lacks | AtLeast


def all_of(terms: list[Pattern]) -> Pattern:
    flat = [one for term in terms for one in (term.terms if type(term) is AllOf else (term,))]
    return flat[0] if len(flat) == 1 else AllOf(tuple(flat))


def any_of(terms: list[Pattern]) -> Pattern:
    flat = [one for term in terms for one in (term.terms if type(term) is AnyOf else (term,))]
    return flat[0] if len(flat) == 1 else AnyOf(tuple(flat))


def words_in(pattern: Pattern) -> Iterator[PatternWord]:
    """All its words, in order."""
    match pattern:
        case PatternWord():
            yield pattern
        case Lacks(term):
            yield from words_in(term)
        case Phrase(parts) | Chain(parts) | AllOf(parts) | AnyOf(parts) | AtLeast(_, parts):
            for part in parts:
                yield from words_in(part)
