"""A path's tree as text that parses to the same tree."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import assert_never

from tidings.paths.tree import (
    And,
    Attribute,
    Comparison,
    Element,
    Exists,
    Name,
    NodeTest,
    Not,
    Or,
    Path,
    Step,
    StringTest,
    Test,
    Text,
)


def path_text(path: Path) -> str:
    """Names keep the prefixes that they were written with."""
    return "".join(("//" if step.axis == "descendant" else "/") + _step(step) for step in path.steps)


def _step(step: Step) -> str:
    return _node(step.node) + "".join(f"[{test_text(test)}]" for test in step.tests)


def _node(node: NodeTest) -> str:
    match node:
        case Element(name):
            return _name(name)
        case Attribute(name):
            return f"@{_name(name)}"
        case Text():
            return "text()"
        case _:
            assert_never(node)


def _name(name: Name | None) -> str:
    if name is None:
        return "*"
    return f"{name.prefix}:{name.local}" if name.prefix else name.local


def test_text(test: Test) -> str:
    match test:
        case Exists(steps):
            return relative_text(steps)
        case Comparison(steps, operator, literal):
            return f"{relative_text(steps)} {operator} {_literal(literal)}"
        case StringTest(function, steps, text):
            return f"{function}({relative_text(steps)}, {_literal(text)})"
        case And(terms):
            return " and ".join(f"({test_text(one)})" if isinstance(one, And | Or) else test_text(one) for one in terms)
        case Or(terms):
            return " or ".join(f"({test_text(one)})" if isinstance(one, Or) else test_text(one) for one in terms)
        case Not(term):
            return f"not({test_text(term)})"
        case _:
            assert_never(test)


def relative_text(steps: Sequence[Step]) -> str:
    """The steps as they stand in a test."""
    if not steps:
        return "."
    first = ".//" if steps[0].axis == "descendant" else ""
    return first + path_text(Path(tuple(steps))).lstrip("/")


def _literal(literal: str | float) -> str:
    if isinstance(literal, str):
        return f'"{literal}"' if "'" in literal else f"'{literal}'"
    return format(Decimal(repr(literal)), "f").removesuffix(".0")  # XPath has no exponents
