"""What frames and records may hold, and what is said of those that do not fit."""

from __future__ import annotations

import enum
import math
from collections import namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tidings import Event, EventBatch, Schema
from tidings.errors import WrongArgument
from tidings.events.batch import ForeignTable
from tidings.events.frames import WrongFrame
from tidings.events.reader import EventReader, RefusedEvents, RefusedRow

CARS = Schema.from_dict(
    {
        "domains": [
            {"name": "money", "kind": "numeric"},
            {"name": "brand", "kind": "enumerated", "values": ["opel", "mini"]},
            {"name": "words", "kind": "string"},
            {"name": "boolean", "kind": "enumerated", "values": ["false", "true"]},
            {"name": "instant", "kind": "time"},
        ],
        "attributes": [
            {"name": "price", "domain": "money"},
            {"name": "brand", "domain": "brand"},
            {"name": "paint", "domain": "words"},
            {"name": "sizes", "domain": "money"},
            {"name": "sold", "domain": "boolean"},
            {"name": "time", "domain": "instant"},
        ],
        "event_types": [
            {
                "name": "car",
                "attributes": [
                    {"name": "price", "mandatory": False},
                    {"name": "brand", "mandatory": False},
                    {"name": "paint", "mandatory": False, "unique": False},
                    {"name": "sizes", "mandatory": False, "unique": False},
                    {"name": "sold", "mandatory": False},
                    {"name": "time", "mandatory": False},
                ],
            }
        ],
    }
)
TWO_TYPES = Schema.read(Path(__file__).parents[2] / "examples" / "schema.json")


def read(events: Any, schema: Schema = CARS, **options: Any) -> list[dict[str, Any]]:
    """The attributes of each event; none may be refused."""
    read = []
    for part in EventReader(schema).read(events, **options):
        assert part.refused == []
        read += [dict(event.attributes) for event in part.batch]
    return read


def refused(events: Any) -> list[RefusedRow]:
    return [one for part in EventReader(CARS).read(events) for one in part.refused]


def ids(events: Any) -> list[str]:
    return [event.id for part in EventReader(CARS).read(events) for event in part.batch]


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_lists_are_several_values_and_nothing_is_no_value(made: Any) -> None:
    frame = made({"paint": [["red", None], [], None, ["red", "white"]], "sizes": [[math.nan, 1.0], [2.0], [], None]})
    assert read(frame) == [
        {"paint": ("red",), "sizes": (1,)},
        {"sizes": (2,)},
        {},
        {"paint": ("red", "white")},
    ]


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table])
def test_booleans_are_the_words_of_an_enumeration(made: Any) -> None:
    assert read(made({"sold": [True, None, False]})) == [{"sold": ("true",)}, {}, {"sold": ("false",)}]
    with pytest.raises(WrongFrame, match="'price' holds bool, but the attribute is numeric: convert it to numbers"):
        read(made({"price": [True, False]}))


BEYOND = 2**53 + 1


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"price": [1, BEYOND]}),
        pd.DataFrame({"price": pd.array([1, BEYOND], "Int64")}),
        pd.DataFrame({"price": [1, 2**70]}),
        pd.DataFrame({"price": [Decimal(1), Decimal(BEYOND)]}),
        pd.DataFrame({"price": [0.5, BEYOND]}, dtype=object),
        pl.DataFrame({"price": [1, BEYOND]}),
        pl.DataFrame({"price": [1, BEYOND]}, schema={"price": pl.UInt64}),
        pl.DataFrame({"price": [Decimal(1), Decimal(-BEYOND)]}),
        pa.table({"price": pa.array([Decimal(1), Decimal(BEYOND)], pa.decimal128(20, 0))}),
        pa.table({"sizes": pa.array([[Decimal(1)], [Decimal(5), Decimal(BEYOND)]], pa.list_(pa.decimal128(20, 0)))}),
        [{"price": 1}, {"price": BEYOND}],
        [{"price": 1}, {"price": Decimal(BEYOND)}],
        [{"price": 1}, {"price": np.int64(BEYOND)}],
    ],
)
def test_integers_beyond_2_53_are_refused_not_rounded(frame: Any) -> None:
    (row,) = refused(frame)
    assert (row.row, row.errors[0].rule) == (1, "domain")
    assert "beyond ±2^53 would lose digits" in str(row)


def test_decimals_are_the_nearest_float() -> None:
    table = pa.table({"price": pa.array([Decimal("0.3"), Decimal(2**53), None], pa.decimal256(40, 3))})
    assert read(table) == [{"price": (0.3,)}, {"price": (2**53,)}, {}]
    assert read([{"price": Decimal("0.3")}]) == [{"price": (0.3,)}]


def test_times_of_every_kind() -> None:
    noon = "2026-05-01T12:00:00Z"
    athens = pd.Timestamp("2026-05-01 15:00", tz="Europe/Athens")
    for time in (noon, datetime(2026, 5, 1, 12), athens, athens.to_pydatetime(), np.datetime64("2026-05-01T12:00")):
        assert str(read([{"time": time}])[0]["time"][0]) == noon
    for frame in (
        pd.DataFrame({"time": [athens, pd.NaT]}),
        pd.DataFrame({"time": [datetime(2026, 5, 1, 12, tzinfo=UTC), None]}),
        pd.DataFrame({"time": [noon, None]}),
        pd.DataFrame({"id": [1, 2]}, index=pd.DatetimeIndex([athens, pd.NaT], name="time")),
        pl.DataFrame({"time": [datetime(2026, 5, 1, 12), None]}),
        pl.DataFrame({"time": [athens.to_pydatetime(), None]}),
        pa.table({"time": pa.array([athens.value, None], pa.timestamp("ns", "Asia/Tokyo"))}),
    ):
        (first, second) = read(frame)
        assert (str(first["time"][0]), second) == (noon, {})
    assert str(read([{"time": date(2026, 5, 1)}])[0]["time"][0]) == "2026-05-01T00:00:00Z"
    assert read([{"time": pd.NaT}, {"time": pd.NA}, {"time": np.datetime64("NaT")}]) == [{}, {}, {}]


def test_values_of_other_libraries() -> None:
    class Brand(enum.Enum):
        MINI = "mini"

    Car = namedtuple("Car", "price brand")
    frame = pd.DataFrame({"price": [900], "brand": ["mini"]})
    same = {"price": (900,), "brand": ("mini",)}
    for one in (
        {"price": np.int16(900), "brand": np.str_("mini")},
        {"price": np.float32(900), "brand": Brand.MINI},
        {"price": pa.scalar(900), "brand": pa.scalar("mini")},
        {"price": np.array(900), "brand": np.array(["mini"])},
        Car(900, "mini"),
        frame.iloc[0],
        *frame.itertuples(index=False),
        pl.from_pandas(frame).row(0, named=True),
        Event("x", ("car",), (("brand", ("mini",)), ("price", (900,)))),
        {"event_type": "car", "attributes": {"price": 900, "brand": "mini"}},
    ):
        assert read(one) == read([one]) == [same]
    assert read([{"sold": np.bool_(True)}]) == [{"sold": ("true",)}]


def test_a_whole_event_follows_the_rules_of_json() -> None:
    rules = [
        [error.rule for error in row.errors] for row in refused([{"attributes": {"price": math.nan, "paint": []}}])
    ]
    assert rules == [["empty", "domain"]]


def test_ids() -> None:
    assert ids(pd.DataFrame({"price": [1, 2]}, index=[7, 8])) == ["0", "1"]
    assert ids(pd.DataFrame({"price": [1, 2], "id": ["a", "b"]})) == ["a", "b"]
    assert ids(pl.DataFrame({"price": [1, 2], "id": [70, 80]})) == ["70", "80"]
    assert ids(pd.DataFrame({"price": [1, 2], "id": [70, 80]}).set_index("id")) == ["70", "80"]
    assert ids([{"price": 1}, {"id": 5, "price": 1}, {"id": "x", "event_type": "car", "attributes": {}}]) == [
        "0",
        "5",
        "x",
    ]
    assert [row.errors[0].rule for row in refused(pd.DataFrame({"price": [1, 2], "id": ["a", None]}))] == ["id"]
    with pytest.raises(WrongFrame, match="'id' holds double: convert it to text or integers"):
        ids(pd.DataFrame({"price": [1], "id": [1.5]}))


def test_an_id_that_the_schema_knows_is_both() -> None:
    schema = Schema.from_dict(
        {
            "domains": [{"name": "number", "kind": "numeric"}],
            "attributes": [{"name": "id", "domain": "number"}],
            "event_types": [{"name": "thing", "attributes": [{"name": "id"}]}],
        }
    )
    for events in (pd.DataFrame({"id": [5]}), [{"id": 5}]):
        ((event,),) = [list(part.batch) for part in EventReader(schema).read(events)]
        assert (event.id, event.attributes) == ("5", (("id", (5,)),))


def test_the_event_type_is_needed_only_where_there_are_several() -> None:
    car = {"brand": "mini", "year": 1971}
    with pytest.raises(
        WrongFrame, match="'event_type' is missing: add one, or pass event_type=…; the schema has 'auction'"
    ):
        read(pd.DataFrame([car]), TWO_TYPES)
    for events in (
        pd.DataFrame([car]),
        [car],
        [car | {"event_type": "car"}],
        pd.DataFrame([car | {"event_type": "car"}]),
    ):
        assert read(events, TWO_TYPES, event_type="car") == [{"brand": ("mini",), "year": (1971,)}]
    both = {**car, "title": "x", "price": 1, "category": "car", "ends": "2026-05-01"}
    for events in (pd.DataFrame([both]), [both]):
        (part,) = EventReader(TWO_TYPES).read(events, event_type=["car", "auction"])
        assert [event.event_types for event in part.batch] == [("car", "auction")]
    with pytest.raises(WrongFrame, match="no event type 'cra'; did you mean 'car'"):
        read([car], TWO_TYPES, event_type="cra")


def test_unknown_columns_are_named_or_left_out() -> None:
    frame = pd.DataFrame({"pric": [1], "price": [2], "x": [3]})
    with pytest.raises(
        WrongFrame, match=r"no attribute 'pric'; did you mean 'price'.*no attribute 'x'.*ignore_unknown=True"
    ):
        read(frame)
    assert read(frame, ignore=True) == [{"price": (2,)}]
    assert read([{"price": 2, "x": 3}], ignore=True) == [{"price": (2,)}]
    assert "did you mean 'price'" in str(refused([{"pric": 1}])[0])


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (pd.DataFrame({"price": ["1"]}), "'price' holds string, but the attribute is numeric: convert it to numbers"),
        (pl.DataFrame({"brand": [1]}), "'brand' holds int64, but the attribute is enumerated: convert it to text"),
        (pl.DataFrame({"time": [1]}), "convert it to timestamps, dates or ISO 8601 text"),
        (pl.DataFrame({"price": [timedelta(1)]}), "holds duration"),
        (pl.DataFrame({"sizes": [[[1]]]}), "holds large_list<item: large_list"),
        (pl.DataFrame({"price": [{"a": 1}]}), "holds struct"),
        (pl.DataFrame({"price": [2**100]}, schema={"price": pl.Int128}), "cannot be read by Arrow"),
        (pl.DataFrame({"price": [1], "event_type": [1]}), "'event_type' holds int64: convert it to text"),
        (pd.DataFrame([[1, 2]], columns=["price", "price"]), "'price' occurs twice"),
    ],
)
def test_a_wrong_column_is_the_frame_s_fault(frame: Any, told: str) -> None:
    with pytest.raises(WrongFrame) as raised:
        read(frame)
    assert told in str(raised.value)


def test_a_column_of_several_types_is_decided_row_by_row() -> None:
    rows = refused(pd.DataFrame({"price": [1, "x", None, [2, 3]]}))
    assert [(row.row, row.errors[0].rule) for row in rows] == [(1, "domain"), (3, "unique")]


def test_rows_are_counted_through_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.events.reader._ROWS", 2)
    monkeypatch.setattr("tidings.events.reader._RECORDS", 2)
    rows = [{"price": 1}, {"price": "x"}, {"price": 3}, {"price": 4}, {"price": "y"}]
    for events in (rows, iter(rows), pd.DataFrame(rows), iter([pd.DataFrame(rows[:2]), pd.DataFrame(rows[2:])])):
        parts = list(EventReader(CARS).read(events))
        assert [row for part in parts for row in part.rows.to_pylist()] == [0, 2, 3]
        assert [one.row for part in parts for one in part.refused] == [1, 4]
        assert [event.id for part in parts for event in part.batch] == ["0", "2", "3"]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ("events.jsonl", "not str 'events.jsonl'; to match a file, read it with tidings.read_events"),
        (Path("events.jsonl"), "to match a file"),
        (pl.DataFrame({"price": [1]}).lazy(), r"not polars.LazyFrame; call .collect\(\) on it first"),
        (3, "must be a pandas or polars DataFrame, .* not int 3"),
        (None, "not None"),
        ([3], "event 0 must be a dict such as"),
        (pd.Series([1, 2]), "a dict with names as keys, not one with int 0"),
    ],
)
def test_what_is_no_event(events: Any, told: str) -> None:
    with pytest.raises(WrongArgument, match=told):
        read(events)


def test_empty_frames() -> None:
    assert read(pd.DataFrame({"price": []})) == read(pl.DataFrame()) == read([]) == []


def test_refused_events_are_told_by_row() -> None:
    error = RefusedEvents(tuple(refused([{"brand": "mni"}] * 12)))
    lines = str(error).splitlines()
    assert lines[0] == "row 0: event '0' is refused: 'brand': 'mni' is not in domain 'brand'; did you mean 'mini'?"
    assert lines[10:] == ["and 2 more", "on_error='skip' leaves such events out"]


def test_a_table_that_to_arrow_did_not_make() -> None:
    with pytest.raises(ForeignTable, match=r"lacks the columns 'id', .*pass any other frame to Matcher.match"):
        EventBatch.from_arrow(pa.RecordBatch.from_pandas(pd.DataFrame({"price": [1]})), CARS)
