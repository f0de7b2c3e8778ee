"""A schema by the types of values."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tidings import Event, EventBatch, Schema
from tidings.errors import WrongArgument
from tidings.events.inference import NotInferred
from tidings.schema import Kind


def kinds(schema: Schema) -> dict[str, str]:
    """With a star for several values."""
    uses = schema.view(schema.event_type_names).uses
    return {name: f"{schema.domain_of(name).kind}{'' if use.unique else '*'}" for name, use in uses.items()}  # type: ignore[union-attr]


VALUES = {
    "price": [1, None],
    "rate": [1.5, None],
    "exact": [Decimal("1.5"), None],
    "title": ["2026-05-01", None],
    "paint": [["red", "white"], None],
    "sold": [True, None],
    "ends": [datetime(2026, 5, 1), None],
    "day": [date(2026, 5, 1), None],
    "nothing": [None, None],
    "time": ["noon", None],
}
EXPECTED = {
    "price": "numeric",
    "rate": "numeric",
    "exact": "numeric",
    "title": "string",
    "paint": "string*",
    "sold": "enumerated",
    "ends": "time",
    "day": "time",
    "nothing": "string",
    "time": "string",
}


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(made: Any) -> None:
    schema = Schema.infer(made(VALUES))
    assert kinds(schema) == EXPECTED
    assert schema.event_type_names == ("event",)
    assert schema.domain_of("sold").values == ("false", "true")  # type: ignore[union-attr]
    assert not schema.view(["event"]).mandatory


def test_records() -> None:
    rows = pl.DataFrame(VALUES).to_dicts()
    assert kinds(Schema.infer(rows)) == kinds(Schema.infer(iter(rows))) == EXPECTED
    whole = {"id": "e1", "event_type": ["car", "antique"], "attributes": {"price": 1}}
    schema = Schema.infer([whole, Event("e2", ("toy",), (("price", (2,)),))])
    assert schema.event_type_names == ("antique", "car", "toy")
    assert kinds(schema) == {"price": "numeric"}


def test_categories_are_an_enumeration_in_their_order() -> None:
    sizes = pd.Categorical(["S"], categories=["S", "M", "L"], ordered=True)
    schema = Schema.infer(pd.DataFrame({"size": sizes, "brand": pd.Categorical(["mini"], categories=["opel", "mini"])}))
    size, brand = schema.domain_of("size"), schema.domain_of("brand")
    assert size is not None and brand is not None  # noqa: PT018
    assert (size.kind, size.values, size.ordered) == (Kind.ENUMERATED, ("S", "M", "L"), True)
    assert (brand.kind, brand.values, brand.ordered) == (Kind.ENUMERATED, ("opel", "mini"), False)
    frame = pl.DataFrame({"size": pl.Series(["M"], dtype=pl.Enum(["S", "M"])), "tags": [["a"]]})
    assert Schema.infer(frame).domain_of("size").values == ("S", "M")  # type: ignore[union-attr]
    numbers = pd.DataFrame({"n": pd.Categorical([3, 4])})
    assert kinds(Schema.infer(numbers)) == {"n": "numeric"}


def test_kinds_override() -> None:
    rows = [{"brand": "opel", "tags": ["b", "a"], "body": "x", "when": "2026-05-01"}, {"brand": "mini", "tags": []}]
    wanted = {"brand": "enumerated", "tags": "enumerated", "body": "text", "when": "time"}
    for events in (rows, pd.DataFrame(rows)):
        schema = Schema.infer(events, "car", kinds=wanted)
        assert kinds(schema) == wanted | {"tags": "enumerated*"}
        assert schema.domain_of("brand").values == ("mini", "opel")  # type: ignore[union-attr]
        assert schema.domain_of("tags").values == ("a", "b")  # type: ignore[union-attr]
        assert schema.event_type_names == ("car",)


def test_the_event_types_of_a_frame() -> None:
    frame = pd.DataFrame({"event_type": ["car", "toy", "car"], "id": [1, 2, 3], "price": [1, 2, 3]})
    schema = Schema.infer(frame)
    assert schema.event_type_names == ("car", "toy")
    assert kinds(schema) == {"price": "numeric"}


def test_a_batch_has_its_schema() -> None:
    schema = Schema.infer([{"price": 1}])
    assert Schema.infer(EventBatch.of([], schema)) is schema


def test_it_is_written_and_read_again(tmp_path: Any) -> None:
    schema = Schema.infer(pd.DataFrame(VALUES))
    schema.write(tmp_path / "schema.json")
    assert Schema.read(tmp_path / "schema.json") == Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    ("events", "options", "told"),
    [
        ([], {}, "no event has an attribute"),
        (pd.DataFrame(), {}, "no event has an attribute"),
        ([{"a": 1}, {"a": "x"}], {}, "'a' holds values of several kinds: int 1, str 'x'"),
        (pd.DataFrame({"a": [1, "x"]}), {}, "'a' holds values of several kinds: int 1, str 'x'"),
        ([{"a": {"b": 1}, "c": object}], {}, "'a' holds dict, which no attribute can hold.*'c' holds the class"),
        (pd.DataFrame({"a": [timedelta(1)]}), {}, r"'a' holds duration\[ns\]"),
        ([{"a": 1}], {"kinds": {"b": "text"}}, "kinds: no attribute 'b'"),
        ([{"a": 1}, {"a": 0}], {"kinds": {"a": "enumerated"}}, "'a' holds int . not text|'a' holds int ., not text"),
        (pd.DataFrame({"a": map(str, range(10_001))}), {"kinds": {"a": "enumerated"}}, "10,001 different values"),
    ],
)
def test_what_cannot_be_inferred(events: Any, options: Any, told: str) -> None:
    with pytest.raises(NotInferred, match=told):
        Schema.infer(events, **options)


@pytest.mark.parametrize(
    ("events", "options", "told"),
    [
        ("cars.csv", {}, "Schema.infer: events must be a pandas or polars DataFrame"),
        ([3], {}, "Schema.infer: event 0 must be a dict"),
        ([{1: 1}], {}, "a dict with names as keys, not one with int 1"),
        ([{"a": 1}], {"event_type": 3}, "event_type must be the name of an event type, not int 3"),
        ([{"a": 1}], {"kinds": ["a"]}, "kinds must be a dict such as"),
        ([{"a": 1}], {"kinds": {"a": "number"}}, r"kinds\['a'\] must be one of numeric, .*, not str 'number'"),
    ],
)
def test_wrong_arguments(events: Any, options: Any, told: str) -> None:
    with pytest.raises(WrongArgument, match=told):
        Schema.infer(events, **options)
