"""A path as data. The parser builds it; printer, covering, warnings and the index each read it with one `match`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Axis = Literal["child", "descendant"]
Operator = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Name:
    """The prefix only serves printing: names are equal when namespace and local name are."""

    local: str
    namespace: str = ""
    prefix: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Element:
    name: Name | None  # None: `*`


@dataclass(frozen=True, slots=True)
class Attribute:
    name: Name | None  # None: `@*`


@dataclass(frozen=True, slots=True)
class Text:
    """`text()`"""


NodeTest = Element | Attribute | Text


@dataclass(frozen=True, slots=True)
class Step:
    """`axis` is descendant after `//`: anywhere below, attributes of the node itself included."""

    axis: Axis
    node: NodeTest
    tests: tuple[Test, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """No steps: the node itself (`.`)."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Holds when some selected node compares so: as texts if the literal is a text and the operator = or !=, else as
    numbers."""

    steps: tuple[Step, ...]
    operator: Operator
    literal: str | float


@dataclass(frozen=True, slots=True)
class StringTest:
    """Looks at the first selected node; without one, at the empty text."""

    function: Literal["contains", "starts-with"]
    steps: tuple[Step, ...]
    text: str


@dataclass(frozen=True, slots=True)
class And:
    terms: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Or:
    terms: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Not:
    term: Test


Test = Exists | Comparison | StringTest | And | Or | Not


@dataclass(frozen=True, slots=True)
class Path:
    steps: tuple[Step, ...]


def atoms(test: Test) -> Iterator[Exists | Comparison | StringTest]:
    """The tests within it that are not built from others, without those of their steps."""
    match test:
        case And(terms) | Or(terms):
            for term in terms:
                yield from atoms(term)
        case Not(term):
            yield from atoms(term)
        case _:
            yield test
