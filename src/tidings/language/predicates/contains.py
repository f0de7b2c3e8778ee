"""`tags contains red` (a member of the set of values), `title contains any 'red mini'` (words of one value)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tidings.language.errors import NotForThisKind, UnclearWords, WrongPlace
from tidings.language.operand_text import operand_text
from tidings.language.patterns.parser import parse_pattern
from tidings.language.predicates.kind import Demand, Form, HasMember, HasWords, PredicateKind, SpaceOf, no_opposite
from tidings.language.tree import Contains, ContainsPattern, ContainsWords, Node
from tidings.language.words import words_of
from tidings.schema.domain import Kind
from tidings.schema.values import Place, Value

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope


def _parse(cursor: Cursor, attribute: str, at: int) -> Contains | ContainsWords | ContainsPattern:
    if cursor.at_mark("("):
        place = cursor.offsets[cursor.next]
        try:
            return Contains(attribute, Place.of(*cursor.degrees(2, "a latitude and a longitude")), at)
        except ValueError as problem:
            raise WrongPlace(cursor.text, place, str(problem)) from None
    if cursor.kinds[cursor.next] == "pattern":
        start = cursor.offsets[cursor.next]
        stop = start + len(cursor.written[cursor.next])
        cursor.next += 1
        return ContainsPattern(attribute, parse_pattern(cursor.text, start + 1, stop - 1), at)
    quantifier: Literal["any", "all"]
    if cursor.keyword("any"):
        quantifier = "any"
    elif cursor.keyword("all"):
        quantifier = "all"
    else:
        return Contains(attribute, cursor.operand(), at)
    place = cursor.offsets[cursor.next]
    if cursor.kinds[cursor.next] != "text":
        cursor.unexpected(f"words in quotes after 'contains {quantifier}'")
    literal = cursor.operand()
    words = _different_words(str(literal))
    if not words or "*" in str(literal) or "~" in str(literal):
        raise UnclearWords(cursor.text, place, literal, words)
    # `any` and `all` mean the same for one word; the printer omits the quantifier only where binding chose it.
    return ContainsWords(attribute, quantifier if len(words) > 1 else "any", words, at)


def _bind(node: Contains, scope: Scope) -> Node:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    if isinstance(node.value, Place) and domain.kind is not Kind.PLACE:
        raise NotForThisKind(scope.text, at, "contains (latitude, longitude)", attribute, str(domain.kind), ("place",))
    if not domain.kind.wordy:
        return Contains(attribute, scope.value(domain, attribute, node.value, at, "contains"), at)
    scope.need(domain, attribute, at, "contains", "contains")
    literal = scope.value(domain, attribute, node.value, at, "contains")
    words = _different_words(str(literal))
    if len(words) != 1 or "*" in str(literal) or "~" in str(literal):
        raise UnclearWords(scope.text, scope.place_of_literal(at, literal), literal, words)
    return ContainsWords(attribute, "all", words, at)


def _bind_words(node: ContainsWords, scope: Scope) -> ContainsWords:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    if not domain.kind.wordy:
        construct, place = f"contains {node.quantifier}", scope.place_of_operator(at, "contains")
        raise NotForThisKind(scope.text, place, construct, attribute, str(domain.kind), ("string", "text"))
    scope.need(domain, attribute, at, "contains", "contains")
    return ContainsWords(attribute, node.quantifier if len(node.words) > 1 else "all", node.words, at)


def _different_words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words_of(text)))


def _text_of_words(node: ContainsWords) -> str:
    if node.quantifier == "all" and len(node.words) == 1:
        return f"contains {operand_text(node.words[0])}"
    return f"contains {node.quantifier} {operand_text(' '.join(node.words))}"


def _demand(node: Contains, space_of: SpaceOf) -> Demand:
    value: Value = node.value  # type: ignore[assignment]
    return HasMember(node.attribute, value)


def _demand_words(node: ContainsWords, space_of: SpaceOf) -> Demand:
    return HasWords(node.attribute, node.quantifier, node.words)


CONTAINS = PredicateKind(
    node=Contains,
    other_attributes=(),
    forms=(Form("contains", _parse, after_not=True),),
    text=lambda node: f"contains {operand_text(node.value)}",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=False,
    demand=_demand,
)
CONTAINS_WORDS = PredicateKind(
    node=ContainsWords,
    other_attributes=(),
    forms=(),
    text=_text_of_words,
    not_inside=True,
    bind=_bind_words,
    opposite=no_opposite,
    chooses=False,
    demand=_demand_words,
)
