"""Conditions of a `where`: `big.auction = w.auction`, `w.price > 1.5 * big.price + 10`, `w.price > 100`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from tidings.language.composites.errors import NotInWhere, UnknownPart
from tidings.language.composites.tree import Condition
from tidings.language.cursor import Cursor
from tidings.language.operand_text import operand_text, quoted, summand_text
from tidings.language.predicates import FORMS
from tidings.language.tree import AttributeComparison, Comparison, LinearComparison, Operand
from tidings.schema.domain import COMPARISONS

EXPECTED = "an attribute of a named part, e.g. big.price"
_PLAIN = re.compile(r"[\w.\-]+")


class Reference(NamedTuple):
    """`big.price`"""

    part: str
    attribute: str
    at: int


def parse_condition(cursor: Cursor, names: Collection[str]) -> Condition:
    """One comparison; `names` are those of the parts read so far. Raises LanguageError."""
    left = _reference(cursor, names)
    if left is None:
        _refuse_other_forms(cursor)
        cursor.unexpected(EXPECTED)
    operator = cursor.written[cursor.next]
    if cursor.kinds[cursor.next] != "operator" or operator not in COMPARISONS:
        _refuse_other_forms(cursor)
        cursor.unexpected("= != < <= > or >=")
    cursor.next += 1
    scale = None
    right: Reference | Operand | None = _reference(cursor, names, needed=False)
    if right is None:
        right = cursor.operand()
        if isinstance(right, int | float) and cursor.at_mark("*"):
            cursor.next += 1
            scale, right = right, _reference(cursor, names)
            if right is None:
                cursor.unexpected(f"{EXPECTED}, after '*'")
    if not isinstance(right, Reference):
        return Condition(left.part, Comparison(left.attribute, operator, right, left.at), at=left.at)
    offset = cursor.summand()
    comparison: AttributeComparison | LinearComparison
    if scale in (None, 1) and not offset:
        comparison = AttributeComparison(left.attribute, operator, right.attribute, left.at)
    else:
        factor = 1 if scale is None else scale
        comparison = LinearComparison(left.attribute, operator, factor, right.attribute, offset or 0, left.at)
    return Condition(left.part, comparison, right.part, left.at, right.at)


def _reference(cursor: Cursor, names: Collection[str], needed: bool = True) -> Reference | None:
    """The attribute of a part, if it is next. Where none is needed, a dotted word of another beginning is a value."""
    written, at = cursor.written[cursor.next], cursor.offsets[cursor.next]
    part, dot, attribute = written.partition(".")
    if cursor.kinds[cursor.next] != "name" or not dot:
        return None
    if part not in names:
        if not needed:
            return None
        raise UnknownPart(cursor.text, at, part, tuple(names))
    cursor.next += 1
    if not attribute:
        if cursor.kinds[cursor.next] != "quoted":
            cursor.unexpected(f"an attribute of {part!r}")
        attribute = cursor.name()
    return Reference(part, attribute, at)


def _refuse_other_forms(cursor: Cursor) -> None:
    written = cursor.written[cursor.next].lower()
    if written in ("or", "not") or (written in FORMS and written not in COMPARISONS):
        raise NotInWhere(cursor.text, cursor.offsets[cursor.next], repr(written))


def condition_text(condition: Condition) -> str:
    comparison = condition.comparison
    left = _reference_text(condition.part, comparison.attribute)
    if condition.other_part is None:
        assert isinstance(comparison, Comparison)
        return f"{left} {comparison.operator} {operand_text(comparison.value)}"
    assert not isinstance(comparison, Comparison)
    assert isinstance(comparison.other, str)
    right = _reference_text(condition.other_part, comparison.other)
    if isinstance(comparison, LinearComparison):
        factor = "" if comparison.scale == 1 else f"{comparison.scale!r} * "
        right = f"{factor}{right}{summand_text(comparison.offset)}"
    return f"{left} {comparison.operator} {right}"


def _reference_text(part: str, attribute: str) -> str:
    return f"{part}.{attribute if _PLAIN.fullmatch(attribute) else quoted(attribute)}"
