"""Whether tests imply other tests at the same node. Sound; what it cannot decide it denies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from tidings.paths.numbers import number_of
from tidings.paths.tree import (
    And,
    Attribute,
    Comparison,
    Exists,
    Not,
    Or,
    Step,
    StringTest,
    Test,
)


def all_implied(wanted: Iterable[Test], known: Iterable[Test]) -> bool:
    """Whether every wanted test holds wherever all known ones do."""
    facts = [fact for test in known for fact in conjuncts(test)]
    return all(_implied(test, facts) for test in wanted)


def conjuncts(test: Test) -> Iterator[Test]:
    """The tests that it joins by `and`."""
    if isinstance(test, And):
        for term in test.terms:
            yield from conjuncts(term)
    else:
        yield test


def _implied(wanted: Test, facts: Sequence[Test], by_cases: bool = True) -> bool:
    """`by_cases`: one `or` among the facts may be split; splitting several would take exponential time."""
    if wanted in facts:
        return True
    if by_cases and any(isinstance(fact, Or) and _in_all_cases(wanted, fact, facts) for fact in facts):
        return True
    match wanted:
        case And(terms):
            return all(_implied(term, facts, by_cases) for term in terms)
        case Or(terms):
            return any(_implied(term, facts, by_cases) for term in terms)
        case Not(term):
            known = list(conjuncts(term))
            return any(isinstance(fact, Not) and _implied(fact.term, known, by_cases) for fact in facts)
        case Exists(steps):
            return not steps or any(_selects(fact, steps) for fact in facts)
        case Comparison():
            return any(isinstance(fact, Comparison) and _compares(wanted, fact) for fact in facts)
        case StringTest():
            return not wanted.text or any(_finds(wanted, fact) for fact in facts)
        case _:
            assert_never(wanted)


def _in_all_cases(wanted: Test, either: Or, facts: Sequence[Test]) -> bool:
    others = [fact for fact in facts if fact is not either]
    return all(_implied(wanted, [*conjuncts(term), *others], by_cases=False) for term in either.terms)


def _selects(fact: Test, steps: Sequence[Step]) -> bool:
    """Whether the fact proves that the steps select a node."""
    from tidings.paths.covering import steps_cover  # the two define each other

    match fact:
        case Exists(known) | Comparison(known, _, _):
            return steps_cover(steps, known)
        case StringTest(_, known, text):
            return bool(text) and steps_cover(steps, known)
        case _:
            return False


def _compares(wanted: Comparison, fact: Comparison) -> bool:
    if wanted.steps != fact.steps:
        return False
    if isinstance(fact.literal, str) and fact.operator == "=":
        return _holds_for(wanted, fact.literal)
    if isinstance(wanted.literal, str) and wanted.operator in ("=", "!="):
        return False  # as texts, '1' and '1.0' differ
    if isinstance(fact.literal, str) and fact.operator == "!=":
        return False
    bound, known = _number(wanted.literal), _number(fact.literal)
    if bound is None or known is None:
        return known is None  # a fact that is never true proves anything
    match fact.operator, wanted.operator:
        case "=", _:
            return _ordered(wanted.operator, known, bound)
        case (("<" | "<="), ("<" | "<=")):
            return known < bound or (known == bound and (wanted.operator == "<=" or fact.operator == "<"))
        case ((">" | ">="), (">" | ">=")):
            return known > bound or (known == bound and (wanted.operator == ">=" or fact.operator == ">"))
        case (("<" | "<="), "!="):
            return known < bound or (known == bound and fact.operator == "<")
        case ((">" | ">="), "!="):
            return known > bound or (known == bound and fact.operator == ">")
        case _:
            return False


def _holds_for(wanted: Comparison, text: str) -> bool:
    """Whether a node with this text satisfies the comparison."""
    if isinstance(wanted.literal, str) and wanted.operator in ("=", "!="):
        return (wanted.literal == text) == (wanted.operator == "=")
    value, bound = number_of(text), _number(wanted.literal)
    return _ordered(wanted.operator, math.nan if value is None else value, math.nan if bound is None else bound)


def _ordered(operator: str, value: float, bound: float) -> bool:
    match operator:
        case "=":
            return value == bound
        case "!=":
            return value != bound
        case "<":
            return value < bound
        case "<=":
            return value <= bound
        case ">":
            return value > bound
        case _:
            return value >= bound


def _number(literal: str | float) -> float | None:
    return number_of(literal) if isinstance(literal, str) else literal


def _finds(wanted: StringTest, fact: Test) -> bool:
    match fact:
        case StringTest(function, steps, text) if steps == wanted.steps:
            if wanted.function == "contains":
                return wanted.text in text
            return function == "starts-with" and text.startswith(wanted.text)
        case Comparison(steps, "=", str() as text) if steps == wanted.steps and _single(steps):
            return wanted.text in text if wanted.function == "contains" else text.startswith(wanted.text)
        case _:
            return False


def _single(steps: Sequence[Step]) -> bool:
    """Whether the steps select one node at most, so that the first is any."""
    if not steps:
        return True
    only = steps[0]
    return len(steps) == 1 and only.axis == "child" and isinstance(only.node, Attribute) and only.node.name is not None
