"""Growth of the catalog: which boxes stay, which are made anew, and what then is read again."""

from pathlib import Path

import numpy as np
import pytest

from tests.matching.gate import answers
from tests.strategies.filters import RICH
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.growth import LoadedFilters
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.plan import filters as filters_module
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema import Catalog, EventType
from tidings.schema.growth import AppendNode, AppendValue, CreateEventType, grow

LEAF = AppendNode("categories", "folding table", "round table")  # the round table had nothing below it


def both(*texts: str) -> tuple[BoxMatcher, NaiveMatcher]:
    pair = BoxMatcher(RICH, threads=1), NaiveMatcher(RICH)
    for matcher in pair:
        for text in texts:
            matcher.add(Subscription(text, Filter.parse(text, RICH)))
    return pair


def of_category(catalog: Catalog, *names: str) -> EventBatch:
    tree = catalog.domain_of("category").hierarchy  # type: ignore[union-attr]
    return EventBatch.of([Event(name, ("offer",), (("category", (tree.path(name),)),)) for name in names], catalog)


def test_boxes_leave_room_for_values_that_an_enumeration_may_get() -> None:
    pair = both(
        "size = 'XL'", "size <= 'XL'", "size >= 'XL'", "size > 'XL'", "not (size > 'XL')", "not (size <= 'L')",
        "size != 'XL'", "size in ('S', 'M', 'L', 'XL')", "not (size between 'M' and 'XL')", "size between 'L' and 'XL'",
    )  # fmt: skip
    boxes, naive = pair
    before = boxes.settled_segments()
    grown = grow(grow(RICH, AppendValue("sizes", "XXL")), AppendValue("sizes", "3XL"))
    for matcher in pair:
        matcher.adopt(grown)
    made = [Event(size, ("car",), (("size", (size,)),)) for size in ("S", "XL", "XXL", "3XL")]
    batch = EventBatch.of(made, grown)
    assert answers(boxes, batch) == answers(naive, batch)
    assert "size > 'XL'" in answers(boxes, batch)[3]
    assert boxes.settled_segments() == before


def test_a_new_event_type_is_none_of_those_that_filters_name() -> None:
    pair = both("event_type != car", "event_type contains offer", "not (event_type in (car, antique, offer))")
    boxes, naive = pair
    grown = grow(RICH, CreateEventType(EventType("new")))
    for matcher in pair:
        matcher.adopt(grown)
    batch = EventBatch.of([Event("e", ("new",), ()), Event("f", ("car", "new"), ())], grown)
    assert answers(boxes, batch) == answers(naive, batch) != [[], []]


def test_what_nothing_was_below_may_match_after_growth(tmp_path: Path) -> None:
    """Such filters had no box, or not one for every alternative; in a plan they have their texts."""
    pair = both("category < 'round table'", "category < 'round table' or price = 3", "category = 'round table'")
    boxes, naive = pair
    save_plan(boxes, tmp_path / "plan")
    opened = open_plan(tmp_path / "plan", threads=1)
    grown = grow(RICH, LEAF)
    for matcher in (*pair, opened):
        matcher.adopt(grown)
    batch = of_category(grown, "folding table", "round table", "desk")
    assert answers(boxes, batch) == answers(naive, batch) == answers(opened, batch)
    assert len(answers(boxes, batch)[0]) == 2


def test_segments_that_do_not_ask_about_the_hierarchy_stay() -> None:
    boxes = BoxMatcher(RICH, threads=1)
    boxes.add_many((Subscription(f"p{n}", Filter.parse(f"price = {n}", RICH)), 0) for n in range(100))
    boxes.add_many(
        (Subscription(f"c{n}", Filter.parse(f"category under table and price < {n}", RICH)), 0) for n in range(20)
    )
    boxes.add(Subscription("waiting", Filter.parse("category = 'desk'", RICH)))
    prices, tables = (one.segment for one in boxes._segments)
    grown = grow(RICH, LEAF)
    boxes.adopt(grown)
    after = [one.segment for one in boxes._segments]
    assert after[0] is prices
    assert tables not in after
    made = [Event("e", ("offer",), (("category", ("folding table",)), ("price", (18.5,))))]
    assert answers(boxes, EventBatch.of(made, grown)) == [["c19"]]
    assert answers(boxes, of_category(grown, "desk")) == [["waiting"]]


def test_texts_are_read_only_when_a_hierarchy_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boxes, _ = both("price < 3", "category under table", "title = 'category'")
    save_plan(boxes, tmp_path / "plan")
    opened = open_plan(tmp_path / "plan", threads=1)
    read: list[str] = []

    class Reading:
        @staticmethod
        def parse(text: str, catalog: Catalog, limit: int) -> Filter:
            read.append(text)
            return Filter.parse(text, catalog, limit)

    monkeypatch.setattr(filters_module, "Filter", Reading)
    wider = grow(RICH, AppendValue("sizes", "XXL"))
    opened.adopt(wider)
    assert read == []
    opened.adopt(grow(wider, LEAF))
    assert read == ["category <= 'furniture > table'", "title = 'category'"]


def test_loaded_filters_are_refused_only_where_they_ask_about_the_hierarchy() -> None:
    def loaded(attribute: str, operator: int, value: float) -> PredicateTable:
        domain = RICH.domain_of(attribute)
        assert domain is not None
        codes = np.array([0], np.int16), np.array([operator], np.int8), np.array([value])
        return PredicateTable(RICH, (attribute,), (domain.vocabulary,), np.array([0, 1]), *codes)

    grown = grow(RICH, LEAF)
    boxes = BoxMatcher(RICH, threads=1)
    boxes.load(box_table(loaded("price", 4, 5.0)), ["dear"])
    boxes.add(Subscription("tables", Filter.parse("category under table", RICH)))
    boxes.adopt(grown)
    assert answers(boxes, of_category(grown, "folding table")) == [["tables"]]
    boxes = BoxMatcher(RICH, threads=1)
    boxes.add(Subscription("tables", Filter.parse("category under table", RICH)))
    boxes.load(box_table(loaded("category", 0, 1.0), first_number=1), ["loaded"])
    with pytest.raises(LoadedFilters, match="1 filters were loaded as arrays"):
        boxes.adopt(grown)
    assert boxes.catalog is RICH
    assert answers(boxes, of_category(RICH, "round table", "table")) == [["tables"], ["loaded", "tables"]]
