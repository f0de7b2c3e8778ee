"""Tree to canonical text: `parse(print_filter(tree))` is the tree again, also after the schema has grown.

Values are always quoted and attributes on the right are in double quotes, since a bare word could later become a
value.
"""

from __future__ import annotations

from tidings.language.operand_text import quoted
from tidings.language.predicates import kind_of
from tidings.language.tokens import KEYWORDS, NAME
from tidings.language.tree import And, Node, Not, Or, Predicate


def print_filter(node: Node) -> str:
    """The canonical text."""
    match node:
        case Or(terms):
            return " or ".join(print_filter(term) for term in terms)
        case And(terms):
            return " and ".join(f"({print_filter(t)})" if type(t) is Or else print_filter(t) for t in terms)
        case Not(term):
            if isinstance(term, And | Or | Not) or not kind_of(term).not_inside:
                return f"not ({print_filter(term)})"
            return _predicate(term, "not ")
        case _:
            return _predicate(node)


def _predicate(node: Predicate, negation: str = "") -> str:
    name = node.attribute
    plain = NAME.fullmatch(name) and name.lower() not in KEYWORDS
    return f"{name if plain else quoted(name)} {negation}{kind_of(node).text(node)}"
