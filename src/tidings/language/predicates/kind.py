"""What Tidings has to know about a kind of predicate, and the demands that every kind comes down to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from tidings.language.like import LikePattern
from tidings.language.patterns.tree import Pattern
from tidings.language.ranges import Ranges, Space
from tidings.language.tree import Inside, Near, Node, Not, Predicate
from tidings.paths.tree import Path
from tidings.schema.catalog import Catalog
from tidings.schema.values import Number, Span, Value

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

P = TypeVar("P")
SpaceOf = Callable[[str], Space]  # by attribute


class ValueIn(NamedTuple):
    """The chosen value lies in one of the ranges."""

    attribute: str
    ranges: Ranges


class EndIn(NamedTuple):
    """The chosen string, read backwards, lies in one of the ranges."""

    attribute: str
    ranges: Ranges


class Fits(NamedTuple):
    """The chosen string fits the pattern, or does not."""

    attribute: str
    pattern: LikePattern
    negated: bool = False


class HasMember(NamedTuple):
    """The value is among those bound, or is not."""

    attribute: str
    value: Value
    negated: bool = False


class HasWords(NamedTuple):
    """One of the values has any or all of the words; negated: none of them does."""

    attribute: str
    quantifier: Literal["any", "all"]
    words: tuple[str, ...]
    negated: bool = False


class HasPattern(NamedTuple):
    """One of the values satisfies the pattern; negated: none of them does."""

    attribute: str
    pattern: Pattern
    negated: bool = False


class HasPath(NamedTuple):
    """The path selects a node in one of the documents; negated: in none of them."""

    attribute: str
    path: Path
    negated: bool = False


class IsSimilar(NamedTuple):
    """The cosine of the text and one of the values is at least this; negated: of none of them."""

    attribute: str
    text: str
    least: float
    negated: bool = False


class Relates(NamedTuple):
    """The chosen values of two attributes stand in one of the relations (bits of `relations`)."""

    left: str
    right: str
    bits: int


class RelatesLinearly(NamedTuple):
    """As `Relates`, with the value of the right one times `scale` plus `offset`."""

    left: str
    right: str
    bits: int
    scale: Number
    offset: Number | Span


class AheadIn(NamedTuple):
    """How far the chosen time lies after the event's acceptance, in microseconds, is in one of the ranges."""

    attribute: str
    ranges: Ranges


class WithinRegion(NamedTuple):
    """The chosen place lies in the region, or does not."""

    region: Near | Inside
    negated: bool = False


class IsBound(NamedTuple):
    attribute: str
    negated: bool = False


class Verified(NamedTuple):
    """No interval can say it: the literal is evaluated on one event for one filter."""

    literal: Predicate | Not


Demand = (
    ValueIn
    | EndIn
    | Fits
    | HasMember
    | HasWords
    | HasPattern
    | HasPath
    | IsSimilar
    | Relates
    | RelatesLinearly
    | AheadIn
    | WithinRegion
    | IsBound
    | Verified
)


class Form(NamedTuple):
    """One way to write a predicate: the sign or keyword after the attribute, and a function that reads the rest.

    `parse(cursor, attribute, at)` is called with the cursor behind the opening.
    """

    opening: str
    parse: Callable[[Cursor, str, int], Predicate]
    after_not: bool  # whether `A not <opening> …` is allowed
    offered: bool = True  # whether an error lists it among what could stand there


@dataclass(frozen=True, slots=True)
class PredicateKind(Generic[P]):
    """One row of the table. Every field must be given, so that nothing about a new kind can be forgotten.

    How a kind covers follows from its demand: see `covering`. What it means is in `matching.naive`.
    """

    node: type[P]
    other_attributes: tuple[str, ...]  # fields beside `attribute` that name an attribute
    forms: tuple[Form, ...]  # none where only binding makes it
    text: Callable[[P], str]  # what follows the attribute, in canonical text
    not_inside: bool  # whether its negation is `A not …`; else it is `not (A …)`
    bind: Callable[[P, Scope], Node]
    opposite: Callable[[P, Catalog], Node]  # its negation
    chooses: bool  # whether it speaks of the one chosen value per attribute; else of all values
    demand: Callable[[P, SpaceOf], Demand]


def no_opposite(predicate: Predicate, catalog: Catalog) -> Node:
    """For kinds whose negation only `not` can say."""
    return Not(predicate)
