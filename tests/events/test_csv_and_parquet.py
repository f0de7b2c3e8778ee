import math
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.events.examples import ANTIQUE_CAR
from tests.events.reading import parquet, places, read
from tidings.errors import EventError
from tidings.events import write_event
from tidings.events.files.lines import LONGEST_LINE

# CSV


def test_the_worked_example_as_csv():  # thesis 3.1
    text = (
        "id,event_type,price,period,quantity,brand,cc\n"
        "e1,antique|car,1300,1970,1,cooper,1000\n"
        "e2,antique|car,3500,1970,,audi,1200\n"
    )
    events, refused, _, _ = read(text, "csv", ANTIQUE_CAR)
    assert [write_event(event)["attributes"] for event in events] == [
        {"brand": "cooper", "cc": 1000, "period": 1970, "price": 1300, "quantity": 1}
    ]
    assert places(refused) == [(3, "e2", [("mandatory", "quantity")])]


def test_csv_cells():
    text = (
        b"\xef\xbb\xbfid,event_type,source,time,contact,price,name,tags,whens,sizes\r\n"
        b'1,all,s,2026-05-01,me,+1.50,"a, ""b""",x|y,2026-05-01|20260501,1|1.0|2\r\n'
        b'2,"all",,,,1e3,"",,,\r\n'
        b'5,"all",,,,1,"a,",,,\r\n'
        b"\r\n"
        b'3,all|free,,,, 7 ,"two\r\n\r\nlines",,,\r\n'
        b"4,all,,,,900"
    )
    events, refused, _, _ = read(text, "csv")
    assert [dict(event.attributes) for event in events] == [
        {
            "price": (1.5,),
            "name": ('a, "b"',),
            "tags": ("x", "y"),
            "whens": events[0].attributes[-1][1],
            "sizes": (1, 2),
        },
        {"price": (1000,), "name": ("",)},
        {"price": (1,), "name": ("a,",)},
        {"price": (7,), "name": ("two\r\n\r\nlines",)},
    ]
    assert len(events[0].attributes[-1][1]) == 1  # the same instant twice
    assert (events[0].source, events[0].contact, events[1].source) == ("s", "me", "")
    assert events[3].event_types == ("all", "free")
    assert places(refused) == [(9, None, [("form", None)])]


def test_wrong_csv_rows_do_not_stop_the_others():
    rows = [
        b"id,event_type,price,sizes",
        b"1,all,1,",
        b"2,all,1",
        b"3,all,1,,",
        b"4,all,abc,",
        b"5,all,\xff,",
        b"6,all,NaN,",
        b"7,all,9007199254740993,",
        b"8,all,1,1||2",
        b'"9","all",1,"1|2"',
        b'10,"all"x,1,',
        b'11,"all,1,',
        b",all,1,",
        b"13,,1,",
        b"14,all,9007199254740992,",
        b"15,all,1|2,",
        b"16,all,1" + b"0" * LONGEST_LINE,
        b'17,all,1,5" pipe',
        b"18,all,1,",
    ]
    events, refused, _, _ = read(b"\n".join(rows), "csv")
    assert [event.id for event in events] == ["1", "9", "14", "18"]
    assert places(refused) == [
        (3, None, [("form", None)]),
        (4, None, [("form", None)]),
        (5, "4", [("domain", "price")]),
        (6, None, [("form", None)]),
        (7, "6", [("domain", "price")]),
        (8, "7", [("domain", "price")]),
        (9, "8", [("domain", "sizes")]),
        (11, None, [("form", None)]),
        (12, None, [("form", None)]),
        (13, None, [("id", "id")]),
        (14, "13", [("mandatory", "event_type")]),
        (16, "15", [("unique", "price")]),
        (17, None, [("form", None)]),
        (18, "17", [("domain", "sizes")]),
    ]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,event_type,pric", "'price'"),
        ("id,price", "'event_type' is missing"),
        ("id,event_type,price,price", "twice"),
        ("id;event_type;price", "semicolons"),
        ("id\tevent_type\tprice", "tabs"),
        ('id,event_type,"price', "never ends"),
    ],
)
def test_a_wrong_header_is_the_file_s_fault(header, message):
    with pytest.raises(EventError, match=message):
        read(header + "\n1,all,1\n", "csv")


def test_a_header_alone_has_no_events():
    assert read("id,event_type,price\n", "csv") == ([], [], 0, [])


# Parquet


def test_parquet_types():
    content = parquet(
        id=["1", "2", "3"],
        event_type=pa.array([["all"], ["all", "free"], ["all"]]),
        time=pa.array([1, 2, None], pa.timestamp("ns")),
        price=pa.array([1, 2, 3], pa.int16()),
        sizes=pa.array([[1.5], None, [2.0, 2.0, 3.0]], pa.list_(pa.float32())),
        brand=pa.array(["mini", "opel", None]).dictionary_encode(),
        name=pa.array(["x", None, ""], pa.large_string()),
        when=pa.array([date(2026, 5, 1), None, date(1600, 1, 1)]),
        whens=pa.array([[datetime(2026, 5, 1)], None, []], pa.large_list(pa.timestamp("ms"))),
    )
    events, refused, _, positions = read(content, "parquet")
    assert [write_event(event) for event in events] == [
        {
            "id": "1",
            "time": "1970-01-01T00:00:00Z",
            "event_type": ["all"],
            "attributes": {
                "brand": "mini",
                "name": "x",
                "price": 1,
                "sizes": 1.5,
                "when": "2026-05-01T00:00:00Z",
                "whens": "2026-05-01T00:00:00Z",
            },
        },
        {
            "id": "2",
            "time": "1970-01-01T00:00:00Z",
            "event_type": ["all", "free"],
            "attributes": {"brand": "opel", "price": 2},
        },
    ]
    assert places(refused) == [(3, "3", [("empty", "whens")])]
    assert positions == [1, 2]


@pytest.mark.parametrize(
    ("column", "accepted"),
    [
        (pa.array([True, None]), 1),
        (pa.array(["5", None]), 1),
        (pa.array([2**53 + 1, 2**53]), 1),
        (pa.array([2**64 - 1, 1], pa.uint64()), 1),
        (pa.array([math.nan, 1e300]), 1),
        (pa.array([Decimal("1.50"), Decimal("2.00")]), 2),
        (pa.array([Decimal(2**53 + 1), Decimal(2**53)], pa.decimal128(20, 0)), 1),
        (pa.array([Decimal(-(2**53)) - 1, None], pa.decimal256(50, 3)), 1),
        (pa.array([[Decimal(2**53 + 1)], [Decimal(5)]], pa.large_list(pa.decimal128(20, 0))), 1),
        (pa.array([[[1]], None]), 1),
        (pa.array([{"a": 1}, None]), 1),
        (pa.array([b"5", None]), 1),
        (pa.nulls(2), 2),
    ],
)
def test_parquet_numbers(column, accepted):
    events, refused, _, _ = read(parquet(id=["1", "2"], event_type=["free", "free"], price=column), "parquet")
    assert len(events) == accepted
    assert places(refused) == ([(1, "1", [("domain", "price")])] if accepted == 1 else [])


def test_parquet_text_that_is_no_text():
    broken = pa.array([b"\xff", b"ok"]).cast(pa.string(), safe=False)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), broken)
    for columns in ({"name": broken}, {"tags": lists}):
        events, refused, _, _ = read(parquet(id=["1", "2"], event_type=["all"] * 2, price=[1, 1], **columns), "parquet")
        assert [event.id for event in events] == ["2"]
        assert places(refused) == [(1, "1", [("domain", next(iter(columns)))])]


def test_parquet_times_beyond_the_calendar():
    when = pa.array([2**60, 0], pa.int64()).cast(pa.timestamp("ms"))
    events, refused, _, _ = read(parquet(id=["1", "2"], event_type=["all"] * 2, price=[1, 1], when=when), "parquet")
    assert [event.id for event in events] == ["2"]
    assert places(refused) == [(1, "1", [("domain", "when")])]


def test_parquet_with_a_foreign_column():
    with pytest.raises(EventError, match="'price'"):
        read(parquet(id=["1"], event_type=["all"], pric=[1]), "parquet")
