"""Binding, rule by rule of section 3 of the semantics. A caret's place is given as the text from there."""

import pytest

from tests.strategies.filters import RICH
from tidings.errors import LanguageError
from tidings.language import Filter
from tidings.language.errors import (
    AmbiguousWord,
    DoubleQuotedValue,
    NeedsValue,
    NotComparable,
    NotForThisKind,
    OperatorNotAllowed,
    UnclearWords,
    UnknownAttribute,
    UnknownWord,
    ValueOutsideDomain,
)
from tidings.language.tree import AttributeComparison, Comparison, Contains, ContainsWords, In, Node
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Instant, Kind


def bound(text: str, catalog: Catalog = RICH) -> Node:
    return Filter.parse(text, catalog).tree


def refused(text: str, error: type[LanguageError], at: str, message: str, catalog: Catalog = RICH) -> None:
    with pytest.raises(error) as caught:
        Filter.parse(text, catalog)
    assert text[caught.value.offset :].startswith(at), str(caught.value)
    assert message in caught.value.problem()


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("colour = blue", Comparison("colour", "=", "blue")),
        ("colour = 'red'", Comparison("colour", "=", "red")),
        ('price = "red"', AttributeComparison("price", "=", "red")),
        ("price = red", AttributeComparison("price", "=", "red")),
        ("price < budget", AttributeComparison("price", "<", "budget")),
        ("category = table", Comparison("category", "=", "furniture > table")),
        ("category under table", Comparison("category", "<=", "furniture > table")),
        ("category under 'dining table'", Comparison("category", "<=", "furniture > table > dining table")),
        ("title = desk", AttributeComparison("title", "=", "desk")),
        ("event_type contains car", Contains("event_type", "car")),
        ("event_type = car", Comparison("event_type", "=", "car")),
        ("colour in (red, blue, 'red')", In("colour", ("red", "blue"))),  # an attribute cannot be meant here
        ("paint contains red", Contains("paint", "red")),
        ("price in (1, 1.0, 2)", In("price", (1, 2))),
        ("event.id = 'a'", Comparison("event.id", "=", "a")),
        ("event.source = title", AttributeComparison("event.source", "=", "title")),
        ("event.id contains 'Red'", ContainsWords("event.id", "all", ("red",))),
        ("title contains 'ＲＥＤ'", ContainsWords("title", "all", ("red",))),  # NFKC, then case folding
        ("body contains any 'b a b'", ContainsWords("body", "any", ("b", "a"))),
        ("price contains 5", Contains("price", 5)),
        ("price = 9007199254740992", Comparison("price", "=", 2**53)),
    ],
)
def test_names_become_values_or_attributes(text: str, tree: Node) -> None:
    assert bound(text) == tree


def test_times_become_instants_and_without_a_zone_are_utc() -> None:
    moment = Instant.parse("2026-05-01T10:00:00Z")
    assert bound("event.time >= '2026-05-01T10:00:00'") == Comparison("event.time", ">=", moment)
    assert bound("made = '2026-05-01T12:00:00+02:00'") == Comparison("made", "=", moment)
    assert bound("made < event.time") == AttributeComparison("made", "<", "event.time")


@pytest.mark.parametrize(
    ("text", "error", "at", "message"),
    [
        ("prise < 5", UnknownAttribute, "prise", "no attribute 'prise'; did you mean 'price'?"),
        ("red = 1 and Price < 5", UnknownAttribute, "Price", "did you mean 'price'?"),
        ("prise exists", UnknownAttribute, "prise", "no attribute 'prise'"),
        ('price < "bugdet"', UnknownAttribute, '"bugdet"', "did you mean 'budget'?"),
        (
            "price < bugdet",
            UnknownWord,
            "bugdet",
            "neither a number nor an attribute; did you mean 'budget'",
        ),
        ("colour = bleu", UnknownWord, "bleu", "did you mean 'blue'?"),
        ("colour = bugdet", UnknownWord, "bugdet", "did you mean 'budget'?"),
        ("title = mini", UnknownWord, "mini", "write it in quotes: 'mini'"),
        ("title = titel", UnknownWord, "titel", "(did you mean 'title'?)"),
        ("colour = red", AmbiguousWord, "red", "write 'red' for the value or \"red\" for the attribute"),
        ("category < desk", AmbiguousWord, "desk", "'desk' is both a value of 'category' and an attribute"),
        ('colour = "blue"', DoubleQuotedValue, '"blue"', "single quotes: 'blue'"),
        ('colour in ("blue")', DoubleQuotedValue, '"blue"', "single quotes: 'blue'"),
        ("price in (1, budget)", NeedsValue, "budget", "'in' takes values"),
        ('price between 1 and "budget"', NeedsValue, '"budget"', "'between' takes values"),
        ("category under kinds", NeedsValue, "kinds", "'under' takes values"),
        ("paint contains colour", NeedsValue, "colour", "'contains' takes values"),
        ("title contains names", NeedsValue, "names", "write text in single quotes"),
    ],
)
def test_a_wrong_name_is_refused(text: str, error: type[LanguageError], at: str, message: str) -> None:
    refused(text, error, at, message)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("colour < 'red'", "<", "'colours' of 'colour' does not allow '<'; it allows = != contains exists"),
        ('"zip code" != 5', "!=", "does not allow '!='; it allows = contains exists"),
        ('"zip code" between 1 and 2', "between", "does not allow '>=' ('between' needs '>=')"),
        ("body != 'x'", "!=", "it allows = contains ~ exists"),
        ("event_type >= car", ">=", "does not allow '>='"),
        ('price < 5 and "zip code" < 7', "< 7", "does not allow '<'"),
        ('price != "zip code" and price != 5', '!= "zip', "'code' of 'zip code' does not allow '!='"),
    ],
)
def test_an_operator_that_the_domain_does_not_allow(text: str, at: str, message: str) -> None:
    refused(text, OperatorNotAllowed, at, message)


def with_operators(*operators: str, kind: Kind = Kind.HIERARCHICAL) -> Catalog:
    hierarchy = RICH.domain("categories").hierarchy if kind is Kind.HIERARCHICAL else None  # type: ignore[union-attr]
    domain = Domain("d", kind, operators, hierarchy=hierarchy) if hierarchy else Domain("d", kind, operators)
    return Catalog((domain,), (Attribute("c", "d"),), (EventType("t", (AttributeUse("c"),)),))


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("c in (table)", "="),
        ("c between table and table", "<= >="),
        ("c under table", "<="),
        ("not (c < table)", "<"),  # only what is written, not its opposite
        ("not (c = table)", "="),
        ("c not in (table)", "="),
        ("c contains table", ""),
        ("c not contains table", ""),
        ("c exists", ""),
    ],
)
def test_what_each_construct_needs(text: str, needed: str) -> None:
    operators = needed.split()
    Filter.parse(text, with_operators(*operators))
    for missing in operators:
        with pytest.raises(OperatorNotAllowed, match=f"does not allow '{missing}'"):
            Filter.parse(text, with_operators(*(operator for operator in operators if operator != missing)))


def test_contains_on_strings_needs_to_be_allowed_and_exists_does_not() -> None:
    strings = with_operators(kind=Kind.STRING)
    Filter.parse("c exists", strings)
    refused("c contains 'a'", OperatorNotAllowed, "contains", "it allows exists", strings)
    refused("c contains any 'a b'", OperatorNotAllowed, "contains", "does not allow 'contains'", strings)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("price = '5'", "'5'", "numbers are written without quotes"),
        ("price = '-1.5e3'", "'-1.5e3'", "numbers are written without quotes"),
        ("price = '30,000'", "'30,000'", "'30,000' is not a value of 'price'; write a number like 1300 or 12.5"),
        ("price < 'it''s'", "'it''s'", "is not a value of 'price'; write a number like 1300 or 12.5"),
        ("price in (1, '1_000')", "'1_000'", "'1_000' is not a value of 'price'; write a number like 1300 or 12.5"),
        ("title = 5", "5", "string values are written in single quotes"),
        ("made > 20260501", "20260501", "time values are written in single quotes"),
        ("made > 'yesterday'", "'yesterday'", "is not an ISO 8601 time"),
        ("colour = 'bleu'", "'bleu'", "did you mean 'blue'?"),
        ("colour in ('blue', 'in')", "'in'", "valid values: 'red', 'blue'"),
        ("colour = '='", "'='", "'=' is not a value of 'colour'"),
        ("price between 1 and 9007199254740993", "9007199254740993", "beyond ±2^53 would lose digits"),
        ("price = 1" + "0" * 300, "1" + "0" * 300, "beyond ±2^53 would lose digits"),
        ("category under 'tabel'", "'tabel'", "did you mean 'table'?"),
        ("size > 4", "4", "enumerated values are written in single quotes"),
        ("event_type = 'bus'", "'bus'", "'bus' is not a value of 'event_type'"),
    ],
)
def test_a_value_outside_the_domain(text: str, at: str, message: str) -> None:
    refused(text, ValueOutsideDomain, at, message)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("price = title", "one is numeric, the other string"),
        ("price < made", "one is numeric, the other time"),
        ("event.id = body", "one is string, the other text"),
        ('colour = "size"', "have different values"),
    ],
)
def test_attributes_are_compared_within_one_kind_and_words_within_one_domain(text: str, reason: str) -> None:
    refused(text, NotComparable, text, reason)


def test_a_domain_that_is_called_event_type_is_not_that_of_the_event_types() -> None:
    domain = Domain("event_type", Kind.ENUMERATED, values=("t", "u"))
    catalog = Catalog((domain,), (Attribute("c", "event_type"),), (EventType("t", (AttributeUse("c"),)),))
    refused("c = event_type", NotComparable, "c = event_type", "have different values", catalog)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("price under 5", "under", "'under' is for hierarchical attributes; 'price' is numeric"),
        ("colour contains any 'red'", "contains", "is for string or text attributes; 'colour' is enumerated"),
    ],
)
def test_a_construct_of_another_kind(text: str, at: str, message: str) -> None:
    refused(text, NotForThisKind, at, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "title contains 'red mini'",
            "has 2 words; write contains any 'red mini' or",
        ),
        ("body contains '…'", "has no word in it"),
        ("body contains ''", "has no word in it"),
    ],
)
def test_contains_with_no_word_or_several_is_refused_with_advice(text: str, message: str) -> None:  # section 6
    refused(text, UnclearWords, "'", message)
