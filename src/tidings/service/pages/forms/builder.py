"""Filters as rows: what a form can show of a filter's tree, and the text of rows that were filled in.

Rows stand in groups. The rows of a group are joined by the one word and the groups by the other: `or` between groups
means `and` within them, and the other way round. What is nested deeper, or uses what the form does not offer, has no
rows: a row never shows anything else than the filter says.
"""

from __future__ import annotations

from typing import Any

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
    Or,
    Similar,
    XPath,
)
from tidings.schema.catalog import Catalog
from tidings.service.pages.forms.builder_rows import Join, Row, Rows
from tidings.service.pages.forms.builder_text import written
from tidings.service.pages.forms.choices import choices, offered
from tidings.service.pages.forms.computed_rows import OPTIONAL, computed_values

MOST_GROUPS, MOST_ROWS, MOST_VALUES = 100, 500, 1_000  # rows of a group, values of a row


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
            return Row(attribute, operator, (written(value),))
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
            return Row(attribute, "in", tuple(written(value) for value in values))
        case Between(attribute, low, high):
            return Row(attribute, "between", (written(low), written(high)))
        case Like(attribute, form, text):
            return Row(attribute, form, (text,))
        case Contains(attribute, value):
            return Row(attribute, "contains", (written(value),))
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
