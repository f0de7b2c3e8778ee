"""Tree to canonical text: `parse(print_filter(tree))` is the tree again, also after the schema has grown.

Values are always quoted and attributes on the right stand in double quotes, since a bare word could later
become a value.
"""

from __future__ import annotations

from tidings.language.tokens import KEYWORDS, NAME
from tidings.language.tree import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Name,
    Node,
    Not,
    Operand,
    Or,
    Word,
)
from tidings.schema.values import Instant


def print_filter(node: Node) -> str:
    """The canonical text."""
    match node:
        case Or(terms):
            return " or ".join(print_filter(term) for term in terms)
        case And(terms):
            return " and ".join(_grouped(term, Or) for term in terms)
        case Not(In() | Between() | Contains() | ContainsWords() as predicate):
            return _predicate(predicate, "not ")
        case Not(term):
            return f"not ({print_filter(term)})"
        case _:
            return _predicate(node, "")


def _grouped(term: Node, looser: type[Or]) -> str:
    text = print_filter(term)
    return f"({text})" if isinstance(term, looser) else text


def _predicate(node: Node, negation: str) -> str:
    match node:
        case Comparison(attribute, operator, value):
            return f"{_name(attribute)} {operator} {_operand(value)}"
        case AttributeComparison(attribute, operator, other):
            return f"{_name(attribute)} {operator} {_quoted(other)}"
        case Between(attribute, low, high):
            return f"{_name(attribute)} {negation}between {_operand(low)} and {_operand(high)}"
        case In(attribute, values):
            return f"{_name(attribute)} {negation}in ({', '.join(_operand(value) for value in values)})"
        case Contains(attribute, value):
            return f"{_name(attribute)} {negation}contains {_operand(value)}"
        case ContainsWords(attribute, "all", (word,)):
            return f"{_name(attribute)} {negation}contains {_operand(word)}"
        case ContainsWords(attribute, quantifier, words):
            return f"{_name(attribute)} {negation}contains {quantifier} {_operand(' '.join(words))}"
        case Exists(attribute):
            return f"{_name(attribute)} exists"
        case _:
            raise TypeError(f"no predicate: {node!r}")


def _operand(value: Operand) -> str:
    match value:
        case Word(name):
            return name
        case Name(name):
            return _quoted(name)
        case Instant():
            return f"'{value}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return repr(value)


def _name(name: str) -> str:
    return name if NAME.fullmatch(name) and name.lower() not in KEYWORDS else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
