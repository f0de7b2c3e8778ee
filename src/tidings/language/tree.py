"""The filter as a tree of plain values. What a node means is defined in `matching.naive`; everything else about a
predicate is in the table `predicates`.

A parsed tree may hold bare `Word`s and double-quoted `Name`s on the right of an operator; binding turns
them into values or attributes. Every predicate knows the offset in the text it came from, for errors;
equality ignores it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tidings.language.patterns.tree import Pattern
from tidings.paths.tree import Path
from tidings.schema.values import Number, Place, Span, Value

if TYPE_CHECKING:
    from tidings.language.cesql.expression import Expression
    from tidings.language.cesql.filters import FiltersArray


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word: a value or an attribute, as binding finds out."""

    name: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in double quotes: always an attribute."""

    name: str
    at: int = field(default=0, compare=False, repr=False)


Operand = Value | Word | Name


@dataclass(frozen=True, slots=True)
class Comparison:
    """`price < 1300`; `under` is an operator too until binding turns it into `<=`."""

    attribute: str
    operator: str
    value: Operand
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AttributeComparison:
    """`price < budget`, both of them attributes."""

    attribute: str
    operator: str
    other: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LinearComparison:
    """`price < 1.1 * estimate + 50`, `ends > starts + 2 h`: the value of `other` times `scale` plus `offset`."""

    attribute: str
    operator: str
    scale: Number
    other: str | Word | Name
    offset: Number | Span
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NowComparison:
    """`ends < now + 2 h`: with the time at which the event was accepted."""

    attribute: str
    operator: str
    offset: Span
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Near:
    """`spot near (37.8, -122.4) within 10 km`."""

    attribute: str
    centre: Place
    distance: Number
    unit: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Inside:
    """`spot inside (37, -123, 38, -122)`: south, west, north, east."""

    attribute: str
    corners: tuple[Number, Number, Number, Number]
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Between:
    attribute: str
    low: Operand
    high: Operand
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Like:
    """`title starts with 'The'`, `file ends with '.pdf'`, `title like '%red_mini%'`."""

    attribute: str
    form: Literal["starts", "ends", "like"]  # the operator that the domain must allow
    text: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class In:
    attribute: str
    values: tuple[Operand, ...]
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Contains:
    """The value is among those bound to the attribute. (Of strings and text: `ContainsWords`, once bound.)"""

    attribute: str
    value: Operand
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContainsWords:
    """One value of the attribute has any, or all, of these words."""

    attribute: str
    quantifier: Literal["any", "all"]
    words: tuple[str, ...]
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContainsPattern:
    """One value of the attribute satisfies the pattern of words."""

    attribute: str
    pattern: Pattern
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Similar:
    """One value of the attribute is as similar to the text as this: the cosine of their tf-idf vectors."""

    attribute: str
    text: str
    least: int | float
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class XPath:
    """`article xpath '//title'`: the path selects a node in one of the documents. Bound, the text is canonical, and
    `path` is what it says with the prefixes of the domain."""

    attribute: str
    text: str
    path: Path | None = field(default=None, compare=False, repr=False)
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exists:
    attribute: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InDialect:
    """`event_type cesql '…'`: the event as a CloudEvent, with the chosen event type, passes what was written in another
    language. `checked`: what can be said in this one stands beside it. `translated`: that is all of it, and this only
    remembers what was written."""

    attribute: str
    dialect: Literal["cesql", "cloudevents"]
    text: str
    stage: Literal["written", "checked", "translated"]
    meaning: Expression | FiltersArray = field(compare=False, repr=False)
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    term: Node


@dataclass(frozen=True, slots=True)
class And:
    """Two or more terms, none of them an And."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more terms, none of them an Or."""

    terms: tuple[Node, ...]


Predicate = (
    Comparison
    | AttributeComparison
    | LinearComparison
    | NowComparison
    | Near
    | Inside
    | Between
    | In
    | Like
    | Contains
    | ContainsWords
    | ContainsPattern
    | Similar
    | XPath
    | Exists
    | InDialect
)
Node = Predicate | Not | And | Or


def both(terms: list[Node]) -> Node:
    """The conjunction of the terms, flat."""
    flat = [t for term in terms for t in (term.terms if type(term) is And else (term,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def either(terms: list[Node]) -> Node:
    """The disjunction of the terms, flat."""
    flat = [t for term in terms for t in (term.terms if type(term) is Or else (term,))]
    return flat[0] if len(flat) == 1 else Or(tuple(flat))
