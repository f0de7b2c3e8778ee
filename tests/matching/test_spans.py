"""Numbers and spans, as they grow and as a plan keeps them."""

import numpy as np
import pyarrow as pa
import pytest

from tidings.matching.spans import (
    FOREVER,
    Closings,
    DisorderedPosition,
    DuplicateSubscription,
    IllegalId,
    Spans,
    UnknownSubscription,
)


def restored() -> Spans:
    ids = pa.chunked_array([pa.array(["a", "b"]), pa.array(["a", "ü"])])
    starts = pa.chunked_array([pa.array([1, 2]), pa.array([5, 6])])
    owners = pa.chunked_array([pa.array(["ann", ""]), pa.array(["bob", "ann"])])
    return Spans.restored(ids, starts, Closings(np.array([0], np.int32), np.array([4])), owners)


def test_spans_grow_and_numbers_are_never_used_again() -> None:
    spans = Spans()
    numbers = []
    for round in range(20):
        numbers.append(spans.open("a", round))
        spans.close("a", round + 1)
    assert numbers == list(range(20))
    assert spans.start.tolist() == list(range(20))
    assert spans.stop.tolist() == list(range(1, 21))
    assert len(spans) == 20
    assert list(spans.active()) == []
    assert not spans.is_active("a")


def test_spans_of_a_plan_are_what_they_were() -> None:
    spans = restored()
    assert len(spans) == 4
    assert spans.ids_of(np.array([3, 0, 0], np.int32)).to_pylist() == ["ü", "a", "a"]
    assert spans.start.tolist() == [1, 2, 5, 6]
    assert spans.stop.tolist() == [4, FOREVER, FOREVER, FOREVER]
    assert list(spans.active()) == ["b", "a", "ü"]
    assert spans.is_active("a")


def owners(spans: Spans) -> list[str]:
    names, codes = spans.coded_owners()
    return [names[code] for code in codes.tolist()]


def test_each_has_an_owner() -> None:
    spans = restored()
    assert owners(spans) == ["ann", "", "bob", "ann"]
    spans.own(spans.open("c", 7), "cyd")
    spans.open_many(["d", "e"], 8, ["dan", ""])
    spans.open_many(["f"], 8)
    assert owners(spans) == ["ann", "", "bob", "ann", "cyd", "dan", "", ""]


def test_spans_of_a_plan_go_on() -> None:
    spans = restored()
    assert spans.open("c", 7) == 4
    assert spans.close("a", 9) == 2
    with pytest.raises(DisorderedPosition, match="it already changed at 9"):
        spans.open("a", 8)
    assert spans.open_many(["a", "d"], [9, 3]) == 5
    assert spans.ids_of(np.arange(7, dtype=np.int32)).to_pylist() == ["a", "b", "a", "ü", "c", "a", "d"]
    assert spans.start.tolist() == [1, 2, 5, 6, 7, 9, 3]
    assert spans.stop.tolist() == [4, FOREVER, 9, *[FOREVER] * 4]
    assert spans.close("d", 3) == 6


@pytest.mark.parametrize(
    ("ids", "at", "error"),
    [
        (["x", "b"], [7, 7], DuplicateSubscription),
        (["x", "x"], [7, 7], DuplicateSubscription),
        (["x", "\ud800"], [7, 7], IllegalId),
        (["x", "ü"], [7, 7], DuplicateSubscription),
    ],
)
def test_many_are_opened_or_none(ids: list[str], at: list[int], error: type[Exception]) -> None:
    spans = restored()
    with pytest.raises(error):
        spans.open_many(ids, at)
    assert len(spans) == 4
    assert not spans.is_active("x")
    with pytest.raises(UnknownSubscription):
        spans.close("x", 8)


def test_many_in_a_row_at_one_position() -> None:
    spans = Spans()
    assert spans.open_many([str(number) for number in range(1000)], 7) == 0
    assert spans.open_many([], 7) == 1000
    assert set(spans.start.tolist()) == {7}
    assert len(spans) == len(spans.stop) == 1000
