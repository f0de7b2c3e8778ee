"""Steps to text: keywords in upper case, parentheses only where needed. `parse_cesql` reads the same steps from it."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from tidings.language.cesql.expression import (
    Binary,
    Call,
    CesqlValue,
    ContextAttribute,
    Expression,
    HasAttribute,
    IsAmong,
    Literal,
    MatchesPattern,
    Unary,
)
from tidings.language.cesql.parser import PRECEDENCE
from tidings.language.cesql.tokens import TEXT

_RELATION, _PREFIX, _ALONE = 5, 6, 7  # bind tighter than every binary operator


class _Part(NamedTuple):
    text: str
    strength: int

    def within(self, strength: int) -> str:
        return self.text if self.strength >= strength else f"({self.text})"


def print_cesql(expression: Expression) -> str:
    stack: list[_Part] = []
    for step in expression.steps:
        match step:
            case Literal(value):
                stack.append(_Part(literal_text(value), _ALONE))
            case ContextAttribute(name):
                stack.append(_Part(name, _ALONE))
            case HasAttribute(name):
                stack.append(_Part(f"EXISTS {name}", _ALONE))
            case Unary("NOT"):
                stack.append(_Part(f"NOT {stack.pop().within(_PREFIX)}", _PREFIX))
            case Unary():
                inner = stack.pop()
                stack.append(
                    _Part(f"-({inner.text})" if inner.text[0].isdigit() else f"-{inner.within(_PREFIX)}", _PREFIX)
                )
            case Binary(operator):
                strength = PRECEDENCE[operator]
                right, left = stack.pop(), stack.pop()
                stack.append(_Part(f"{left.within(strength)} {operator} {right.within(strength + 1)}", strength))
            case MatchesPattern(pattern, negated):
                left = stack.pop()
                word = "NOT LIKE" if negated else "LIKE"
                stack.append(_Part(f"{left.within(_RELATION)} {word} {literal_text(pattern)}", _RELATION))
            case IsAmong(count, negated):
                listed = _arguments(stack, count)
                word = "NOT IN" if negated else "IN"
                stack.append(_Part(f"{stack.pop().within(_RELATION)} {word} {listed}", _RELATION))
            case Call(name, count):
                stack.append(_Part(f"{name}{_arguments(stack, count)}", _ALONE))
            case _:
                assert_never(step)
    return stack.pop().text


def literal_text(value: CesqlValue) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    # Backslashes before a quote are read as pairs, so a text that was written in one kind of quotes may need that kind.
    written = [quote + value.replace(quote, "\\" + quote) + quote for quote in "'\""]
    return next((one for one in written if TEXT.fullmatch(one)), written[0])


def _arguments(stack: list[_Part], count: int) -> str:
    start = len(stack) - count
    listed = ", ".join(part.text for part in stack[start:])
    del stack[start:]
    return f"({listed})"
