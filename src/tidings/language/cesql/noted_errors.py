"""Errors of expressions, noted while somebody counts them: an expression that ends in one passes no event, and its
author should know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

_open: ContextVar[list[ExpressionError] | None] = ContextVar("errors of expressions", default=None)


class ExpressionError(NamedTuple):
    """What was written, and what went wrong first."""

    expression: str
    detail: str


def note(expression: str, detail: str) -> None:
    if (noted := _open.get()) is not None:
        noted.append(ExpressionError(expression, detail))


@contextmanager
def noted_errors() -> Iterator[list[ExpressionError]]:
    """All evaluations that end in an error while this is open; one that is open around it hears of them, too."""
    around = _open.get()
    found: list[ExpressionError] = []
    token = _open.set(found)
    try:
        yield found
    finally:
        _open.reset(token)
        if around is not None:
            around += found
