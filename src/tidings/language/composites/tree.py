"""A composite as a tree of plain values. The parser has done what is only writing: chains are nested binary operators,
`[b]{3}` is three leaves, `together with` is `Both`, and every option is filled in. Spans are microseconds (`Span`),
like the times of events (`Instant`).

An **instance** of a node is a set of different events (its constituents) with a first and a last time. Two instances of
a node with the same constituents and last time are one. Instances are ordered by (last time, first time, then their
events by (time, source, id)). Which event bears which name is part of an instance: `where` asks for it.

Every part knows the offset in the text it came from, for errors; equality ignores it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import time
from typing import Literal, NamedTuple, assert_never

from tidings.language.tree import AttributeComparison, Comparison, LinearComparison, Node
from tidings.schema.values import Instant, Span

Selection = int | Literal["all", "last"]
"""Every one, the latest, or the n-th, counted from 1; `first` is 1."""


class Select(NamedTuple):
    """The selections of the two operands."""

    left: Selection = "all"
    right: Selection = "all"


ALL = Select()


@dataclass(frozen=True, slots=True)
class Leaf:
    """`[price > 100] as big`: an instance is one event that matches the filter; both its times are the event's."""

    filter: Node
    name: str | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Every:
    """`[every 5 min]`: a time event at each whole multiple of the span since Monday, 1970-01-05T00:00:00Z, so that the
    times are the same for every composite. `time_leaves` computes them. It has no attributes, only its envelope."""

    span: Span
    name: str | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EveryDay:
    """`[every day at '09:00' in 'Europe/Athens']`: a time event each day when the clocks of the zone show the time."""

    clock: time
    zone: str = "UTC"
    name: str | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a `where`: some value of `part`'s attribute stands in the relation to the constant of a
    Comparison, or to some value of the other attribute, which is `other_part`'s. A part without an event (its side of
    an `or` did not happen) or whose event lacks the attribute satisfies nothing. Conditions are tested one by one: each
    may be satisfied by other values."""

    part: str
    comparison: Comparison | AttributeComparison | LinearComparison
    other_part: str | None = None  # None where the comparison is with a constant
    at: int = field(default=0, compare=False, repr=False)
    other_at: int = field(default=0, compare=False, repr=False)

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.part,) if self.other_part is None else (self.part, self.other_part)


@dataclass(frozen=True, slots=True)
class Without:
    """What must not happen: an instance of `term` between the two times of the operator that holds this, for which
    all conditions hold. The conditions may name parts of `term` and those visible in the operands."""

    term: Part
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """`P or Q`: an instance of P or of Q; with `within`, one whose last time minus its first is at most that."""

    left: Part
    right: Part
    within: Span | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Before:
    """`P before Q within T`: p and q, p's last time earlier than q's first, q's last time at most T after p's first.

    With `without`, also no instance of it that begins after p's last time and ends before q's first.
    `unique`: no event takes part in two instances of this operator. `final`: a pair is known when the frame of the
    instance that waited has passed."""

    left: Part
    right: Part
    within: Span
    select: Select = ALL
    unique: bool = False
    final: bool = False
    where: tuple[Condition, ...] = ()
    without: Without | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Both:
    """`P and Q within T`: p and q in any order, the last time of both at most T after their first. `P together with Q`
    is this with a frame of 1 s."""

    left: Part
    right: Part
    within: Span
    select: Select = ALL
    unique: bool = False
    final: bool = False
    where: tuple[Condition, ...] = ()
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unless:
    """`P unless R within T`: p, and no instance of R that begins after p's last time and ends at most T after it.
    The instance's last time is p's last time plus T. `where` restricts p; what restricts R is in `without`."""

    term: Part
    without: Without
    within: Span
    where: tuple[Condition, ...] = ()
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Nth:
    """`nth(P, n)`: the n-th instance of P since the start, once; with `within`, only if its last time minus its first
    is at most that."""

    term: Part
    n: int
    within: Span | None = None
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Times:
    """`times(P, n) within T`: n instances of P without a common event, the last time of all at most T after the first
    of all; they are then used up. Names inside are not visible outside."""

    term: Part
    n: int
    within: Span
    at: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Absent:
    """`absent(P) within T`, only at the root. An instance has no constituents, and the time s + T of a frame (s, s + T]
    in which no instance of P ends. The first frame begins at the start; the next at the end of the one before, or at
    the last time of the P that broke it."""

    term: Part
    within: Span
    at: int = field(default=0, compare=False, repr=False)


Pair = Before | Both  # the operators that the machine of waiting instances runs
TimeLeaf = Every | EveryDay
Part = Leaf | TimeLeaf | Either | Pair | Unless | Nth | Times
Root = Part | Absent


@dataclass(frozen=True, slots=True)
class Composite:
    """A tree with the options of the whole.

    `by`: the tree is evaluated apart for each combination of values of these attributes; an event takes part where it
    binds them all, and with several values in each. `start` and `span`: only events in [start, start + span) take
    part; without a start it is the subscription's own time, on a file the first event's. `expired`: instances that
    wait in vain for the rest of the pattern are reported, too."""

    tree: Root
    by: tuple[str, ...] = ()
    start: Instant | None = None
    span: Span | None = None
    expired: bool = False
    by_at: tuple[int, ...] = field(default=(), compare=False, repr=False)


def operands(node: Root) -> tuple[Part, ...]:
    """The nodes below, in the order of the text; what must not happen is the last."""
    match node:
        case Leaf() | Every() | EveryDay():
            return ()
        case Either(left, right) | Both(left, right):
            return (left, right)
        case Before(left, right):
            return (left, right) if node.without is None else (left, right, node.without.term)
        case Unless(term, without):
            return (term, without.term)
        case Nth(term) | Times(term) | Absent(term):
            return (term,)
        case _:
            assert_never(node)


def nodes(node: Root) -> Iterator[Root]:
    """The node and all below it, operands first: the order in which they are evaluated."""
    for operand in operands(node):
        yield from nodes(operand)
    yield node


def expiring(node: Root) -> Iterator[Pair | Times]:
    """The operators in which a partial match of the pattern waits and may expire: none in what must not happen."""
    match node:
        case Leaf() | Every() | EveryDay() | Absent():
            return
        case Either(left, right) | Before(left, right) | Both(left, right):
            yield from expiring(left)
            yield from expiring(right)
        case Unless(term) | Nth(term) | Times(term):
            yield from expiring(term)
        case _:
            assert_never(node)
    if isinstance(node, Before | Both | Times):
        yield node


def leaves(node: Root) -> Iterator[Leaf | TimeLeaf]:
    """All leaves below, in the order of the text."""
    if isinstance(node, Leaf | Every | EveryDay):
        yield node
    for operand in operands(node):
        yield from leaves(operand)


def visible(node: Root) -> tuple[str, ...]:
    """The names that a `where` outside the node may use: neither those of what must not happen nor those in `times`."""
    match node:
        case Leaf() | Every() | EveryDay():
            return () if node.name is None else (node.name,)
        case Either(left, right) | Both(left, right) | Before(left, right):
            return (*visible(left), *visible(right))
        case Unless(term) | Nth(term):
            return visible(term)
        case Times() | Absent():
            return ()
        case _:
            assert_never(node)
