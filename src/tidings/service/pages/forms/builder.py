"""Filters as rows: what a form can show of a filter's tree, and the text of rows that were filled in.

Rows stand in groups. The rows of a group are joined by the one word and the groups by the other: `or` between groups
means `and` within them, and the other way round. What is nested deeper, or uses what the form does not offer, has no
rows: a row never shows anything else than the filter says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tidings.language import print_filter
from tidings.language.patterns.printer import print_pattern
from tidings.language.tree import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsPattern,
    ContainsWords,
    Exists,
    In,
    Inside,
    Like,
    LinearComparison,
    Near,
    Node,
    Not,
    NowComparison,
    Operand,
    Or,
    Similar,
    Word,
    XPath,
)
from tidings.schema import Domain
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Kind
from tidings.service.pages.forms.choices import choices, offered
from tidings.service.pages.forms.computed_rows import COMPUTED, OPTIONAL, computed_text, computed_values
from tidings.service.pages.forms.typed_number import typed_number

Join = Literal["and", "or"]
MOST_GROUPS, MOST_ROWS, MOST_VALUES = 100, 500, 1_000  # rows of a group, values of a row


@dataclass(frozen=True, slots=True)
class Row:
    attribute: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """`join` is put between the groups."""

    join: Join
    groups: tuple[tuple[Row, ...], ...]

    def as_json(self) -> dict[str, Any]:
        groups = [
            [{"attribute": row.attribute, "operator": row.operator, "values": list(row.values)} for row in group]
            for group in self.groups
        ]
        return {"join": self.join, "groups": groups}


def rows_of(tree: Node, catalog: Catalog) -> Rows | None:
    """None where rows cannot show it."""
    rows = _nested(tree)
    return rows if rows is not None and _can_be_shown(rows, catalog) else None


def _can_be_shown(rows: Rows, catalog: Catalog) -> bool:
    if len(rows.groups) > MOST_GROUPS or any(len(group) > MOST_ROWS for group in rows.groups):
        return False
    legal: dict[str, set[str]] = {name: set() for name in offered(catalog)}
    for row in (row for group in rows.groups for row in group):
        domain = catalog.domain_of(row.attribute)
        if row.attribute not in legal or domain is None or len(row.values) > MOST_VALUES:
            return False
        if not legal[row.attribute]:
            made = choices(domain, catalog.may_be_multiple(row.attribute))
            legal[row.attribute] = {choice.operator for choice in made}
        may_lack = OPTIONAL.get(row.operator, ())
        fits = all(
            (value or place in may_lack) and value == value.strip() and value.isprintable()
            for place, value in enumerate(row.values)
        )
        if row.operator not in legal[row.attribute] or not fits:  # a field has one line, and blanks around are not seen
            return False
        if row.operator == "compares" and row.values[1] not in legal:
            return False
    return True


def _nested(tree: Node) -> Rows | None:
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
        case Not(
            In()
            | Between()
            | Like()
            | Contains()
            | ContainsWords()
            | ContainsPattern()
            | Near()
            | Inside()
            | Similar()
            | XPath() as inner
        ):
            row = _row(inner)
            return None if row is None else Row(row.attribute, f"not {row.operator}", row.values)
        case In(attribute, values):
            return Row(attribute, "in", tuple(_written(value) for value in values))
        case Between(attribute, low, high):
            return Row(attribute, "between", (_written(low), _written(high)))
        case Like(attribute, form, text):
            return Row(attribute, form, (text,))
        case Contains(attribute, value):
            return Row(attribute, "contains", (_written(value),))
        case ContainsWords(attribute, quantifier, words):
            return Row(attribute, f"contains {quantifier}", (" ".join(words),))
        case ContainsPattern(attribute, pattern):
            return Row(attribute, "contains pattern", (print_pattern(pattern),))
        case XPath(attribute, text):
            return Row(attribute, "xpath", (text,))
        case Exists(attribute):
            return Row(attribute, "exists")
        case AttributeComparison() | LinearComparison() | NowComparison() | Near() | Inside() | Similar():
            found = computed_values(node)
            return None if found is None else Row(node.attribute, *found)
        case _:
            return None


def text_of(rows: Rows, catalog: Catalog) -> tuple[str, list[tuple[int, int, int, int]]]:
    """The text, and the place of each row in it: start, stop, group, row. Rows that are not filled in yet are
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


def incomplete(rows: Rows, places: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """Group and row of those that name an attribute and yet stand in no text: saved, they would say nothing."""
    written = {(group, row) for _, _, group, row in places}
    return [
        (number, place)
        for number, group in enumerate(rows.groups)
        for place, row in enumerate(group)
        if row.attribute and (number, place) not in written
    ]


def _text(row: Row, catalog: Catalog) -> str | None:
    """None for a row that is not complete."""
    if not row.attribute or not row.operator:
        return None
    domain = catalog.domain_of(row.attribute)
    operator, negated = row.operator.removeprefix("not "), row.operator.startswith("not ")
    if operator in COMPUTED:
        kind = Kind.NUMERIC if domain is None else domain.kind
        return computed_text(row.attribute, operator, row.values, kind, negated)
    values = [_operand(value, domain) for value in row.values if value.strip()]
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
        case "starts" | "ends" | "like":
            node = Like(row.attribute, operator, str(values[0]))
        case "xpath":
            node = XPath(row.attribute, str(values[0]))
        case "contains":
            node = Contains(row.attribute, values[0])
        case "contains any" | "contains all":
            words = "'" + str(values[0]).replace("'", "''") + "'"
            return f"{_head(row.attribute, negated)} {operator} {words}"
        case "contains pattern":
            return f"{_head(row.attribute, negated)} contains ({values[0]})"
        case _:
            return print_filter(Comparison(row.attribute, row.operator, values[0]))
    return print_filter(Not(node) if negated else node)


def _head(attribute: str, negated: bool) -> str:
    return print_filter(Exists(attribute)).removesuffix(" exists") + (" not" if negated else "")


def _operand(text: str, domain: Domain | None) -> Operand:
    text = text.strip()
    if domain is not None and domain.kind is Kind.NUMERIC:
        number = typed_number(text)
        return text if number is None else number
    return text


def _written(value: Operand) -> str:
    return str(value.name) if isinstance(value, Word) else str(value)
