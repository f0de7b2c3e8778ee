"""One record in, one raw event out."""

from typing import Any

import pytest

from tests.feeds.conftest import Map
from tidings.feeds.event_maker import EventMaker, Made
from tidings.feeds.records.records import Record
from tidings.schema import Catalog


def made(mapped: Map, record: Record, **keys: Any) -> Made:
    mapping = mapped(file="x.json", event_type="car", fields={"year": {"from": "y", "kind": "numeric"}}, **keys)
    return EventMaker(mapping, Catalog()).make(record)


@pytest.mark.parametrize("nothing", [(), ("",), ("  ",), (None,), ([],)])
def test_a_record_without_the_id_that_the_mapping_names_is_refused(mapped: Map, nothing: tuple[Any, ...]) -> None:
    (error,) = made(mapped, {"n": nothing, "y": (1990,)}, id="n").errors
    assert (error.attribute, error.message) == ("id", "id: nothing found at 'n'")
    parts = made(mapped, {"n": nothing, "y": (1990,)}, id=["y", "n"])
    assert [one.message for one in parts.errors] == ["id: nothing found at 'n'"]


def test_a_digest_is_the_id_where_none_is_named_or_it_is_too_long(mapped: Map) -> None:
    without = made(mapped, {"y": (1990,)})
    long = made(mapped, {"n": ("x" * 1_001,), "y": (1990,)}, id="n")
    for one in (without, long):
        assert one.errors == ()
        assert len(one.raw["id"]) == 32
    assert made(mapped, {"n": (7,), "y": (1990,)}, id="n").raw["id"] == "7"


def test_the_source_is_the_mappings_name_unless_named(mapped: Map) -> None:
    assert made(mapped, {}).raw["source"] == "own"
    assert made(mapped, {}, source="lot").raw["source"] == "lot"
