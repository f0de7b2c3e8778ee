"""What the core language can say of an expression or a filters array: all of it, or a part that is necessary.

CESQL has three answers, true, false and an error, and an event passes only where no error occurred: where a is missing
`a = 'x' OR b = 'y'` fails. So of each part two conditions are found, when it is true and when it is false. Walking the
steps also finds what no event can satisfy: unknown functions, casts that always fail, a value that is not a Boolean.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from tidings.errors import LanguageError
from tidings.language.cesql.attributes import Attributes
from tidings.language.cesql.errors import AlwaysFails, NotBoolean, UnknownFunction, WrongArgumentCount, WrongFilters
from tidings.language.cesql.evaluator import Outcome, outcome_of
from tidings.language.cesql.expression import (
    Binary,
    Call,
    ContextAttribute,
    Expression,
    HasAttribute,
    IsAmong,
    Literal,
    MatchesPattern,
    Step,
    Unary,
)
from tidings.language.cesql.filters import AllOf, AnyOf, CloudEventsFilter, NotOf, Sql, TextTest
from tidings.language.cesql.functions import FUNCTION_NAMES, argument_counts, argument_types, function
from tidings.language.cesql.patterns import parts_of
from tidings.language.cesql.values import Type, cast
from tidings.language.cesql.verdict import ALWAYS, ANYTHING, NEVER, Side, Verdict, all_of, any_of
from tidings.schema.catalog import Catalog

FAILS = Verdict(NEVER, NEVER)


class _Part(NamedTuple):
    """What is known of an operand. It can only be without an error where the event has all attributes that it `needs`;
    `safe`: there it always is. An attribute has its `name`, a constant its `outcome`. One that is neither true nor
    false on any event always ends in an error."""

    returns: Type | None  # None: what the event's attribute is
    needs: frozenset[str] = frozenset()
    safe: bool = False
    verdict: Verdict | None = None
    name: str = ""
    outcome: Outcome | None = None
    at: int = 0

    @property
    def is_safe(self) -> bool:
        """As a Boolean: an attribute or a text may not be one."""
        if self.outcome is not None:
            return cast(self.outcome.value, "Boolean")[1] is None
        return self.safe and self.returns == "Boolean"


def expression_verdict(expression: Expression, catalog: Catalog) -> Verdict:
    """Raises LanguageError where no event can pass because of how it is written."""
    return _root(expression, catalog).verdict or Verdict(ANYTHING, ANYTHING)


def filter_verdict(filter: CloudEventsFilter, catalog: Catalog, path: str = "filters") -> Verdict:
    """Of a filters array, in which nothing ends in an error: what is not true is false. Raises LanguageError."""
    match filter:
        case TextTest(relation, name, text):
            return _text_test(relation, name, text, Attributes(catalog))
        case AllOf(terms):
            verdicts = [filter_verdict(term, catalog, path) for term in terms]
            return Verdict(all_of(one.true for one in verdicts), any_of(one.false for one in verdicts))
        case AnyOf(terms):
            verdicts = [filter_verdict(term, catalog, path) for term in terms]
            return Verdict(any_of(one.true for one in verdicts), all_of(one.false for one in verdicts))
        case NotOf(term):
            return filter_verdict(term, catalog, path).reversed()
        case Sql(expression):
            try:
                part = _root(expression, catalog)
            except LanguageError as problem:
                raise WrongFilters("", 0, path, str(problem)) from None
            assert part.verdict is not None
            return Verdict(part.verdict.true, _false_or_error(part, Attributes(catalog)))
        case _:
            assert_never(filter)


def _text_test(relation: str, name: str, text: str, attributes: Attributes) -> Verdict:
    present = attributes.present(name)
    found = attributes.equal_text(name, text) if relation == "exact" else attributes.affixed(name, relation, text)
    if found is None:
        return Verdict(present.true.weakened(), ANYTHING)
    return Verdict(found.true, any_of((found.false, present.false)))


def _false_or_error(part: _Part, attributes: Attributes) -> Side:
    if not part.is_safe or part.verdict is None:
        return ANYTHING
    return any_of((part.verdict.false, *(attributes.present(name).false for name in sorted(part.needs))))


def _root(expression: Expression, catalog: Catalog) -> _Part:
    walk = _Walk(expression.text, catalog)
    stack: list[_Part] = []
    for step in expression.steps:
        stack.append(walk.part(step, stack))
    (part,) = stack
    verdict = walk.boolean(part)
    if walk.failure is not None and verdict.true == NEVER:
        raise walk.failure
    if part.returns != "Boolean":
        kind = "an attribute, which is a text or a number" if part.returns is None else f"of type {part.returns}"
        raise NotBoolean(expression.text, part.at, kind)
    return part._replace(verdict=verdict)


class _Walk:
    def __init__(self, text: str, catalog: Catalog) -> None:
        self._text = text
        self._attributes = Attributes(catalog)
        self.failure: LanguageError | None = None  # the first that some operand always ends in

    def part(self, step: Step, stack: list[_Part]) -> _Part:
        """Takes its operands from the stack."""
        match step:
            case Literal(value, at):
                return self._constant(Outcome(value), at)
            case ContextAttribute(name, at):
                return _Part(None, frozenset((name,)), safe=True, name=name, at=at)
            case HasAttribute(name, at):
                return _Part("Boolean", safe=True, verdict=self._attributes.present(name), at=at)
            case Unary():
                operands = _last(stack, 1)
            case Binary():
                operands = _last(stack, 2)
            case MatchesPattern():
                operands = _last(stack, 1)
            case IsAmong(count):
                operands = _last(stack, count + 1)
            case Call(name, count, at):
                operands = _last(stack, count)
                self._check_call(name, operands, at)
            case _:
                assert_never(step)
        if not (isinstance(step, Binary) and step.operator in ("AND", "OR", "XOR")):  # which may skip an operand
            for operand, wanted in zip(operands, _wanted(step, operands), strict=True):
                if operand.verdict == FAILS or self._never_casts(operand, wanted):
                    return _Part(_returned(step), verdict=FAILS, at=step.at)
        constants = [one.outcome for one in operands if one.outcome is not None]
        if len(constants) == len(operands):
            outcome = outcome_of(step, constants, {})
            if outcome.errors:
                self._fail(step.at, outcome.errors[0].detail)
                return _Part(_returned(step), verdict=FAILS, at=step.at)
            return self._constant(outcome, step.at)
        return self._computed(step, operands)

    def _constant(self, outcome: Outcome, at: int) -> _Part:
        value = outcome.value
        returns: Type = "Boolean" if isinstance(value, bool) else "Integer" if isinstance(value, int) else "String"
        verdict = Verdict(ALWAYS, NEVER) if value is True else Verdict(NEVER, ALWAYS)
        return _Part(returns, safe=True, verdict=verdict if returns == "Boolean" else None, outcome=outcome, at=at)

    def _check_call(self, name: str, operands: list[_Part], at: int) -> None:
        if name not in FUNCTION_NAMES:
            raise UnknownFunction(self._text, at, name, FUNCTION_NAMES)
        if function(name, len(operands)) is None:
            raise WrongArgumentCount(self._text, at, name, len(operands), argument_counts(name))

    def _never_casts(self, operand: _Part, wanted: Type | None) -> bool:
        if operand.outcome is None or wanted is None:
            return False
        _, trouble = cast(operand.outcome.value, wanted)
        if trouble is not None:
            self._fail(operand.at, trouble.detail)
        return trouble is not None

    def _fail(self, at: int, reason: str) -> None:
        self.failure = self.failure or AlwaysFails(self._text, at, reason)

    def _computed(self, step: Step, operands: list[_Part]) -> _Part:
        needs = frozenset().union(*(one.needs for one in operands))
        match step:
            case Unary("NOT"):
                (operand,) = operands
                return _Part("Boolean", needs, operand.is_safe, self.boolean(operand).reversed(), at=step.at)
            case Binary("AND" | "OR" | "XOR" as operator):
                return self._logic(operator, operands[0], operands[1], step.at)
            case Binary(operator) if operator in ("=", "!=", "<", "<=", ">", ">="):
                found = self._comparison(operator, *operands)
            case MatchesPattern(pattern, negated):
                found = self._like(operands[0], pattern, negated)
            case IsAmong(negated=negated):
                found = self._among(operands[0], operands[1:], negated)
            case _:  # a function, or arithmetic
                return _Part(_returned(step), needs, at=step.at)
        if found is None:
            return _Part("Boolean", needs, at=step.at)
        return _Part("Boolean", needs, found.true.exact and found.false.exact, found, at=step.at)

    def boolean(self, part: _Part) -> Verdict:
        """The part as an operand of AND, OR, XOR and NOT, or as the whole."""
        if part.verdict is not None:
            return part.verdict
        if self._never_casts(part, "Boolean"):
            return FAILS
        if part.outcome is not None:
            truth, _ = cast(part.outcome.value, "Boolean")
            return Verdict(ALWAYS, NEVER) if truth else Verdict(NEVER, ALWAYS)
        present = all_of(self._attributes.present(name).true for name in sorted(part.needs)).weakened()
        return Verdict(present, present)

    def _logic(self, operator: str, left: _Part, right: _Part, at: int) -> _Part:
        one, other = self.boolean(left), self.boolean(right)
        safe = left.is_safe and right.is_safe and right.needs <= left.needs
        if operator == "AND":
            verdict = Verdict(
                all_of((one.true, other.true)), self._either(left, one.false, one.true, right, other.false)
            )
        elif operator == "OR":
            verdict = Verdict(
                self._either(left, one.true, one.false, right, other.true), all_of((one.false, other.false))
            )
        else:
            different = (all_of((one.true, other.false)), all_of((one.false, other.true)))
            alike = (all_of((one.true, other.true)), all_of((one.false, other.false)))
            verdict = Verdict(any_of(different), any_of(alike))
            return _Part("Boolean", left.needs | right.needs, left.is_safe and right.is_safe, verdict, at=at)
        return _Part("Boolean", left.needs, safe, verdict, at=at)

    def _either(self, left: _Part, decided: Side, undecided: Side, right: _Part, then: Side) -> Side:
        """Decided by the left operand alone, or, where that is without an error, by the right one."""
        if left.is_safe and left.needs <= right.needs:
            return any_of((decided, then))  # the right one needs as much, so the left one has no error there
        if left.is_safe:
            needed = [self._attributes.present(name).true for name in sorted(left.needs - right.needs)]
            return any_of((decided, all_of((*needed, then))))
        return any_of((decided, all_of((undecided, then))))

    def _comparison(self, operator: str, left: _Part, right: _Part) -> Verdict | None:
        if left.name and right.name:
            return self._attributes.related(left.name, operator, right.name)
        if left.name and right.outcome is not None:
            return self._attributes.compared(left.name, operator, right.outcome.value)
        if right.name and left.outcome is not None:
            return self._attributes.compared(right.name, operator, left.outcome.value, flipped=True)
        return None

    def _like(self, operand: _Part, pattern: str, negated: bool) -> Verdict | None:
        parts = parts_of(pattern)
        if not operand.name:
            return None
        if not parts or [kind for kind, _ in parts] == ["fixed"]:
            found = self._attributes.equal_text(operand.name, parts[0][1] if parts else "")
        else:
            found = self._attributes.like(operand.name, parts)
        return found.reversed() if found is not None and negated else found

    def _among(self, operand: _Part, listed: list[_Part], negated: bool) -> Verdict | None:
        literals = [one.outcome.value for one in listed if one.outcome is not None]
        if not operand.name or len(literals) < len(listed):
            return None
        found = self._attributes.among(operand.name, literals)
        return found.reversed() if found is not None and negated else found


def _wanted(step: Step, operands: list[_Part]) -> list[Type | None]:
    """What each operand is cast to; None where that depends on the event, or is never needed."""
    match step:
        case Call(name, count):
            found = function(name, count)
            assert found is not None
            return list(argument_types(found, count))
        case Unary("-") | Binary("<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%"):
            return ["Integer"] * len(operands)
        case Binary("=" | "!="):
            return [operands[1].returns, None]
        case _:
            return [None] * len(operands)


def _returned(step: Step) -> Type:
    match step:
        case Call(name, count):
            found = function(name, count)
            assert found is not None
            return found.returns
        case Unary("-") | Binary("+" | "-" | "*" | "/" | "%"):
            return "Integer"
        case _:
            return "Boolean"


def _last(stack: list[_Part], count: int) -> list[_Part]:
    start = len(stack) - count
    taken = stack[start:]
    del stack[start:]
    return taken
