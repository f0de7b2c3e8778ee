"""`body ~ 'bank raises interest rates' at least 0.4`: one value is about as much the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.errors import NotForThisKind, WordlessText, WrongSimilarity
from tidings.language.operand_text import operand_text
from tidings.language.predicates.kind import Demand, Form, IsSimilar, PredicateKind, SpaceOf, no_opposite
from tidings.language.tree import Similar
from tidings.language.words import words_of
from tidings.schema.domain import Kind

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

_THRESHOLD = "'at least' and a number above 0 and at most 1, e.g. ~ 'interest rates' at least 0.4"


def _parse(cursor: Cursor, attribute: str, at: int) -> Similar:
    if cursor.kinds[cursor.next] != "text":
        cursor.unexpected("a text in single quotes after '~'")
    place, text = cursor.offsets[cursor.next], str(cursor.operand())
    if not words_of(text):
        raise WordlessText(cursor.text, place, text)
    for word in ("at", "least"):
        if cursor.written[cursor.next].lower() != word:
            cursor.unexpected(_THRESHOLD)
        cursor.next += 1
    place = cursor.offsets[cursor.next]
    least = cursor.number("a number above 0 and at most 1")
    if not 0 < least <= 1:
        raise WrongSimilarity(cursor.text, place, least)
    return Similar(attribute, text, least, at)


def _bind(node: Similar, scope: Scope) -> Similar:
    domain = scope.domain(node.attribute, node.at)
    if domain.kind is not Kind.TEXT:
        place = scope.place_of_operator(node.at, "~")
        raise NotForThisKind(scope.text, place, "'~'", node.attribute, str(domain.kind), ("text",))
    scope.need(domain, node.attribute, node.at, "~", "~")
    return node


def _demand(node: Similar, space_of: SpaceOf) -> Demand:
    return IsSimilar(node.attribute, node.text, float(node.least))


SIMILAR = PredicateKind(
    node=Similar,
    other_attributes=(),
    forms=(Form("~", _parse, after_not=False),),
    text=lambda node: f"~ {operand_text(node.text)} at least {operand_text(node.least)}",
    not_inside=False,
    bind=_bind,
    opposite=no_opposite,
    chooses=False,
    demand=_demand,
)
