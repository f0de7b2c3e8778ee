"""Filters as rows: what a form can show of a filter's tree, and the text of rows that were filled in.

Rows stand in groups. The rows of a group are joined by the one word and the groups by the other: `or` between groups
means `and` within them, and the other way round. What is nested deeper, or compares two attributes, has no rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tidings.language import print_filter
from tidings.language.tree import (
    And,
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Node,
    Not,
    Operand,
    Or,
    Word,
)
from tidings.schema import Domain
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Kind

Join = Literal["and", "or"]
_ORDER = ("<", "<=", ">", ">=")
_PLAIN = {"=": "is", "!=": "is not"}
_WORDS: dict[Kind, dict[str, str]] = {
    Kind.NUMERIC: {"=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"},
    Kind.TIME: {**_PLAIN, "<": "before", "<=": "not after", ">": "after", ">=": "not before"},
    Kind.HIERARCHICAL: {
        **_PLAIN,
        "<=": "is, or lies under",
        "<": "lies under",
        ">=": "is, or lies above",
        ">": "lies above",
    },
    Kind.ENUMERATED: {**_PLAIN, "<": "less than", "<=": "at most", ">": "more than", ">=": "at least"},
    Kind.STRING: {**_PLAIN, "<": "sorts before", "<=": "sorts not after", ">": "sorts after", ">=": "sorts not before"},
    Kind.TEXT: _PLAIN,
}


@dataclass(frozen=True, slots=True)
class Row:
    attribute: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """`join` stands between the groups."""

    join: Join
    groups: tuple[tuple[Row, ...], ...]

    def as_json(self) -> dict[str, Any]:
        groups = [
            [{"attribute": row.attribute, "operator": row.operator, "values": list(row.values)} for row in group]
            for group in self.groups
        ]
        return {"join": self.join, "groups": groups}


@dataclass(frozen=True, slots=True)
class Choice:
    """An operator that may be chosen; `takes` is none, one, two, many or words."""

    operator: str
    label: str
    takes: str

    def as_json(self) -> dict[str, str]:
        return {"operator": self.operator, "label": self.label, "takes": self.takes}


def choices(domain: Domain, multiple: bool) -> list[Choice]:
    """The operators that a domain allows, in people's words."""
    words = _WORDS[domain.kind]
    wordy = domain.kind in (Kind.STRING, Kind.TEXT)
    ordered = [operator for operator in ("=", "!=") if domain.allows(operator)]
    order = ("<=", "<", ">=", ">") if domain.kind is Kind.HIERARCHICAL else _ORDER
    compared = [operator for operator in order if domain.allows(operator)]
    if domain.kind is Kind.HIERARCHICAL:
        ordered = compared[:1] + ordered + compared[1:]
    else:
        ordered += compared
    made = [Choice(operator, words[operator], "one") for operator in ordered]
    if domain.allows("="):
        made += [Choice("in", "is one of", "many"), Choice("not in", "is none of", "many")]
    if domain.allows("<=") and domain.allows(">=") and domain.kind is not Kind.HIERARCHICAL:
        made += [Choice("between", "from … to", "two"), Choice("not between", "not from … to", "two")]
    if wordy and domain.allows("contains"):
        made += [
            Choice("contains all", "has all the words", "words"),
            Choice("contains any", "has any of the words", "words"),
            Choice("not contains all", "lacks any of the words", "words"),
            Choice("not contains any", "has none of the words", "words"),
        ]
    elif not wordy and multiple:
        made += [
            Choice("contains", "has among its values", "one"),
            Choice("not contains", "has not among its values", "one"),
        ]
    return [*made, Choice("exists", "is given", "none"), Choice("not exists", "is not given", "none")]


def rows_of(tree: Node) -> Rows | None:
    """None where rows cannot show it."""
    match tree:
        case Or(terms) if all(_row(term) is not None for term in terms):
            return _rows("and", [tree])
        case Or(terms):
            return _rows("or", terms)
        case And(terms) if any(isinstance(term, Or) for term in terms):
            return _rows("and", terms)
        case _:
            return _rows("or", (tree,))


def _rows(join: Join, groups: Any) -> Rows | None:
    within = And if join == "or" else Or
    made: list[tuple[Row, ...]] = []
    for group in groups:
        rows = [_row(term) for term in (group.terms if isinstance(group, within) else (group,))]
        if any(row is None for row in rows):
            return None
        made.append(tuple(row for row in rows if row is not None))
    return Rows(join, tuple(made))


def _row(node: Node) -> Row | None:
    match node:
        case Comparison(attribute, operator, value):
            return Row(attribute, operator, (_written(value),))
        case Not(Exists(attribute)):
            return Row(attribute, "not exists")
        case Not(In() | Between() | Contains() | ContainsWords() as inner):
            row = _row(inner)
            return None if row is None else Row(row.attribute, f"not {row.operator}", row.values)
        case In(attribute, values):
            return Row(attribute, "in", tuple(_written(value) for value in values))
        case Between(attribute, low, high):
            return Row(attribute, "between", (_written(low), _written(high)))
        case Contains(attribute, value):
            return Row(attribute, "contains", (_written(value),))
        case ContainsWords(attribute, quantifier, words):
            return Row(attribute, f"contains {quantifier}", (" ".join(words),))
        case Exists(attribute):
            return Row(attribute, "exists")
        case _:
            return None


def text_of(rows: Rows, catalog: Catalog) -> tuple[str, list[tuple[int, int, int, int]]]:
    """The text, and for each row where it stands in it: start, stop, group, row. Rows that are not filled in yet are
    left out. The text is not canonical: values stand in it as they were typed, for the parser to judge."""
    inner, outer = (" and ", " or ") if rows.join == "or" else (" or ", " and ")
    filled = [
        [(place, text) for place, row in enumerate(group) if (text := _text(row, catalog)) is not None]
        for group in rows.groups
    ]
    several = sum(1 for group in filled if group) > 1
    text, places = "", []
    for number, group in enumerate(filled):
        if not group:
            continue
        text += outer if text else ""
        wrapped = several and rows.join == "and" and len(group) > 1
        text += "(" if wrapped else ""
        for count, (place, written) in enumerate(group):
            text += inner if count else ""
            places.append((len(text), len(text) + len(written), number, place))
            text += written
        text += ")" if wrapped else ""
    return text, places


def _text(row: Row, catalog: Catalog) -> str | None:
    """None for a row that is not complete."""
    if not row.attribute or not row.operator:
        return None
    domain = catalog.domain_of(row.attribute)
    values = [_operand(value, domain) for value in row.values if value.strip()]
    operator, _, negated = row.operator.removeprefix("not "), None, row.operator.startswith("not ")
    needed = 0 if operator == "exists" else 2 if operator == "between" else 1
    if len(values) < needed:
        return None
    node: Node
    match operator:
        case "exists":
            node = Exists(row.attribute)
        case "between":
            node = Between(row.attribute, values[0], values[1])
        case "in":
            node = In(row.attribute, tuple(values))
        case "contains":
            node = Contains(row.attribute, values[0])
        case "contains any" | "contains all":
            words = "'" + str(values[0]).replace("'", "''") + "'"
            head = print_filter(Contains(row.attribute, Word("x"))).removesuffix("contains x")
            return f"{head}{'not ' if negated else ''}{operator} {words}"
        case _:
            return print_filter(Comparison(row.attribute, row.operator, values[0]))
    return print_filter(Not(node) if negated else node)


def _operand(text: str, domain: Domain | None) -> Operand:
    text = text.strip()
    if domain is not None and domain.kind is Kind.NUMERIC:
        for read in (int, float):
            try:
                number = read(text)
                if abs(number) <= 1.7e308:
                    return number
            except (ValueError, OverflowError):
                continue
    return text


def _written(value: Operand) -> str:
    return str(value.name) if isinstance(value, Word) else str(value)
