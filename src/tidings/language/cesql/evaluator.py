"""The value of a CESQL expression for one CloudEvent, with the errors on the way.

Nothing is skipped: the language is pure, so a short circuit is the left operand's outcome without the right one's. An
operator or function with an operand that ended in an error, as a missing attribute does, gives the zero value of the
type that it returns. Where only a cast fails, it goes on with the zero value of that type. An expression whose
functions read more than 4,194,304 characters ends in an error there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    Step,
    Unary,
)
from tidings.language.cesql.functions import argument_types, function
from tidings.language.cesql.noted_errors import note
from tidings.language.cesql.parser import GREATEST, LEAST
from tidings.language.cesql.patterns import matches_pattern
from tidings.language.cesql.values import ZERO, Trouble, Type, cast, type_of

_MOST_READ = 1 << 22  # characters: 16 times the largest event
_TOO_MUCH_READ = Trouble("functionEvaluation", f"its functions read more than {_MOST_READ:,} characters")
_MOST_ERRORS = 8  # a chain of a thousand missing attributes needs no thousand errors

CloudEventAttributes = Mapping[str, CesqlValue]


class Outcome(NamedTuple):
    """A value and the errors on the way to it, the first eight of them."""

    value: CesqlValue
    errors: tuple[Trouble, ...] = ()


def passes(expression: Expression, event: CloudEventAttributes) -> bool:
    """Whether the event passes the expression as a filter: true, and without an error."""
    value, errors = evaluate(expression, event)
    if errors:
        note(expression.text, errors[0].detail)
    return value is True and not errors


def evaluate(expression: Expression, event: CloudEventAttributes) -> Outcome:
    stack: list[Outcome] = []
    read = 0
    for step in expression.steps:
        if isinstance(step, Call):
            given = (one.value for one in stack[len(stack) - step.count :])
            read += sum(len(value) for value in given if isinstance(value, str))
            if read > _MOST_READ:
                return Outcome(False, (_TOO_MUCH_READ,))
        stack.append(outcome_of(step, stack, event))
    (outcome,) = stack
    return outcome


def outcome_of(step: Step, stack: list[Outcome], event: CloudEventAttributes) -> Outcome:
    """Takes its operands from the stack."""
    match step:
        case Literal(value):
            return Outcome(value)
        case ContextAttribute(name):
            found = event.get(name)
            if found is None:
                return Outcome(False, (Trouble("missingAttribute", f"the event has no {name!r}"),))
            return Outcome(found)
        case HasAttribute(name):
            return Outcome(event.get(name) is not None)
        case Unary("NOT"):
            return _not(stack.pop())
        case Unary():
            return _applied("Integer", [stack.pop()], ("Integer",), _negative)
        case Binary("AND" | "OR" | "XOR" as operator):
            right = stack.pop()
            return _logic(operator, stack.pop(), right)
        case Binary(operator):
            left, right = _last(stack, 2)
            if operator in ("=", "!="):
                wanted = type_of(right.value)
                return _applied("Boolean", [left, right], (wanted, wanted), _COMPARISONS[operator])
            returns: Type = "Boolean" if operator in _COMPARISONS else "Integer"
            run = _COMPARISONS.get(operator) or _ARITHMETIC[operator]
            return _applied(returns, [left, right], ("Integer", "Integer"), run)
        case MatchesPattern(pattern, negated):
            return _applied(
                "Boolean",
                [stack.pop()],
                ("String",),
                lambda text: (matches_pattern(text, pattern) is not negated, None),
            )
        case IsAmong(count, negated):
            operands = _last(stack, count + 1)
            types = (type_of(operands[0].value),) * (count + 1)
            return _applied("Boolean", operands, types, lambda one, *listed: ((one in listed) is not negated, None))
        case Call(name, count):
            return _call(name, _last(stack, count))
        case _:
            assert_never(step)


def _last(stack: list[Outcome], count: int) -> list[Outcome]:
    start = len(stack) - count
    taken = stack[start:]
    del stack[start:]
    return taken


def _applied(
    returns: Type,
    operands: Sequence[Outcome],
    takes: Sequence[Type],
    run: Callable[..., tuple[CesqlValue, Trouble | None]],
) -> Outcome:
    """What an operator or function makes of its operands once they are cast."""
    errors = _joined(*(operand.errors for operand in operands))
    if errors:
        return Outcome(ZERO[returns], errors)
    troubles: list[Trouble | None] = []
    values = []
    for operand, wanted in zip(operands, takes, strict=True):
        value, trouble = cast(operand.value, wanted)
        values.append(value)
        troubles.append(trouble)
    result, trouble = run(*values)
    return Outcome(result, tuple([one for one in (*troubles, trouble) if one is not None][:_MOST_ERRORS]))


def _not(operand: Outcome) -> Outcome:
    if type_of(operand.value) == "Integer" and not operand.errors:
        # The specification casts an Integer to a Boolean; its conformance suite (`NOT 10`) wants an error.
        return Outcome(True, (Trouble("cast", f"NOT takes a Boolean, got {operand.value}"),))
    return _applied("Boolean", [operand], ("Boolean",), lambda truth: (not truth, None))


def _logic(operator: str, left: Outcome, right: Outcome) -> Outcome:
    first = _applied("Boolean", [left], ("Boolean",), lambda truth: (truth, None))
    if first.errors or operator == ("OR" if first.value else "AND"):
        return first  # a short circuit
    second = _applied("Boolean", [right], ("Boolean",), lambda truth: (truth, None))
    if operator == "XOR" and not second.errors:
        return Outcome(first.value is not second.value)
    return second


def _call(name: str, arguments: list[Outcome]) -> Outcome:
    found = function(name, len(arguments))
    if found is None:
        return Outcome(False, (Trouble("missingFunction", f"there is no {name} of {len(arguments)} arguments"),))
    return _applied(found.returns, arguments, argument_types(found, len(arguments)), found.run)


def _joined(*errors: tuple[Trouble, ...]) -> tuple[Trouble, ...]:
    return tuple([one for some in errors for one in some][:_MOST_ERRORS])


def _whole(number: int) -> tuple[int, Trouble | None]:
    """Beyond 32 bits: the nearest integer and an error, as ABS does it."""
    if LEAST <= number <= GREATEST:
        return number, None
    return GREATEST if number > 0 else LEAST, Trouble("math", f"{number} is beyond 32 bits")


def _negative(number: int) -> tuple[int, Trouble | None]:
    return _whole(-number)


def _quotient(left: int, right: int) -> tuple[int, Trouble | None]:
    """Rounded towards zero."""
    if not right:
        return 0, Trouble("math", "division by zero")
    size = abs(left) // abs(right)
    return _whole(-size if (left < 0) is not (right < 0) else size)


def _remainder(left: int, right: int) -> tuple[int, Trouble | None]:
    """With the sign of the dividend."""
    if not right:
        return 0, Trouble("math", "division by zero")
    size = abs(left) % abs(right)
    return _whole(-size if left < 0 else size)


_COMPARISONS: dict[str, Callable[..., tuple[CesqlValue, Trouble | None]]] = {
    "=": lambda left, right: (left == right, None),
    "!=": lambda left, right: (left != right, None),
    "<": lambda left, right: (left < right, None),
    "<=": lambda left, right: (left <= right, None),
    ">": lambda left, right: (left > right, None),
    ">=": lambda left, right: (left >= right, None),
}
_ARITHMETIC: dict[str, Callable[..., tuple[CesqlValue, Trouble | None]]] = {
    "+": lambda left, right: _whole(left + right),
    "-": lambda left, right: _whole(left - right),
    "*": lambda left, right: _whole(left * right),
    "/": _quotient,
    "%": _remainder,
}
