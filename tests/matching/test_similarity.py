"""Similarity by the index of weights equals the specification: several values, thresholds, statistics that change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.language.similarity import TOLERANCE, cosine, similar_key
from tidings.matching.algorithm import Algorithm
from tidings.matching.algorithms import ALGORITHMS, make_matcher
from tidings.matching.boxes.box import Verify, boxes_of
from tidings.matching.boxes.texts.batch_words import words_of_texts
from tidings.matching.boxes.texts.text_weights import weights_of
from tidings.matching.boxes.texts.weight_index import WeightIndex
from tidings.matching.explain import explain
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema import Catalog
from tidings.schema.statistics import Statistics

DECLARED = {
    "domains": [
        {"name": "number", "kind": "numeric"},
        {"name": "words", "kind": "text"},
        {"name": "story", "kind": "text", "language": "english"},
    ],
    "attributes": [
        {"name": "price", "domain": "number"},
        {"name": "title", "domain": "story"},
        {"name": "notes", "domain": "words"},
    ],
    "event_types": [
        {
            "name": "any",
            "attributes": [
                {"name": "price", "mandatory": False},
                {"name": "title", "mandatory": False},
                {"name": "notes", "mandatory": False, "unique": False},
            ],
        }
    ],
    "statistics": [
        {"attribute": "title", "texts": 9, "frequencies": {"run": 8, "red": 1, "a": 9}},
        {"attribute": "title", "texts": 20, "frequencies": {"run": 1, "red": 19}, "since": 3},
        {"attribute": "notes", "texts": 9, "frequencies": {"a": 9, "red": 2}, "since": 5},
    ],
}
SCHEMA = Catalog.from_dict(DECLARED)
WORDS = ("a", "red", "Run", "runs", "blue", "x", "y", "Łódź")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
LEAST = st.sampled_from(["0.0000000005", "0.1", "0.3", "0.5", "0.71", "0.9", "1"])
SIMILAR = st.tuples(st.sampled_from(["title", "notes"]), TEXTS.filter(bool), LEAST).map(
    lambda drawn: f"{drawn[0]} ~ '{drawn[1]}' at least {drawn[2]}"
)
FILTERS = st.one_of(
    SIMILAR,
    SIMILAR.map(lambda one: f"not ({one})"),
    SIMILAR.map(lambda one: f"{one} and price < 3"),
    st.tuples(SIMILAR, SIMILAR).map(lambda two: f"{two[0]} and {two[1]}"),
    st.tuples(SIMILAR, SIMILAR).map(lambda two: f"{two[0]} or not ({two[1]})"),
)
EVENTS = st.fixed_dictionaries(
    {}, optional={"price": st.integers(1, 4), "title": TEXTS, "notes": st.lists(TEXTS, min_size=1, max_size=3)}
)


def batch_of(events: list[dict[str, object]], first: int = 1, catalog: Catalog = SCHEMA) -> EventBatch:
    raw = [{"id": str(n), "event_type": "any", "attributes": one} for n, one in enumerate(events)]
    return EventBatch.of([validate(one, catalog) for one in raw], catalog, first)


def answers(matcher: Algorithm, batch: EventBatch) -> list[list[int]]:
    found = matcher.match(batch)
    return [sorted(found.of(row).tolist()) for row in range(len(batch))]


@settings(max_examples=60, deadline=None)
@given(st.lists(FILTERS, min_size=1, max_size=6), st.lists(EVENTS, min_size=1, max_size=8), st.integers(1, 7))
def test_every_filter_equals_the_specification(
    filters: list[str], events: list[dict[str, object]], most_waiting: int
) -> None:
    default = BoxMatcher(SCHEMA, 1, Thresholds(most_waiting=most_waiting))  # several segments, and merges of them
    naive = NaiveMatcher(SCHEMA)
    for number, text in enumerate(filters):
        for matcher in (default, naive):
            matcher.add(Subscription(str(number), Filter.parse(text, SCHEMA)))
    batch = batch_of(events)
    assert answers(default, batch) == answers(naive, batch)
    one_by_one = [
        sorted(default.match_one(batch.event(row), row + 1).tolist()) for row in range(len(batch))
    ]  # fmt: skip
    assert one_by_one == answers(naive, batch)


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ("default", "naive")])
def test_the_papers_algorithms_find_it_too(name: str) -> None:
    matcher, naive = make_matcher(name, SCHEMA), NaiveMatcher(SCHEMA)
    filters = [
        "title ~ 'red runs' at least 0.8",
        "title ~ 'red x' at least 0.3 and notes ~ 'a red' at least 0.5 and price < 3",
        "not (notes ~ 'red' at least 0.5) or price = 2",
    ]
    for number, text in enumerate(filters):
        for one in (matcher, naive):
            one.add(Subscription(str(number), Filter.parse(text, SCHEMA)))
    given = [{"title": "red"}, {"title": "x red", "notes": ["a", "red"], "price": 2}, {"notes": ["x", "a red"]}, {}]
    batch = batch_of([*given, *given])
    assert answers(matcher, batch) == answers(naive, batch)


def test_nothing_is_left_to_python() -> None:
    made = boxes_of(Filter.parse("title ~ 'red runs' at least 0.5 and not (notes ~ 'x' at least 0.2)", SCHEMA), SCHEMA)
    assert not any(isinstance(one, Verify) for box in made for one in box.residuals)


def test_an_event_is_compared_under_the_statistics_before_its_position() -> None:
    matcher = BoxMatcher(SCHEMA, 1)
    matcher.add(Subscription("s", Filter.parse("title ~ 'red runs' at least 0.8", SCHEMA)))
    batch = batch_of([{"title": "red"}] * 6)
    assert answers(matcher, batch) == [[0], [0], [], [], [], []]  # red is rare until position 3
    assert answers(matcher, batch_of([{"title": "red"}] * 2, 7)) == [[], []]


def test_explain_names_the_similarity_at_a_position() -> None:
    filter = Filter.parse("title ~ 'red runs' at least 0.8", SCHEMA)
    event = batch_of([{"title": "red"}]).event(0)
    early, late = (explain(filter, event, SCHEMA, position=position) for position in (1, 4))
    assert (early.matches, late.matches) == (True, False)
    assert early.alternatives[0].findings[0].note.startswith("similarity 0.9")


def test_a_plan_has_the_keys_and_takes_its_weights_from_the_catalog(tmp_path: Path) -> None:
    matcher = BoxMatcher(SCHEMA, 1)
    filters = ["title ~ 'red runs' at least 0.8", "notes ~ 'red a' at least 0.9 and price < 3"]
    for number, text in enumerate(filters):
        matcher.add(Subscription(str(number), Filter.parse(text, SCHEMA)))
    batch = batch_of([{"title": "red", "notes": ["red"], "price": 1}] * 7)
    save_plan(matcher, tmp_path / "plan")
    assert answers(open_plan(tmp_path / "plan", 1), batch) == answers(matcher, batch)
    assert answers(matcher, batch) == [[0], [0], [], [], [1], [1], [1]]


def test_other_statistics_need_no_new_boxes() -> None:
    before = Catalog.from_dict({**DECLARED, "statistics": []})
    matcher = BoxMatcher(before, 1)
    matcher.add(Subscription("s", Filter.parse("title ~ 'red runs' at least 0.8", before)))
    assert answers(matcher, batch_of([{"title": "red"}], 1, before)) == [[]]
    matcher.adopt(SCHEMA)
    assert answers(matcher, batch_of([{"title": "red"}] * 3)) == [[0], [0], []]


@pytest.mark.parametrize("language", [None, "english"])
def test_what_cannot_reach_its_threshold_is_not_scored(language: str | None) -> None:
    random = np.random.default_rng(3)
    words = [f"w{number}" for number in range(2000)]
    share = 1 / np.arange(1, 2001)

    def some(count: int, most: int) -> list[str]:
        return [" ".join(random.choice(words, most, p=share / share.sum())) for _ in range(count)]

    texts, wanted = some(40, 200), some(1000, 8)
    frequencies = {
        word: int(1000 * min(1, 0.02 * 2000 * one)) for word, one in zip(words, share / share.sum(), strict=True)
    }
    statistics = Statistics("body", 1000, frequencies)
    keys = sorted(
        {similar_key(text, 0.4) for text in wanted} | {similar_key(" ".join(t.split()[:60]), 0.4) for t in texts}
    )
    index = WeightIndex(keys, language, statistics)
    found = index.search(weights_of(words_of_texts(pa.array(texts)), language, statistics))
    reached, sharing = 0, 0
    for row, text in enumerate(texts):
        alike = [cosine(key.partition(" ")[2], text, language, statistics) for key in keys]
        expected = [0, *(place for place, one in enumerate(alike, 1) if one >= 0.4 - TOLERANCE)]
        assert found.ordinals[found.offsets[row] : found.offsets[row + 1]].tolist() == expected
        reached += len(expected) - 1
        sharing += sum(one > 0 for one in alike)
    assert reached >= 40
    assert found.scored < sharing / 5
