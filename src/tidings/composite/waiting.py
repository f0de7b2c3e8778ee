"""What a composite waits for: its state in words, for its owner.

`waits` reads the states of one composite's keys, as a shard keeps them: what came already, what must come or must not
come, and until when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, assert_never

from tidings.composite.pairs import INSTANCE, WAITING, PairStep
from tidings.composite.program import LeafStep, Operator, Program, TimeStep
from tidings.composite.steps import (
    FIRST,
    LAST,
    AbsentStep,
    EitherStep,
    NthStep,
    State,
    TimesStep,
    UnlessStep,
)
from tidings.language.composites.printer import print_node
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Root,
    Times,
    Unless,
    nodes,
    operands,
)
from tidings.schema.values import UNITS, Instant, Span


class Wait(NamedTuple):
    """One operator's partial matches, of all keys together.

    `awaited`: what must happen, or, where `must_not`, what must not happen until then. `missing`: how many of these.
    `expires`: when the oldest is over, or, where `must_not`, when it becomes a detection; None: never."""

    awaited: str
    must_not: bool
    partial: int
    missing: int
    expires: Instant | None

    def sentence(self, now: int) -> str:
        """`waiting for [price < 5]; 2 partial matches; the oldest expires in 3 min`."""
        number = f"{self.missing:,} more " if self.missing > 1 else ""
        told = f"waiting for {number}{self.awaited}"
        if self.must_not:
            told = f"waiting for time to pass without {self.awaited}"
        if self.partial:
            told += f"; {self.partial:,} partial match{'' if self.partial == 1 else 'es'}"
        if self.expires is None:
            return told
        what = "is complete" if self.must_not else "expires"
        oldest = f"the oldest {what}" if self.partial > 1 else f"it {what}"
        return f"{told}; {oldest} {_when(self.expires - now)}"


def waits(composite: Composite, program: Program, states: Iterable[list[State]]) -> list[Wait]:
    """In the order in which the operators are evaluated, the whole pattern last; at least one: where nothing has
    happened yet, what the pattern begins with."""
    all_nodes = list(nodes(composite.tree))
    found: dict[tuple[int, str], Wait] = {}
    for of_key in states:
        for number, (node, step, state) in enumerate(zip(all_nodes, program.steps, of_key, strict=True)):
            if state is None or isinstance(step, LeafStep | TimeStep):
                continue
            for one in _waits(node, step, state):
                before = found.get((number, one.awaited))
                found[number, one.awaited] = one if before is None else _together(before, one)
    ordered = [found[key] for key in sorted(found)]
    return ordered or [Wait(text, False, 0, 1, None) for text in dict.fromkeys(_openings(composite.tree))]


def longest(node: Root) -> int:
    """How long it may take from the first event of an instance until its last time, in microseconds."""
    match node:
        case Leaf() | Every() | EveryDay():
            return 0
        case Before() | Both() | Times():
            return int(node.within)
        case Either(left, right):
            return max(longest(left), longest(right))
        case Unless(term) | Absent(term):
            return longest(term) + int(node.within)
        case Nth(term):
            return longest(term)
        case _:
            assert_never(node)


def counts_from_start(node: Root) -> bool:
    """Whether all events since the start matter to it: `nth` counts them, and `absent` puts frame after frame."""
    return any(isinstance(one, Nth | Absent) for one in nodes(node))


def _waits(node: Root, step: Operator, state: State) -> Iterator[Wait]:
    texts = [print_node(operand) for operand in operands(node)]
    match step:
        case PairStep():
            for side, queue in enumerate(state[WAITING]):
                if queue:
                    first = min(one[INSTANCE][FIRST] for one in queue)
                    yield Wait(texts[1 - side], False, len(queue), 1, Instant(first + step.within))
        case TimesStep():
            first = min(one[FIRST] for one in state)
            yield Wait(texts[0], False, 1, max(1, step.n - len(state)), Instant(first + step.within))
        case UnlessStep():
            if waiting := state[1]:
                last = min(one[LAST] for one in waiting)
                yield Wait(texts[1], True, len(waiting), 1, Instant(last + step.within))
        case NthStep():
            if state < step.n:
                yield Wait(texts[0], False, 1, step.n - state, None)
        case AbsentStep():
            yield Wait(texts[0], True, 1, 1, Instant(state))
        case EitherStep():
            return
        case _:
            assert_never(step)


def _together(one: Wait, other: Wait) -> Wait:
    ends = [end for end in (one.expires, other.expires) if end is not None]
    missing = min(one.missing, other.missing)
    return Wait(one.awaited, one.must_not, one.partial + other.partial, missing, min(ends, default=None))


def _openings(node: Root) -> Iterator[str]:
    """What an instance of the node can begin with."""
    below = operands(node)
    if not below:
        yield print_node(node)
    for operand in below if isinstance(node, Either | Both) else below[:1]:
        yield from _openings(operand)


def _when(span: int) -> str:
    if span <= 0:
        return "now"
    for unit in ("day", "h", "min"):
        if span >= 2 * UNITS[unit] or (span >= UNITS[unit] and span % UNITS[unit] == 0):
            return f"in {Span(span // UNITS[unit] * UNITS[unit])}"
    return f"in {Span(max(1, span // UNITS['s']) * UNITS['s'])}"
