"""A subscription's elements to the text of a filter, and back where the elements can say it.

    <EVENT_TYPE><VALUE type="car" oper="contains"/></EVENT_TYPE>
    <ATTRIBUTES>
      <ATTR type="price" oper="lteq">1300</ATTR>
      <ATTR type="title" oper="contains">red mini</ATTR>
    </ATTRIBUTES>

is `event_type contains 'car' and price <= 1300 and title contains any 'red mini'`: in XML `contains` with several
words means any of them, as in the thesis. All is text in XML, so the attribute's domain says what is a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidings.errors import LanguageError
from tidings.events.numerals import numeral
from tidings.language import parse, print_filter
from tidings.language.tree import And, Comparison, Contains, ContainsWords, Like, Name, Node, Word, XPath, both
from tidings.language.words import words_of
from tidings.schema import Catalog, Domain, Kind
from tidings.schema.catalog import EVENT_TYPE, UnknownName
from tidings.schema.dtd import OPERATORS

_NAMES = {operator: name for name, operator in OPERATORS.items()}


def filter_text(event_types: Iterable[str], tests: Iterable[tuple[str, str, str]], catalog: Catalog) -> str:
    """`tests` are attribute, operator's name and text; at least one of both. Raises UnknownName or OutsideDomain."""
    terms: list[Node] = []
    for name in event_types:
        if catalog.event_type(name) is None:
            raise UnknownName("event type", name, "PUBLISH_SUB", catalog.event_type_names)
        terms.append(Contains(EVENT_TYPE, name))
    for attribute, operator, text in tests:
        domain = catalog.domain_of(attribute)
        if domain is None:
            raise UnknownName("attribute", attribute, "PUBLISH_SUB", catalog.attribute_names)
        terms.append(_term(attribute, OPERATORS[operator], text, domain))
    return print_filter(both(terms))


def _term(attribute: str, operator: str, text: str, domain: Domain) -> Node:
    if operator == "contains" and domain.kind.wordy:
        words = tuple(dict.fromkeys(words_of(text)))
        return ContainsWords(attribute, "any", words) if len(words) > 1 else Contains(attribute, text)
    if operator in ("starts", "ends", "like"):
        return Like(attribute, operator, text)  # type: ignore[arg-type]
    if operator == "xpath":
        return XPath(attribute, text.strip())
    value = domain.canonical(numeral(text) if domain.kind is Kind.NUMERIC else text)
    return Contains(attribute, value) if operator == "contains" else Comparison(attribute, operator, value)


def tests_of(filter: str) -> tuple[list[str], list[tuple[str, str, str]]] | None:
    """The event types and tests of which `filter_text` makes this canonical text; None where it takes more."""
    try:
        tree = parse(filter)
    except LanguageError:
        return None
    event_types: list[str] = []
    tests: list[tuple[str, str, str]] = []
    for term in tree.terms if isinstance(tree, And) else (tree,):
        match term:
            case Contains("event_type", str(name)):
                event_types.append(name)
            case Contains(attribute, value) if not isinstance(value, (Word, Name)):
                tests.append((attribute, "contains", _written(value)))
            case ContainsWords(attribute, "any", words):
                tests.append((attribute, "contains", " ".join(words)))
            case Like(attribute, form, text):
                tests.append((attribute, form, text))
            case XPath(attribute, text):
                tests.append((attribute, "xpath", text))
            case Comparison(attribute, operator, value) if operator in _NAMES and not isinstance(value, (Word, Name)):
                tests.append((attribute, _NAMES[operator], _written(value)))
            case _:
                return None
    return event_types, tests


def _written(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
