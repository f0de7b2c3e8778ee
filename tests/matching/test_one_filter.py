"""One filter on columns gives what the specification gives, and loads no compiled code for most filters."""

import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.events import Event, EventBatch
from tidings.events.column_copy import packed, unpacked
from tidings.language import Filter
from tidings.matching import one_filter
from tidings.matching.naive import matches
from tidings.matching.one_filter import OneFilter
from tidings.schema import Catalog, EventType, Instant
from tidings.schema.growth import AppendNode, AppendValue, CreateEventType, grow


def accepted(made: list[Event], catalog: Catalog) -> EventBatch:
    """With times of acceptance, as the journal gives them."""
    times = pa.array([int(Instant.parse("2026-05-02T00:00:00Z")) + n for n in range(len(made))], pa.int64())
    return replace(EventBatch.of(made, catalog), accepted=times)


@given(st.data())
def test_what_it_selects_is_what_the_specification_says(data: st.DataObject) -> None:
    catalog = data.draw(catalogs())
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    batch = accepted(data.draw(st.lists(events(catalog), max_size=8)), catalog)
    wanted = [row for row in range(len(batch)) if matches(filter.tree, batch.bindings(row), catalog)]
    one = OneFilter(filter, catalog)
    assert one.select(batch).tolist() == wanted
    assert one.select(unpacked([packed(batch)], one.names, catalog)).tolist() == wanted


@given(st.data())
def test_what_is_open_goes_to_the_kernels_if_there_is_much_of_it(data: st.DataObject) -> None:
    filter = Filter.parse(data.draw(filter_texts(RICH)), RICH)
    batch = accepted(data.draw(st.lists(events(RICH), min_size=1, max_size=5)), RICH)
    wanted = [row for row in range(len(batch)) if matches(filter.tree, batch.bindings(row), RICH)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_filter, data.draw(st.sampled_from(["_MOST_OPEN", "_MOST_BOXES"])), 0)
        assert OneFilter(filter, RICH).select(batch).tolist() == wanted


def test_a_copy_outlives_the_growth_of_its_schema() -> None:
    made = [
        Event("a", ("car",), (("category", ("vehicle > car",)), ("paint", ("red", "blue")), ("price", (5,)))),
        Event("b", ("car", "offer"), (("category", ("furniture > chair",)), ("made", (Instant.parse("2026-05-01"),)))),
    ]
    copy = packed(accepted(made, RICH))
    grown = RICH
    for change in (
        AppendNode("categories", "stool", "furniture > chair"),
        AppendValue("colours", "pink"),
        CreateEventType(EventType("auction", ())),
    ):
        grown = grow(grown, change)
    names = [*grown.attribute_names]
    read = unpacked([copy, packed(accepted([Event("c", ("auction",), ())], grown)), copy], names, grown)
    assert [event.attributes for event in read] == [
        made[0].attributes,
        made[1].attributes,
        (),
        *(e.attributes for e in made),
    ]
    assert [event.event_types for event in read][:3] == [("car",), ("car", "offer"), ("auction",)]
    assert read.ids.to_pylist() == ["a", "b", "c", "a", "b"]
    for text, rows in (
        ("category under vehicle", [0, 3]),
        ("paint = 'blue' and price < 9", [0, 3]),
        ("not (price exists)", [1, 2, 4]),
    ):
        assert OneFilter(Filter.parse(text, grown), grown).select(read).tolist() == rows


_PLAIN = """
import sys
from tidings.events import EventBatch, Event
from tidings.language import Filter
from tidings.matching.one_filter import OneFilter
from tidings.schema import Catalog
schema = Catalog.from_dict(
    {"domains": [{"name": "n", "kind": "numeric"}],
     "attributes": [{"name": "price", "domain": "n"}, {"name": "reserve", "domain": "n"}],
     "event_types": [{"name": "car", "attributes": [{"name": "price"}, {"name": "reserve"}]}]})
batch = EventBatch.of([Event("a", ("car",), (("price", (5,)), ("reserve", (7,))))], schema)
text = "price < reserve and price > 0.5 * reserve and not (price = 6)"
assert OneFilter(Filter.parse(text, schema), schema).select(batch).tolist() == [0]
assert "numba" not in sys.modules
"""


def test_most_filters_need_no_compiled_code() -> None:
    subprocess.run([sys.executable, "-c", _PLAIN], check=True)
