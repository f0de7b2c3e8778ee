"""Filters added as texts by the hundred: what `Filter.parse` makes of each, though hardly any is parsed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.gate import answers
from tests.strategies.filters import RICH, catalogs, events, filter_texts, predicate_texts
from tidings.errors import LanguageError
from tidings.events import EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.algorithms import ALGORITHMS, make_matcher
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.spans import DuplicateSubscription
from tidings.schema import Catalog
from tidings.workloads import WORKLOADS

_PLAIN = (
    "price < 5", "price < -.5e1", "price >= 2", "price>+2.", "prices != 1", "unused = 1", '"not" = 5', '"zip code" = 1',
    "title = 'a'", "title = 'it''s'", "title < ''", "names != 'b'", "names contains 'red'", "names contains any 'A'",
    "colour = green", "colour = 'blue'", "paint contains green", "paint != 'it''s'", "size < 'S'", "size >= L",
    "category under 'table'", "category > 'furniture'", "kinds < 'toy'", "body contains 'mini'",
    "body contains all 'Red'",
    "made > '2026-05-01'", "sold <= '2026-05-02T12:00:00+01:00'", "event_type contains car", "event.source = 'a'",
)  # fmt: skip
seeds = st.integers(0, 1 << 30)
_ALPHABET = "'\"()<>=!+-.,5e aZ\n\x01\x02\x03\0é²٣"


def outcome(text: str, catalog: Catalog) -> Filter | tuple[type, str, tuple[object, ...]]:
    try:
        return Filter.parse(text, catalog)
    except LanguageError as problem:
        return type(problem), str(problem), problem.args


def check(texts: list[str], catalog: Catalog) -> FilterBatch:
    """Compares with each text parsed alone: its canonical text, its warnings, or its error."""
    expected = [outcome(text, catalog) for text in texts]
    made = FilterBatch.of_texts(texts, catalog)
    problems = {place: (type(one), str(one), one.args) for place, one in made.problems.items()}
    assert problems == {place: one for place, one in enumerate(expected) if not isinstance(one, Filter)}
    right = [place for place in range(len(texts)) if place not in problems]
    filters = [one for one in expected if isinstance(one, Filter)]
    good = FilterBatch.of_texts([texts[place] for place in right], catalog)
    assert good.texts().to_pylist() == [filter.text for filter in filters]
    assert list(good.filters()) == filters
    assert good.warnings() == {place: filter.warnings for place, filter in enumerate(filters) if filter.warnings}
    return made


def joined(predicates: list[str], chance: random.Random) -> str:
    several = chance.choices(predicates, k=chance.choice((1, 1, 2, 2, 3, 5)))
    return chance.choice((" and ", " and ", " and ", "\tAND\n", " or ", " and not ")).join(several)


@settings(max_examples=25, deadline=None)
@given(catalogs(), st.data(), seeds)
def test_texts_by_the_hundred_are_what_each_is_alone(catalog: Catalog, data: st.DataObject, seed: int) -> None:
    chance = random.Random(seed)
    predicates = data.draw(st.lists(predicate_texts(catalog), min_size=1, max_size=20))
    predicates += _PLAIN if catalog is RICH else ()
    texts = [joined(predicates, chance) for _ in range(200)] + data.draw(st.lists(filter_texts(catalog), max_size=5))
    made = check(texts, catalog)
    assert not made.problems
    one, boxes = NaiveMatcher(catalog), BoxMatcher(catalog, threads=1)
    for number, text in enumerate(texts):
        one.add(Subscription(f"s{number}", Filter.parse(text, catalog)))
    assert boxes.add_texts([f"s{number}" for number in range(len(texts))], texts) == range(len(texts))
    batch = EventBatch.of(data.draw(st.lists(events(catalog), min_size=1, max_size=8)), catalog, 1)
    assert answers(boxes, batch) == answers(one, batch)


@settings(max_examples=25, deadline=None)
@given(st.lists(predicate_texts(RICH), max_size=10), seeds)
def test_texts_with_slips_of_the_pen_are_what_each_is_alone(predicates: list[str], seed: int) -> None:
    chance = random.Random(seed)
    texts = []
    for _ in range(200):
        text = list(joined([*predicates, *_PLAIN], chance))
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            at = chance.randrange(len(text) + 1)
            text[at : at + chance.choice((0, 0, 1, 2))] = chance.choices(_ALPHABET, k=chance.choice((0, 1, 1, 2)))
        texts.append("".join(text))
    check(texts, RICH)


def test_plain_predicates_are_not_parsed_for_each_filter() -> None:
    chance = random.Random(7)
    texts = [" and ".join(chance.choices(_PLAIN, k=chance.randint(1, 5))) for _ in range(500)]
    made = check(texts, RICH)
    assert len(made.places) == len(texts)


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("price > 2 and price < 3", 0),
        ("price > 2 and price < 2", 1),
        ("price >= 2 and price <= 2", 0),
        ("price > 2 and price < 2.0000000000000004", 1),  # the next number after 2
        ("made > '2026-05-01T00:00:00Z' and made < '2026-05-01T00:00:00.000001Z'", 1),
        ("made > '2026-05-01T00:00:00Z' and made < '2026-05-01T00:00:00.000002Z'", 0),
        ("price contains 1 and price contains 2", 1),
        ("prices contains 1 and prices contains 2", 0),
        ("title contains 'b' and title contains 'c'", 0),
        ("title contains 'A' and title contains 'b' and price < 5", 1),  # most texts contain it
        ("colour = 'blue' and colour = 'green'", 1),
        ("paint = 'blue' and paint = 'green'", 2),
        ("size < 'S'", 1),
        ("size < 'M'", 0),
        ("title < ''", 1),
        ("prices != 5", 2),  # several, or none
        ("price != 5", 1),
        ("event_type contains 'offer' and price != 5", 1),
        ("unused = 5 and category > 'furniture'", 2),
    ],
)
def test_warnings_come_without_parsing_each(text: str, warnings: int) -> None:
    made = FilterBatch.of_texts(["price < 5", text, "title = 'a'"], RICH)
    assert len(made.places) == 3
    assert made.warnings() == ({1: Filter.parse(text, RICH).warnings} if warnings else {})
    assert len(Filter.parse(text, RICH).warnings) == warnings


@pytest.mark.parametrize("name", WORKLOADS)
def test_filters_of_the_workloads_are_not_parsed(name: str) -> None:
    workload = WORKLOADS[name]()
    texts = list(workload.subscriptions(1000).texts())
    made = FilterBatch.of_texts(texts, workload.catalog)
    assert len(made.places) == len(texts)
    assert made.texts().to_pylist() == texts


@pytest.mark.parametrize(
    "text",
    [
        "price < 9007199254740993",  # beyond 2^53
        "price < 1e300",
        "price < 1e999",
        "price < 'a'",
        "price < 1-2",
        "price < 5.6.7",
        "price < +",
        "title = 5",
        "title = 'half\ud800'",
        "title = 'a\x01'",
        '"it\'s" = 5',
        '"a 5" = 3',
        "\"a 'b\" = 'c'",
        "\"a ' \" = ''x'''",
        'price < 5 and "not" < 7 and "zip code" = 3',
        "made > 'yesterday'",
        "made > '0001-01-01T00:00:01Z'",  # a float cannot tell its microseconds apart
        "body contains 'two words'",
        "body contains ''",
        "colour = 'pink'",
        "colour = pink",
        "price < 5 andprice > 1",
        "price < 5and price > 1",
        "price < 5 and",
        "and price < 5",
        "price < 5 price > 1",
        "price between 1 and 2 and price < 5",
        "price in (1, 1) and colour in (red, blue)",
        "price < 2 and price in (1, 2",
        "price < 5 or price > 1",
        "(price < 5)",
        "price < budget and price > 5",
        "price < 5 and title exists",
        "",
        " ",
        "a" * 300_000,
        "title = '" + "a" * 5000 + "'",
    ],
)
def test_odd_texts_among_good_ones(text: str) -> None:
    good = [f"price < {number} and title = 'x{number}'" for number in range(50)]
    check([*good[:25], text, *good[25:]], RICH)
    check([text, *good], RICH)
    check([*good, text], RICH)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_all_are_added_or_none(name: str) -> None:
    matcher = make_matcher(name, RICH)
    assert matcher.add_texts(["old"], ["price < 3"]) == range(1)
    good = [f"price < {number}" for number in range(20)]
    ids = [f"s{number}" for number in range(20)]
    with pytest.raises(LanguageError) as found:
        matcher.add_texts([*ids, "a", "b"], [*good, "price < 'x'", "price <"])
    assert outcome("price < 'x'", RICH) == (type(found.value), str(found.value), found.value.args)
    for wrong in ([*ids, "s3"], [*ids, "old"]):
        with pytest.raises(DuplicateSubscription):
            matcher.add_texts(wrong, [*good, "price < 100"])
    with pytest.raises(ValueError, match="20 ids for 19 filters"):
        matcher.add_texts(ids, good[1:])
    assert list(matcher.spans.active()) == ["old"]
    assert matcher.add_texts(ids, good, [5] * 20) == range(1, 21)
    assert matcher.spans.start.tolist() == [0, *[5] * 20]
    assert matcher.add_texts([], []) == range(21, 21)
