"""`article xpath '//classifier[@value = "04"]'`: the path selects a node in one of the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.language.errors import NotForThisKind
from tidings.language.operand_text import operand_text
from tidings.language.predicates.kind import Demand, Form, HasPath, PredicateKind, SpaceOf, no_opposite
from tidings.language.tree import XPath
from tidings.paths.errors import PathError, PathTooLarge
from tidings.paths.parser import parse_path
from tidings.paths.printer import path_text
from tidings.paths.tokens import LONGEST_PATH
from tidings.schema.domain import Kind

if TYPE_CHECKING:
    from tidings.language.cursor import Cursor
    from tidings.language.scope import Scope


def _parse(cursor: Cursor, attribute: str, at: int) -> XPath:
    if cursor.kinds[cursor.next] != "text":
        cursor.unexpected("a path in single quotes, e.g. xpath '//title'")
    return XPath(attribute, str(cursor.operand()), None, at)


def _bind(node: XPath, scope: Scope) -> XPath:
    attribute, at = node.attribute, node.at
    domain = scope.domain(attribute, at)
    if domain.kind is not Kind.DOCUMENT:
        place = scope.place_of_operator(at, "xpath")
        raise NotForThisKind(scope.text, place, "xpath", attribute, str(domain.kind), ("document",))
    scope.need(domain, attribute, at, "xpath", "xpath")
    try:
        path = parse_path(node.text, domain.document.prefixes)
    except PathError as problem:
        raise _placed(problem, node, scope) from None
    canonical = path_text(path)
    if len(canonical) > LONGEST_PATH:  # it could not be read again
        raise PathTooLarge(scope.text, scope.place_of_literal(at, node.text), "characters", LONGEST_PATH)
    return XPath(attribute, canonical, path, at)


def _placed(problem: PathError, node: XPath, scope: Scope) -> PathError:
    """The same error, shown in the text of the filter."""
    literal = scope.place_of_literal(node.at, node.text)
    text, offset, *parts = problem.args
    if not scope.text.startswith("'", literal):  # the tree was made otherwise
        return problem
    quotes = text.count("'", 0, offset)  # each is written twice
    return type(problem)(scope.text, literal + 1 + offset + quotes, *parts)


def _demand(node: XPath, space_of: SpaceOf) -> Demand:
    assert node.path is not None  # it is bound
    return HasPath(node.attribute, node.path)


XPATH = PredicateKind(
    node=XPath,
    other_attributes=(),
    forms=(Form("xpath", _parse, after_not=True),),
    text=lambda node: f"xpath {operand_text(node.text)}",
    not_inside=True,
    bind=_bind,
    opposite=no_opposite,
    chooses=False,
    demand=_demand,
)
