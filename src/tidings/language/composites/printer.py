"""Tree to canonical text: `parse(print_composite(composite))` is the composite again. Operators of one kind with
the same options are written as a chain; frames are always written."""

from __future__ import annotations

from typing import assert_never

from tidings.language.composites.conditions import condition_text
from tidings.language.composites.time_leaves import time_text
from tidings.language.composites.tree import (
    ALL,
    Absent,
    Before,
    Both,
    Composite,
    Condition,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Part,
    Root,
    Selection,
    Times,
    Unless,
    visible,
)
from tidings.language.operand_text import quoted
from tidings.language.printer import print_filter
from tidings.language.tokens import KEYWORDS, NAME
from tidings.schema.values import Span


def print_composite(composite: Composite) -> str:
    """The canonical text."""
    text = print_node(composite.tree)
    if composite.by:
        text += f" by {', '.join(map(_name, composite.by))}"
    if composite.start is not None:
        text += f" start '{composite.start}'"
    if composite.span is not None:
        text += f" for {Span(composite.span)}"
    if composite.expired:
        text += " report expired"
    return text


def print_node(node: Root) -> str:
    """One node with all below it, as it stands at the root or in parentheses."""
    match node:
        case Leaf():
            return f"[{print_filter(node.filter)}]{_named(node.name)}"
        case Every() | EveryDay():
            return f"[{time_text(node)}]{_named(node.name)}"
        case Either() | Before() | Both():
            return _chain(node)
        case Unless(term, without, within, where):
            conditions = _where((*where, *without.where))
            return f"{_operand(term)} unless {_operand(without.term)} within {Span(within)}{conditions}"
        case Nth(term, n, within):
            return f"nth({print_node(term)}, {n}){_within(within)}"
        case Times(term, n, within):
            return f"times({print_node(term)}, {n}){_within(within)}"
        case Absent(term, within):
            return f"absent({print_node(term)}){_within(within)}"
        case _:
            assert_never(node)


def _operand(node: Part) -> str:
    bare = isinstance(node, Leaf | Every | EveryDay | Times) or (isinstance(node, Nth) and node.within is None)
    return print_node(node) if bare else f"({print_node(node)})"


def _chain(node: Either | Before | Both) -> str:
    steps = [node]
    while (left := steps[-1].left) and _joins(steps[-1], left):
        assert isinstance(left, Either | Before | Both)
        steps.append(left)
    steps.reverse()
    text = _operand(steps[0].left)
    conditions: list[Condition] = []
    for step in steps:
        text += f" {_OPERATORS[type(step)]} {_operand(step.right)}"
        if not isinstance(step, Either):
            conditions += step.where
        if isinstance(step, Before) and step.without is not None:
            text += f" without {_operand(step.without.term)}"
            conditions += step.without.where
    return text + _options(node) + _where(tuple(conditions))


_OPERATORS = {Either: "or", Before: "before", Both: "and"}


def _joins(node: Either | Before | Both, left: Part) -> bool:
    """Whether the left operand is an earlier step of the same chain: it has the same options, and no condition of this
    step would be tested there."""
    if type(left) is not type(node) or _options(left) != _options(node):
        return False
    known = set(visible(left))
    return isinstance(node, Either) or not any(known >= set(condition.parts) for condition in node.where)


def _options(node: Either | Before | Both) -> str:
    text = _within(node.within)
    if not isinstance(node, Either):
        if node.select != ALL:
            text += f" select {_selection(node.select.left)}, {_selection(node.select.right)}"
        text += " consume unique" * node.unique + " evaluate final" * node.final
    return text


def _selection(selection: Selection) -> str:
    return "first" if selection == 1 else str(selection)


def _within(span: Span | None) -> str:
    return "" if span is None else f" within {Span(span)}"


def _where(conditions: tuple[Condition, ...]) -> str:
    return f" where {' and '.join(map(condition_text, conditions))}" if conditions else ""


def _named(name: str | None) -> str:
    return "" if name is None else f" as {name}"


def _name(name: str) -> str:
    return name if NAME.fullmatch(name) and name.lower() not in KEYWORDS else quoted(name)
