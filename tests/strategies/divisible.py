"""`price divides 3`: a kind of predicate that only tests have, and that no interval can say.

It shows what a new kind takes: a node class, an entry in the table, and its meaning in the specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tidings.language import predicates, tokens
from tidings.language.predicates.kind import Form, PredicateKind, Verified, no_opposite
from tidings.language.tree import Operand
from tidings.matching import naive

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope


@dataclass(frozen=True, slots=True)
class Divisible:
    attribute: str
    divisor: Operand
    at: int = field(default=0, compare=False, repr=False)


def _parse(cursor: Cursor, attribute: str, at: int) -> Any:
    return Divisible(attribute, cursor.operand(), at)


def _bind(node: Divisible, scope: Scope) -> Any:
    domain = scope.domain(node.attribute, node.at)
    return Divisible(node.attribute, scope.value(domain, node.attribute, node.divisor, node.at, "divides"), node.at)


DIVISIBLE: PredicateKind[Any] = PredicateKind(
    node=Divisible,
    other_attributes=(),
    forms=(Form("divides", _parse, after_not=True),),
    text=lambda node: f"divides {node.divisor}",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=True,
    demand=lambda node, space_of: Verified(node),
)


@contextmanager
def divisible() -> Iterator[None]:
    """The kind is in the table, and the specification knows it."""
    known = naive.satisfies

    def satisfies(predicate: Any, event: Any, chosen: Any, catalog: Any) -> bool:
        if type(predicate) is Divisible:
            return bool(chosen[predicate.attribute] % predicate.divisor == 0)
        return known(predicate, event, chosen, catalog)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(predicates.KINDS, Divisible, DIVISIBLE)
        patch.setitem(predicates.FORMS, "divides", DIVISIBLE.forms[0])
        patch.setattr(tokens, "KEYWORDS", tokens.KEYWORDS | {"divides"})
        patch.setattr(naive, "satisfies", satisfies)
        yield
