"""A CESQL expression as steps in postfix order: operands first, then what is done with them.

A chain of a thousand ORs is as deep as it is long; in postfix order nothing that walks an expression has to recurse.
Every step knows its place in the text, for errors; equality ignores it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CesqlValue = bool | int | str


@dataclass(frozen=True, slots=True)
class Literal:
    value: CesqlValue
    at: int = field(default=0, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        """In Python 1 equals True, in CESQL it does not."""
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class ContextAttribute:
    """`subject`: an attribute of the CloudEvent, in lower case."""

    name: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HasAttribute:
    """`EXISTS subject`"""

    name: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`NOT` or `-` of the operand before it."""

    operator: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator on the two operands before it; `<>` is written `!=`."""

    operator: str
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MatchesPattern:
    """`LIKE 'a%'` of the operand before it."""

    pattern: str
    negated: bool = False
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IsAmong:
    """`IN`: the operand before the last `count` ones equals one of these."""

    count: int
    negated: bool = False
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, its name in upper case, of the last `count` operands."""

    name: str
    count: int
    at: int = field(default=0, compare=False, repr=False)


Step = Literal | ContextAttribute | HasAttribute | Unary | Binary | MatchesPattern | IsAmong | Call


@dataclass(frozen=True, slots=True)
class Expression:
    """What was written, and its steps; equal expressions have the same steps."""

    text: str = field(compare=False)
    steps: tuple[Step, ...]
