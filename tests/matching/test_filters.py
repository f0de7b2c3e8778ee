"""Filters by number: as they came, as texts, forgotten, found by what they ask about."""

import numpy as np

from tests.strategies.filters import RICH
from tidings.language import Filter
from tidings.matching.plan.chunks import Chunks
from tidings.matching.plan.filters import NUMBERS, Filters
from tidings.matching.spans import FOREVER

TEXTS = ("price < 3", "category under table", "title = 'category'", 'kinds = "category"')


def filled() -> Filters:
    filters = Filters(Chunks(NUMBERS))
    for number, text in enumerate(TEXTS):
        filters.add(number, Filter.parse(text, RICH))
    return filters


def written(filters: Filters) -> Filters:
    filters.write_down([f"s{number}" for number in range(len(TEXTS))], np.arange(len(TEXTS)))
    return filters


def test_a_filter_that_was_written_down_means_the_same() -> None:
    before, after = filled(), written(filled())
    for number in range(len(TEXTS)):
        assert after.of(number, RICH) == before.of(number, RICH) == Filter.parse(TEXTS[number], RICH)
    assert after.texts() == before.texts()
    assert after.of(17, RICH) is None
    assert after.numbers.column("id").to_pylist() == ["s0", "s1", "s2", "s3"]
    assert after.numbers.column("start").to_pylist() == [0, 1, 2, 3]


def test_what_asks_about_an_attribute_is_found() -> None:
    assert filled().mentioning({"category"}) == [1, 3]
    assert written(filled()).mentioning({"category"}) == [1, 2, 3]  # of texts, more than really do
    assert filled().mentioning({"kinds", "price"}) == written(filled()).mentioning({"kinds", "price"}) == [0, 3]
    assert filled().mentioning({"size"}) == []


def test_names_in_quotes_are_found_in_texts() -> None:
    filters = Filters(Chunks(NUMBERS))
    filters.write_down(["a", "b"], np.zeros(2, np.int64), ['"say ""hi""" = 3', "price = 3"])
    assert filters.mentioning({'say "hi"'}) == [0]


def test_forgotten_filters_are_gone_and_their_texts_when_they_are_many() -> None:
    filters = filled()
    filters.forget(np.array([0], np.int32))
    assert filters.of(0, RICH) is None
    assert sorted(filters.texts()) == [1, 2, 3]
    filters = written(filled())
    stop = np.array([5, 5, FOREVER, FOREVER])
    filters.forget(np.array([0, 1], np.int32))
    filters.shrink(stop, 9)
    assert sorted(filters.texts()) == [0, 1, 2, 3]  # half: not worth a new chunk
    stop[2] = 6
    filters.shrink(stop, 9)
    assert sorted(filters.texts()) == [0, 1, 2, 3]  # nothing was forgotten since
    filters.forget(np.array([2], np.int32))
    filters.shrink(stop, 9)
    assert sorted(filters.texts()) == [3]
    assert filters.numbers.column("id").to_pylist() == ["s0", "s1", "s2", "s3"]


def test_what_was_loaded_has_no_text() -> None:
    filters = Filters(Chunks(NUMBERS))
    filters.write_down(["a", "b"], np.zeros(2, np.int64))
    assert filters.texts() == {}
    assert filters.of(1, RICH) is None
    filters.add(2, Filter.parse("price < 3", RICH))
    filters.write_down(["c"], np.zeros(1, np.int64))
    assert filters.texts() == {2: "price < 3"}
