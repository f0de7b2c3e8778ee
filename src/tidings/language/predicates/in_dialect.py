"""`event_type cesql 'LENGTH(subject) > 3'`, `event_type cloudevents '[{"prefix": {"source": "/a"}}]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.cesql.filters import parse_filters
from tidings.language.cesql.parser import parse_cesql
from tidings.language.errors import OnlyOfEventType
from tidings.language.operand_text import operand_text
from tidings.language.predicates.kind import Demand, Form, IsBound, PredicateKind, SpaceOf, Verified, no_opposite
from tidings.language.tree import InDialect
from tidings.schema.catalog import EVENT_TYPE

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope

_DIALECTS = ("cesql", "cloudevents")


def _parse(cursor: Cursor, attribute: str, at: int) -> InDialect:
    stage, dialect = "written", cursor.written[cursor.next - 1].lower()
    if dialect not in _DIALECTS:
        stage, dialect = dialect, cursor.written[cursor.next].lower()
        if dialect not in _DIALECTS:
            cursor.unexpected("'cesql' or 'cloudevents'")
        cursor.next += 1
    if cursor.kinds[cursor.next] != "text":
        cursor.unexpected(f"what is written in {dialect}, in single quotes")
    text = str(cursor.operand())
    meaning = parse_cesql(text) if dialect == "cesql" else parse_filters(text)
    return InDialect(attribute, dialect, text, stage, meaning, at)  # type: ignore[arg-type]


def _bind(node: InDialect, scope: Scope) -> InDialect:
    if node.attribute != EVENT_TYPE:
        raise OnlyOfEventType(scope.text, node.at, node.dialect)
    return node


def _demand(node: InDialect, space_of: SpaceOf) -> Demand:
    return IsBound(node.attribute) if node.stage == "translated" else Verified(node)


def _text(node: InDialect) -> str:
    stage = "" if node.stage == "written" else f"{node.stage} "
    return f"{stage}{node.dialect} {operand_text(node.text)}"


IN_DIALECT = PredicateKind(
    node=InDialect,
    other_attributes=(),
    forms=tuple(
        Form(opening, _parse, after_not=True, offered=False) for opening in (*_DIALECTS, "checked", "translated")
    ),
    text=_text,
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=True,
    demand=_demand,
)
