"""Binding: the parsed tree against a catalog. Words become values or attributes, operators are checked."""

from __future__ import annotations

from tidings.language.dialects import translation
from tidings.language.predicates import KINDS
from tidings.language.scope import Scope
from tidings.language.tree import And, InDialect, Node, Not, Or
from tidings.schema.catalog import Catalog


def bind(tree: Node, text: str, catalog: Catalog) -> Node:
    """The tree with every name looked up; `text` is only for the errors' pictures."""
    bound = _bound(tree, Scope(text, catalog))
    # Only a whole filter is translated: what else is said beside an expression finds it already.
    return translation(bound, catalog) if isinstance(bound, InDialect) and bound.stage == "written" else bound


def _bound(node: Node, scope: Scope) -> Node:
    kind = KINDS.get(type(node))
    if kind is not None:
        return kind.bind(node, scope)
    match node:
        case And(terms):
            return And(tuple([_bound(term, scope) for term in terms]))
        case Or(terms):
            return Or(tuple([_bound(term, scope) for term in terms]))
        case Not(term):
            return Not(_bound(term, scope))
        case _:
            raise TypeError(f"not a node of a filter: {node!r}")
