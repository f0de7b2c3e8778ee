"""From the builder's rows to the text of a filter."""

from __future__ import annotations

from tidings.language import print_filter
from tidings.language.tree import (
    Between,
    Comparison,
    Contains,
    Exists,
    In,
    Like,
    Node,
    Not,
    Operand,
    Word,
    XPath,
)
from tidings.schema import Domain
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Kind
from tidings.service.pages.forms.builder_rows import Row, Rows
from tidings.service.pages.forms.computed_rows import COMPUTED, computed_text
from tidings.service.pages.forms.typed_number import typed_number


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


def written(value: Operand) -> str:
    return str(value.name) if isinstance(value, Word) else str(value)
