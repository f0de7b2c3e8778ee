"""`title contains (red* and not "one owner")`: one value satisfies the whole pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.errors import NotForThisKind, StemWithoutLanguage
from tidings.language.patterns.printer import print_pattern
from tidings.language.patterns.tree import words_in
from tidings.language.predicates.kind import Demand, HasPattern, PredicateKind, SpaceOf, no_opposite
from tidings.language.tree import ContainsPattern

if TYPE_CHECKING:
    from tidings.language.scope import Scope


def _bind(node: ContainsPattern, scope: Scope) -> ContainsPattern:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    if not domain.kind.wordy:
        place = scope.place_of_operator(at, "contains")
        raise NotForThisKind(scope.text, place, "contains (pattern)", attribute, str(domain.kind), ("string", "text"))
    scope.need(domain, attribute, at, "contains", "contains")
    for word in words_in(node.pattern):
        if word.form == "~" and domain.language is None:
            raise StemWithoutLanguage(scope.text, word.at, word.word, domain.name)
    return node


def _demand(node: ContainsPattern, space_of: SpaceOf) -> Demand:
    return HasPattern(node.attribute, node.pattern)


CONTAINS_PATTERN = PredicateKind(
    node=ContainsPattern,
    other_attributes=(),
    forms=(),
    text=lambda node: f"contains ({print_pattern(node.pattern)})",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=False,
    demand=_demand,
)
