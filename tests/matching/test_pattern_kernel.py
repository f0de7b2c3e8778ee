"""Patterns in kernels: each step against the specification, words cut as elsewhere, rare words looked up first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.filter_pool import LOW
from tests.matching.test_patterns import SCHEMA, event
from tests.strategies.patterns import patterns, texts
from tidings.events import EventBatch
from tidings.language import Filter, Subscription
from tidings.language.patterns.meaning import holds
from tidings.language.patterns.printer import print_pattern
from tidings.language.words import words_of
from tidings.matching.boxes.batch_words import words_of_texts
from tidings.matching.boxes.box import FitsPattern, boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.boxes.pattern_shape import compiled
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.rarest import with_rarest_terms
from tidings.schema import Catalog

ENGLISH = "english"
COUNTED = Catalog.from_dict(
    SCHEMA.to_dict() | {"statistics": [{"attribute": "title", "texts": 9, "frequencies": {"run": 8, "red": 2}}]}
)


@settings(max_examples=150, deadline=None)
@given(st.lists(patterns(), min_size=1, max_size=6), st.lists(st.lists(texts(), max_size=3), min_size=1, max_size=4))
def test_equals_the_specification(made: list, values: list[list[str]]) -> None:
    matcher = BoxMatcher(SCHEMA, 1, LOW)
    for number, pattern in enumerate(made):
        printed = print_pattern(pattern)
        for negated in ("", "not "):
            text = f"notes {negated}contains ({printed})"
            matcher.add(Subscription(f"{negated}{number}", Filter.parse(text, SCHEMA)))
    batch = EventBatch.of([event(notes=some) if some else event(title="x") for some in values], SCHEMA)
    found = matcher.match(batch)
    for row, some in enumerate(values):
        ids = sorted(matcher.id(number) for number in found.of(row).tolist())
        true = [any(holds(pattern, words_of(value), ENGLISH) for value in some) for pattern in made]
        expected = [f"{'' if one else 'not '}{number}" for number, one in enumerate(true) if some]
        assert ids == sorted(expected)


@given(st.lists(st.text() | st.text("aB1 _-é\u0301\u00adß"), max_size=6))
def test_words_are_cut_as_elsewhere(values: list[str]) -> None:
    found = words_of_texts(pa.array(values, pa.string()))
    for text, value in enumerate(values):
        numbers = found.words[found.ends[text] : found.ends[text + 1]].tolist()
        assert [found.vocabulary[number] for number in numbers] == words_of(value)
    assert len(set(found.vocabulary)) == len(found.vocabulary)


def test_many_words_are_numbered_once() -> None:
    words = [f"w{number}" for number in range(30_000)]
    found = words_of_texts(pa.array([" ".join(words), " ".join(reversed(words))]))
    assert found.vocabulary == words
    assert found.words.tolist() == [*range(30_000), *reversed(range(30_000))]


def test_patterns_of_one_form_share_a_shape() -> None:
    def shape(text: str) -> tuple[int, ...]:
        (box,) = boxes_of(Filter.parse(f"title contains ({text})", SCHEMA), SCHEMA)
        (test,) = [one for one in box.residuals if isinstance(one, FitsPattern)]
        return test.shape

    assert shape("red <[0,3] car and not blue") == shape("old <[0,3] house and not green")
    assert shape("red and blue") == (2, 0)
    assert shape("red <[0,3] car") != shape("red <[0,4] car")


def test_the_rarest_required_word_is_looked_up() -> None:
    def chosen(recent: EventTable | None) -> list[str]:
        made = with_rarest_terms(table, recent)
        return [made.dimensions[0].keys[low - 1] for low in made.low.tolist()]

    filters = ["title contains (government and tax)", "title contains (tax and x and government)"]
    boxes = [box for text in filters for box in boxes_of(Filter.parse(text, SCHEMA), SCHEMA)]
    table = BoxTable.of(list(enumerate(boxes)), SCHEMA)
    batch = EventBatch.of([event(title="government tax"), event(title="government of x"), event(title="x")], SCHEMA)
    seen = EventTable.of(batch, table.dimensions)
    assert chosen(seen) == ["=tax", "=tax"]
    assert chosen(None) == ["=government", "=x"]
    assert np.array_equal(table.low, BoxTable.of(list(enumerate(boxes)), SCHEMA).low)


def test_one_of_several_words_is_not_exchanged_for_a_required_one() -> None:
    pattern = Filter.parse("title contains ((red or blue) and not green)", SCHEMA)
    table = BoxTable.of([(0, box) for box in boxes_of(pattern, SCHEMA)], SCHEMA)
    assert len(table) == 2
    assert with_rarest_terms(table, None).low.tolist() == table.low.tolist()


def test_words_that_are_required_are_not_tested_twice() -> None:
    made = compiled(
        Filter.parse("title contains (red and blue and not green)", SCHEMA).conjunctions[0][0].pattern, None
    )
    assert made.required == ("=red", "=blue")
    assert made.shape[1] == 3  # has green, not
