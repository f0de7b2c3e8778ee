"""Filters in other languages: as text of the core language, translated into it when bound, and back for their owners.

`core_text("cesql", "EXISTS subject")` is `event_type cesql 'EXISTS subject'`. When that is a whole filter, binding puts
beside it what the core language can say, so that the index finds it: all of it, `subject exists and event_type
translated cesql '…'`, or a necessary part, `… and event_type checked cesql '…'`. The canonical text keeps both, so
later growth does not change what the filter means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from tidings.errors import LanguageError
from tidings.language.cesql.cloud_event import CloudEvent
from tidings.language.cesql.evaluator import evaluate, passes
from tidings.language.cesql.expression import Expression
from tidings.language.cesql.filters import filters_pass
from tidings.language.cesql.translation import expression_verdict, filter_verdict
from tidings.language.cesql.verdict import Side
from tidings.language.cycles import refuse_cycles
from tidings.language.normal_form import normal_form
from tidings.language.operand_text import operand_text
from tidings.language.parser import parse
from tidings.language.tree import And, Exists, InDialect, Node, Not, Or, both
from tidings.schema.catalog import EVENT_TYPE, Catalog
from tidings.schema.values import Value

CORE = "tidings"
DIALECTS = (CORE, "cesql", "cloudevents")


class UnknownDialect(LanguageError):
    name: str
    known: tuple[str, ...]
    pictured = False
    template = "no dialect {name!r}{hint}"


class WrongTranslation(LanguageError):
    """`event_type translated …` is believed where it is read, so nobody else may write it."""

    dialect: str
    template = (
        "this is not how the filter language says what stands after 'translated {dialect}'; "
        "write event_type {dialect} '…' without 'translated', and it is translated"
    )


class Written(NamedTuple):
    """A filter as its author wrote it."""

    dialect: str
    text: str


def core_text(dialect: str, text: str) -> str:
    """A filter in this dialect as text of the core language; raises UnknownDialect."""
    if dialect not in DIALECTS:
        raise UnknownDialect("", 0, dialect, DIALECTS)
    return text if dialect == CORE else f"{EVENT_TYPE} {dialect} {operand_text(text)}"


def written(canonical: str) -> Written:
    """What the author of a canonical text wrote; the text itself where that was in the core language."""
    if f"{EVENT_TYPE} translated " in canonical or f"{EVENT_TYPE} checked " in canonical:
        try:
            tree = parse(canonical)
        except LanguageError:
            return Written(CORE, canonical)
        last = tree.terms[-1] if isinstance(tree, And) else tree
        if isinstance(last, InDialect) and last.stage != "written":
            return Written(last.dialect, last.text)
    return Written(CORE, canonical)


def is_evaluated(canonical: str) -> bool:
    """Whether an expression in another language is evaluated on the events that such a filter finds."""
    stages = (f"{EVENT_TYPE} {stage}{dialect} '" for stage in ("", "checked ") for dialect in DIALECTS[1:])
    return any(opening in canonical for opening in stages)


def translation(node: InDialect, catalog: Catalog) -> Node:
    """The predicate with what the core language can say of it; raises LanguageError where no event can satisfy it
    because of how it is written."""
    if isinstance(node.meaning, Expression):
        true = expression_verdict(node.meaning, catalog).true
    else:
        true = filter_verdict(node.meaning.filter, catalog).true
    said = _said(true, catalog)
    noted = replace(node, stage="translated" if said.exact else "checked")
    if said.node is True:
        return noted
    return both([Not(Exists(EVENT_TYPE)) if said.node is False else said.node, noted])


def refuse_wrong_translation(tree: Node, text: str, catalog: Catalog) -> None:
    """Raises WrongTranslation where a bound tree has a translation that is not the one that binding makes."""
    last = tree.terms[-1] if isinstance(tree, And) else tree
    for one in _translated(tree):
        if one is not last or translation(replace(one, stage="written"), catalog) != tree:
            raise WrongTranslation(text, one.at, one.dialect)


def _translated(node: Node) -> Iterator[InDialect]:
    match node:
        case And(terms) | Or(terms):
            for term in terms:
                yield from _translated(term)
        case Not(term):
            yield from _translated(term)
        case InDialect(stage="translated"):
            yield node


def _said(true: Side, catalog: Catalog) -> Side:
    """A condition within the limits of a filter."""
    if isinstance(true.node, bool):
        return true
    try:
        refuse_cycles(normal_form(true.node, catalog), "")
    except LanguageError:
        terms = true.node.terms if isinstance(true.node, And) else (true.node,)
        simple: list[Node] = [term for term in terms if not isinstance(term, And | Or | Not)]
        return Side(both(simple) if simple else True, exact=False)
    return true


def passes_dialect(node: InDialect, bindings: Mapping[str, tuple[Value, ...]], event_type: str) -> bool:
    """Whether the event, as a CloudEvent of this type, passes what was written."""
    event = CloudEvent(bindings, event_type)
    if not isinstance(node.meaning, Expression):
        return filters_pass(node.meaning.filter, event)
    return passes(node.meaning, event)


def trouble_of(node: InDialect, bindings: Mapping[str, tuple[Value, ...]]) -> str:
    """Why an expression ended in an error on the event, with its first type; '' if it did not."""
    if not isinstance(node.meaning, Expression) or not bindings.get(EVENT_TYPE):
        return ""
    _, errors = evaluate(node.meaning, CloudEvent(bindings, str(bindings[EVENT_TYPE][0])))
    return errors[0].detail if errors else ""
