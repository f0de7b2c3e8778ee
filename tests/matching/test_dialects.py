"""Filters in other languages: what they are translated into matches what their evaluators pass, in every matcher."""

import json
from typing import Any

import pytest
from hypothesis import event as seen
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.cesql.expressions import expression_texts
from tests.matching.test_every_algorithm import OTHERS, answers
from tests.strategies.filters import RICH, events
from tidings.errors import LanguageError
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.language.cesql import parse_cesql, parse_filters, passes
from tidings.language.cesql.cloud_event import CloudEvent
from tidings.language.cesql.filters import filters_pass
from tidings.language.dialects import WrongTranslation, core_text, written
from tidings.matching import naive
from tidings.matching.algorithms import make_matcher
from tidings.matching.explain import explain

NAMES = (
    "type", "id", "source", "time", "specversion", "subject", "price", "budget", "prices", "colour", "paint", "brand",
    "size", "title", "names", "category", "made", "body", "desk", "red", "spot",
)  # fmt: skip
LITERALS = (
    "0", "1", "5", "-3", "25", "TRUE", "'5'", "'0.5'", "'05'", "''", "'a'", "'b'", "'red'", "'it\\'s'", "'mini'",
    "'tesla'", "'car'", "'antique'", "'nothing'", "'S'", "'toy'", "'furniture > table'", "'table'", "'1.0'",
    "'a red mini'", "'2026-05-01T00:00:00Z'", "'2026-05-01'", "'red mini'",
)  # fmt: skip
PATTERNS = (
    "'a%'",
    "'%i'",
    "'%red%'",
    "'_'",
    "'a'",
    "'%'",
    "'M_ni, %'",
    "'it\\'s'",
    "'car'",
    "'re%'",
    "'%\\%'",
    "'b\\\\%'",
)
name, literal = st.sampled_from(NAMES), st.sampled_from(LITERALS)
operator = st.sampled_from(("=", "=", "=", "!=", "<", "<=", ">", ">="))
comparison = st.one_of(
    st.builds("{} {} {}".format, name, operator, literal),
    st.builds("{} {} {}".format, literal, operator, name),
    st.builds("{} {} {}".format, name, operator, name),
    st.builds("{} {} {}".format, name, st.sampled_from(("LIKE", "NOT LIKE")), st.sampled_from(PATTERNS)),
    st.builds(
        "{} {} ({})".format,
        name,
        st.sampled_from(("IN", "NOT IN")),
        st.lists(literal, min_size=1, max_size=3).map(", ".join),
    ),
    name.map("EXISTS {}".format),
    st.builds("LENGTH({}) {} {}".format, name, operator, st.sampled_from(("1", "3", "5"))),
    st.sampled_from(("TRUE", "FALSE")),
)


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    logic = st.sampled_from(("AND", "OR", "AND", "OR", "XOR"))
    return st.builds("({}) {} ({})".format, inner, logic, inner) | inner.map("NOT ({})".format)


expressions = st.recursive(comparison, combined, max_leaves=5) | expression_texts(NAMES, LITERALS)

text_test = st.builds(
    lambda relation, name, text: {relation: {name: text}},
    st.sampled_from(("exact", "exact", "prefix", "suffix")),
    name,
    st.sampled_from(("car", "a", "red", "5", "mini", "0.5", "1.0", "i")),
)
filters = st.lists(
    st.recursive(
        text_test | comparison.map(lambda text: {"sql": text}),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda terms: {"all": terms}),
            st.lists(inner, min_size=1, max_size=3).map(lambda terms: {"any": terms}),
            inner.map(lambda term: {"not": term}),
        ),
        max_leaves=4,
    ),
    max_size=2,
)


def bound(dialect: str, text: str) -> Filter | None:
    """None where no event can pass because of how it is written."""
    try:
        filter = Filter.parse(core_text(dialect, text), RICH)
    except LanguageError:
        return None
    assert Filter.given(filter.text, RICH).tree == filter.tree  # the journal reads back what it wrote
    seen("translated" if "event_type translated " in filter.text else "checked")
    return filter


def expected_of(dialect: str, text: str, made: Event) -> bool:
    bindings = made.bindings()
    each = [CloudEvent(bindings, event_type) for event_type in made.event_types]
    if dialect == "cesql":
        return any(passes(parse_cesql(text), one) for one in each)
    return any(filters_pass(parse_filters(text).filter, one) for one in each)


@settings(max_examples=150)
@given(text=expressions, made=st.lists(events(RICH), min_size=4, max_size=4))
def test_an_expression_translated_equals_its_evaluator(text: str, made: list[Event]) -> None:
    filter = bound("cesql", text)
    for one in made:
        expected = expected_of("cesql", text, one)
        assert (filter is not None and naive.matches(filter.tree, one.bindings(), RICH)) is expected
    if filter is not None:
        assert written(filter.text) == ("cesql", text)


@settings(max_examples=150)
@given(array=filters, made=st.lists(events(RICH), min_size=4, max_size=4))
def test_a_filters_array_translated_equals_its_evaluator(array: Any, made: list[Event]) -> None:
    text = json.dumps(array)
    filter = bound("cloudevents", text)
    if filter is None:
        return  # an `sql` that always fails is refused, though `not` would make it pass
    for one in made:
        assert naive.matches(filter.tree, one.bindings(), RICH) is expected_of("cloudevents", text, one)


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=10)
@given(texts=st.lists(expressions, min_size=1, max_size=5), made=st.lists(events(RICH), min_size=1, max_size=4))
def test_every_algorithm_equals_naive(name: str, texts: list[str], made: list[Event]) -> None:
    oracle, other = make_matcher("naive", RICH), make_matcher(name, RICH)
    for number, text in enumerate(texts):
        filter = bound("cesql", text)
        if filter is not None:
            oracle.add(Subscription(f"s{number}", filter))
            other.add(Subscription(f"s{number}", filter))
    batch = EventBatch.of(made, RICH)
    assert answers(other, batch) == answers(oracle, batch)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("type = 'car'", "event_type = 'car' and event_type translated cesql 'type = ''car'''"),
        ("price < 5", "price < 5 and event_type checked cesql 'price < 5'"),  # a fraction is an error
        ("5 < price", "price > 5 and event_type checked cesql '5 < price'"),
        ("names LIKE 'a%'", "names like 'a%' and event_type checked cesql 'names LIKE ''a%'''"),
        ("price = 5", "price = 5 and event_type translated cesql 'price = 5'"),
        ("NOT (price = 5)", "not (price = 5) and event_type checked cesql 'NOT (price = 5)'"),  # 0.5 is an error
        ("5 != price", "not (price = 5) and event_type translated cesql '5 != price'"),  # and here it is not
        ("title = 5", "title exists and event_type checked cesql 'title = 5'"),
        (
            "type = 'car' AND LENGTH(title) > 3",
            "event_type = 'car' and title exists and event_type checked cesql 'type = ''car'' AND LENGTH(title) > 3'",
        ),
        (
            "title = 'a' OR colour = 'red'",  # an error where the title is missing
            "(title = 'a' or title exists and colour = 'red') and event_type translated cesql "
            "'title = ''a'' OR colour = ''red'''",
        ),
        ("title LIKE 'a%'", "title like 'a%' and event_type translated cesql 'title LIKE ''a%'''"),
        (
            r"source NOT LIKE '%a\_b\c_'",
            r"event.source not like '%a\_b\\c_' and event_type translated cesql 'source NOT LIKE ''%a\_b\c_'''",
        ),
        ("TRUE", "event_type translated cesql 'TRUE'"),
        ("FALSE", "not (event_type exists) and event_type translated cesql 'FALSE'"),
        ("category = 'table'", "category exists and event_type checked cesql 'category = ''table'''"),
        ("names = 'a'", "names = 'a' and event_type checked cesql 'names = ''a'''"),  # several values: missing
        ("type = 'nothing'", "event_type checked cesql 'type = ''nothing'''"),  # it may come
        ("nosuch = 'a'", "event_type checked cesql 'nosuch = ''a'''"),
    ],
)
def test_what_is_translated(text: str, canonical: str) -> None:
    assert Filter.parse(core_text("cesql", text), RICH).text == canonical


def test_what_is_only_checked_is_evaluated_on_each_candidate() -> None:
    matcher = make_matcher("default", RICH)
    matcher.add(Subscription("s", Filter.parse(core_text("cesql", "price < 5"), RICH)))
    made = [Event(f"e{price}", ("car",), (("price", (price,)),)) for price in (4, 4.5, 6)]
    assert [len(matcher.match(EventBatch.of([one], RICH)).of(0)) for one in made] == [1, 0, 0]  # a fraction is an error


@pytest.mark.parametrize("name", OTHERS)
def test_matches_say_where_an_expression_ended_in_an_error(name: str) -> None:
    """Each event once, however many types it has; only where the expression was evaluated."""
    matcher = make_matcher(name, RICH)
    texts = ("price < 5", "type = 'car' AND LENGTH(title) > price", "price = 4")
    for number, text in enumerate(texts):
        matcher.add(Subscription(f"s{number}", Filter.parse(core_text("cesql", text), RICH)))
    filters = core_text("cloudevents", json.dumps([{"not": {"sql": "price < 5"}}]))
    matcher.add(Subscription("s3", Filter.parse(filters, RICH)))
    made = [Event(f"e{price}", ("car", "antique"), (("price", (price,)),)) for price in (4, 4.5, 6.5)]
    found = matcher.match(EventBatch.of(made, RICH))
    problem = "'4.5' is not an integer of 32 bits"
    assert [one for one in found.failed if one.number == 0] == [(1, 0, problem)]  # 6.5 < 5 is false, no matter what
    assert {one[:2] for one in found.failed} == {(1, 0), (1, 3), (2, 3)}
    assert [found.of(row).tolist() for row in range(3)] == [[0, 2], [3], [3]]


def test_beside_other_predicates_it_is_only_evaluated() -> None:
    filter = Filter.parse("price < 5 and event_type cesql 'LENGTH(title) > 3'", RICH)
    assert filter.text == "price < 5 and event_type cesql 'LENGTH(title) > 3'"
    assert written(filter.text) == ("tidings", filter.text)


def test_a_long_expression_is_refused_nowhere() -> None:
    """Where the normal form would be too large, less is said."""
    text = " AND ".join(f"(title = '{number}' OR colour = 'red')" for number in range(40))
    filter = Filter.parse(core_text("cesql", text), RICH)
    assert filter.text.startswith("event_type checked cesql")
    text = " OR ".join(f"type = '{one}'" for one in ("car", "antique") * 100)
    filter = Filter.parse(core_text("cesql", text), RICH)
    assert filter.text.startswith("(event_type = 'car' or event_type = 'antique') and event_type translated")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("LENGHT(title) > 3", "line 1, column 1: CESQL has no function 'LENGHT'; did you mean 'LENGTH'?"),
        ("LEFT(title) = 'a'", "LEFT takes 2 arguments, got 1"),
        ("LENGTH(title) > 'abc'", "line 1, column 17: 'abc' is not an integer of 32 bits, so this always ends in an"),
        ("price + 'a' = 3", "'a' is not an integer"),
        ("price = 1 / 0", "division by zero, so this always ends in an error"),
        ("LENGTH(title)", "a filter must be true or false, and this expression is of type Integer"),
        ("title", "this expression is an attribute, which is a text or a number"),
        ("type = 'car' AND 'yes'", "'yes' is neither 'true' nor 'false'"),
        ("1 / 0 = 1 OR type = 'car'", "division by zero"),
    ],
)
def test_what_no_event_can_pass_is_refused(text: str, words: str) -> None:
    with pytest.raises(LanguageError) as raised:
        Filter.parse(core_text("cesql", text), RICH)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "text", ["TRUE OR 1 / 0 = 1", "type = 'car' OR 'a' < 1", "NOT (type = 'car' AND price = 'a' + 1)"]
)
def test_an_error_that_may_be_skipped_is_not_refused(text: str) -> None:
    Filter.parse(core_text("cesql", text), RICH)


def test_other_mistakes() -> None:
    with pytest.raises(LanguageError, match="no dialect 'cesl'; did you mean 'cesql'"):
        core_text("cesl", "TRUE")
    with pytest.raises(LanguageError, match="applies to the whole event; write event_type cesql"):
        Filter.parse("price cesql 'TRUE'", RICH)
    with pytest.raises(LanguageError, match="expected 'cesql' or 'cloudevents', found 'sql'"):
        Filter.parse("event_type checked sql 'TRUE'", RICH)
    with pytest.raises(LanguageError, match="in single quotes"):
        Filter.parse("event_type cesql TRUE", RICH)


@pytest.mark.parametrize(
    "text",
    [
        "event_type translated cesql 'FALSE'",
        "price > 5 and event_type translated cesql 'price = 5'",
        "price = 5 and colour = 'red' and event_type translated cesql 'price = 5'",
        "price = 5 and event_type translated cesql 'price = 5' or colour = 'red'",
        "event_type translated cesql 'price = 5' and price = 5",
        "not (event_type translated cesql 'TRUE')",
        "event_type translated cesql 'LENGTH(title) > 3'",
        """event_type translated cloudevents '[{"exact": {"type": "car"}}]'""",
    ],
)
def test_nobody_can_give_a_wrong_translation(text: str) -> None:
    with pytest.raises(WrongTranslation, match="without 'translated', and it is translated"):
        Filter.given(text, RICH)


def test_names_that_the_schema_lacks_get_a_warning() -> None:
    filter = Filter.parse(core_text("cesql", "titel = 'a' AND price = 1"), RICH)
    assert filter.warnings == (
        "the schema has no attribute 'titel' yet, so every event lacks it; did you mean 'title'?",
    )
    assert Filter.parse(core_text("cesql", "colour != 'red'"), RICH).warnings == ()
    (never,) = Filter.parse(core_text("cesql", "type = 'car' AND FALSE"), RICH).warnings
    assert never.startswith("this filter can never match")


def test_explain_says_why_it_ended_in_an_error() -> None:
    filter = Filter.parse(core_text("cesql", "LENGTH(title) > 3 OR price = 1"), RICH)
    explained = explain(filter, Event("e", ("car",), (("price", (1,)),)), RICH)
    assert not explained.matches
    assert "the event has no 'title'" in str(explained)
