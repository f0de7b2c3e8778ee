"""The filters array of the CloudEvents subscriptions API: objects with one dialect each, all of which must pass.

An attribute that is missing fails `exact`, `prefix` and `suffix`; an expression that ends in an error fails `sql`. So
nothing here is an error once it is read, and `not` turns both round.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, assert_never

from tidings.errors import LanguageError, shown, suggestion
from tidings.language.cesql.cloud_event import NAME
from tidings.language.cesql.errors import ExpressionTooLong, WrongFilters
from tidings.language.cesql.evaluator import CloudEventAttributes, passes
from tidings.language.cesql.expression import ContextAttribute, Expression, HasAttribute
from tidings.language.cesql.parser import parse_cesql
from tidings.language.cesql.tokens import LONGEST
from tidings.language.cesql.values import text_of

DEEPEST = 50
LONGEST_ARRAY = 4 * LONGEST
_DIALECTS = ("exact", "prefix", "suffix", "all", "any", "not", "sql")


@dataclass(frozen=True, slots=True)
class TextTest:
    """`{"prefix": {"type": "com."}}`; of several attributes in one object, one test each."""

    relation: str
    attribute: str
    text: str


@dataclass(frozen=True, slots=True)
class AllOf:
    terms: tuple[CloudEventsFilter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    terms: tuple[CloudEventsFilter, ...]


@dataclass(frozen=True, slots=True)
class NotOf:
    term: CloudEventsFilter


@dataclass(frozen=True, slots=True)
class Sql:
    expression: Expression


CloudEventsFilter = TextTest | AllOf | AnyOf | NotOf | Sql


@dataclass(frozen=True, slots=True)
class FiltersArray:
    """What was written, as compact JSON, and its meaning."""

    text: str
    filter: CloudEventsFilter


def parse_filters(text: str) -> FiltersArray:
    """Raises LanguageError."""
    if len(text) > LONGEST_ARRAY:
        raise ExpressionTooLong("", 0, "filters array", len(text), LONGEST_ARRAY)
    try:
        raw = json.loads(text)
    except ValueError as problem:
        raise WrongFilters(text, 0, "filters", f"not JSON: {problem}") from None
    except RecursionError:
        raise WrongFilters(text, 0, "filters", f"nested more than {DEEPEST} deep") from None
    return FiltersArray(filters_text(raw), _all(raw, "filters", 0, least=0))


def filters_text(raw: Any) -> str:
    """The array as JSON, without white space."""
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))


def filters_pass(filter: CloudEventsFilter, event: CloudEventAttributes) -> bool:
    match filter:
        case TextTest(relation, attribute, text):
            found = event.get(attribute)
            return found is not None and _stands(text_of(found), relation, text)
        case AllOf(terms):
            return all(filters_pass(term, event) for term in terms)
        case AnyOf(terms):
            return any(filters_pass(term, event) for term in terms)
        case NotOf(term):
            return not filters_pass(term, event)
        case Sql(expression):
            return passes(expression, event)
        case _:
            assert_never(filter)


def attribute_names(meaning: Expression | FiltersArray | CloudEventsFilter) -> set[str]:
    """The attributes of a CloudEvent that are asked about."""
    match meaning:
        case Expression():
            return {step.name for step in meaning.steps if isinstance(step, ContextAttribute | HasAttribute)}
        case FiltersArray():
            return attribute_names(meaning.filter)
        case TextTest():
            return {meaning.attribute}
        case AllOf(terms) | AnyOf(terms):
            return {name for term in terms for name in attribute_names(term)}
        case NotOf(term):
            return attribute_names(term)
        case Sql(expression):
            return attribute_names(expression)
        case _:
            assert_never(meaning)


def _stands(found: str, relation: str, text: str) -> bool:
    if relation == "exact":
        return found == text
    return found.startswith(text) if relation == "prefix" else found.endswith(text)


def _all(raw: Any, path: str, depth: int, least: int = 1) -> AllOf:
    if not isinstance(raw, list) or len(raw) < least:
        raise WrongFilters("", 0, path, f'expected an array such as [{{"exact": {{"type": "car"}}}}], got {shown(raw)}')
    return AllOf(tuple(_filter(one, f"{path}[{place}]", depth) for place, one in enumerate(raw)))


def _filter(raw: Any, path: str, depth: int) -> CloudEventsFilter:
    if depth >= DEEPEST:
        raise WrongFilters("", 0, path, f"nested more than {DEEPEST} deep")
    if not isinstance(raw, dict) or len(raw) != 1:
        raise WrongFilters(
            "", 0, path, f"expected an object with one dialect ({', '.join(_DIALECTS)}), got {shown(raw)}"
        )
    ((dialect, given),) = raw.items()
    path = f"{path}.{dialect}"
    match dialect:
        case "exact" | "prefix" | "suffix":
            return _texts(dialect, given, path)
        case "all":
            return _all(given, path, depth + 1)
        case "any":
            return AnyOf(_all(given, path, depth + 1).terms)
        case "not":
            return NotOf(_filter(given, path, depth + 1))
        case "sql":
            return _sql(given, path)
        case _:
            raise WrongFilters("", 0, path, f"no dialect {dialect!r}{suggestion(str(dialect), _DIALECTS)}")


def _texts(relation: str, raw: Any, path: str) -> CloudEventsFilter:
    if not isinstance(raw, dict) or not raw:
        raise WrongFilters("", 0, path, f'expected an object such as {{"type": "car"}}, got {shown(raw)}')
    for name, text in raw.items():
        if not NAME.fullmatch(name):
            raise WrongFilters("", 0, path, f"{name!r} cannot be an attribute: lower-case letters and digits")
        if not isinstance(text, str) or not text:
            raise WrongFilters("", 0, f"{path}.{name}", f"expected text that is not empty, got {shown(text)}")
    tests = tuple(TextTest(relation, name, text) for name, text in raw.items())
    return tests[0] if len(tests) == 1 else AllOf(tests)


def _sql(raw: Any, path: str) -> Sql:
    if not isinstance(raw, str):
        raise WrongFilters("", 0, path, f"expected a CESQL expression, got {shown(raw)}")
    try:
        return Sql(parse_cesql(raw))
    except LanguageError as problem:
        raise WrongFilters("", 0, path, str(problem)) from None
