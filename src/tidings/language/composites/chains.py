"""Operands and options to nodes: a chain becomes nested binary operators, each with the options and with those
conditions that it is the first to know the names of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from tidings.language.composites.errors import FrameMissing, HiddenPart, OptionMeansNothing
from tidings.language.composites.tree import (
    ALL,
    Before,
    Both,
    Condition,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Part,
    Select,
    Times,
    Unless,
    Without,
    visible,
)
from tidings.schema.values import UNITS, Span

TOGETHER = Span(UNITS["s"])
OPTIONS = ("within", "select", "consume", "evaluate", "where")
_MEANINGFUL = {
    "or": ("within",),
    "and": OPTIONS,
    "together with": OPTIONS,
    "before": OPTIONS,
    "unless": ("within", "where"),
    "nth": ("within",),
}
_NO_PAIRS = "it chooses among pairs, and only 'before', 'and' and 'together with' make them"
_SINGLE = "it belongs to an operator, such as P before Q within 10 min"
_INSTEAD = {
    ("or", "where"): "only one side happens, so write it inside the operand that it applies to, in parentheses",
    ("or", "within"): "a single event has no duration, so leave it out",
    ("nth", "within"): "for n of them within a frame write times(P, n) within T",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What stands after a pattern; `places` has the offsets of the options written."""

    within: Span | None = None
    select: Select = ALL
    unique: bool = False
    final: bool = False
    conditions: tuple[Condition, ...] = ()
    places: dict[str, int] = field(default_factory=dict)


class ChainStep(NamedTuple):
    """An operator, its right operand, and what must not happen between."""

    operator: str
    at: int
    right: Part
    without: Part | None = None


def combined(text: str, end: int, first: Part, steps: list[ChainStep], options: Options) -> Part:
    """The tree of a pattern; raises LanguageError. `text` and `end`, where the pattern ends, are for the errors."""
    operator = steps[0].operator if steps else "nth" if isinstance(first, Nth) else ""
    _refuse_meaningless(text, operator, [first, *(step.right for step in steps)], options)
    if not steps:
        return replace(first, within=options.within) if isinstance(first, Nth) and options.within else first
    if operator == "together with" and options.within is None:
        options = replace(options, within=TOGETHER)
    if operator != "or" and options.within is None:
        last = steps[-1].without or steps[-1].right
        raise FrameMissing(text, end, operator, "times" if isinstance(last, Times) else "")
    return _nested(text, first, steps, options)


def _refuse_meaningless(text: str, operator: str, operands: list[Part], options: Options) -> None:
    for option, at in options.places.items():
        if option not in _MEANINGFUL.get(operator, ()):
            instead = _INSTEAD.get((operator, option), _NO_PAIRS if operator else _SINGLE)
            raise OptionMeansNothing(text, at, option, repr(operator) if operator else "a single part", instead)
        if option == "within" and operator in ("or", "nth") and all(map(takes_no_time, operands)):
            raise OptionMeansNothing(text, at, option, repr(operator), _INSTEAD[operator, option])


def takes_no_time(node: Part) -> bool:
    """Whether the first and the last time of every instance are the same."""
    match node:
        case Leaf() | Every() | EveryDay():
            return True
        case Either(left, right):
            return takes_no_time(left) and takes_no_time(right)
        case Nth(term):
            return takes_no_time(term)
        case Before() | Both() | Unless() | Times():
            return False
        case _:
            assert_never(node)


def _nested(text: str, first: Part, steps: list[ChainStep], options: Options) -> Part:
    tree, waiting, banned = first, list(options.conditions), set[str]()
    for step in steps:
        forbidden = step.right if step.operator == "unless" else step.without
        known = {*visible(tree), *(() if step.operator == "unless" else visible(step.right))}
        named = set() if forbidden is None else set(visible(forbidden))
        here = [known | named >= set(condition.parts) for condition in waiting]
        where = tuple(condition for condition, is_here in zip(waiting, here, strict=True) if is_here)
        waiting = [condition for condition, is_here in zip(waiting, here, strict=True) if not is_here]
        between = tuple(condition for condition in where if known >= set(condition.parts))
        against = tuple(condition for condition in where if not known >= set(condition.parts))
        without = None if forbidden is None else Without(forbidden, against)
        tree = _node(tree, step, options, between, without)
        banned |= named
    for condition in waiting:
        raise _hidden(text, condition, set(visible(tree)), banned)
    return tree


def _node(left: Part, step: ChainStep, options: Options, where: tuple[Condition, ...], without: Without | None) -> Part:
    if step.operator == "or":
        return Either(left, step.right, options.within, step.at)
    assert options.within is not None
    if step.operator == "unless":
        assert without is not None
        return Unless(left, without, options.within, where, step.at)
    pairs = options.select, options.unique, options.final, where
    if step.operator == "before":
        return Before(left, step.right, options.within, *pairs, without, step.at)
    return Both(left, step.right, options.within, *pairs, step.at)


def _hidden(text: str, condition: Condition, known: set[str], banned: set[str]) -> HiddenPart:
    if known | banned >= set(condition.parts):
        name = next(part for part in condition.parts if part in banned)
        return HiddenPart(text, condition.at, name, "what must not happen is decided before the other part is known")
    name = next(part for part in condition.parts if part not in known | banned)
    return HiddenPart(
        text,
        condition.at,
        name,
        "'where' can use the parts of its own operator's operands, but not those inside 'times' or those that must not "
        "happen in an operand",
    )
