import gzip
import io
import json
import math
import pickle
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.events.examples import ANTIQUE_CAR, EVERY_KIND
from tests.events.test_columns import one_by_one, raw_events
from tidings.errors import EventError
from tidings.events import read_events, write_event
from tidings.events.lines import LONGEST_LINE


def read(content, form="jsonl", catalog=EVERY_KIND, rows=3):
    """All readings of a file as (events, refused, duplicates, positions)."""
    stream = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    readings = list(read_events(stream, catalog, form, rows))
    return (
        [event for reading in readings for event in reading.batch],
        [refused for reading in readings for refused in reading.refused],
        sum(reading.duplicates for reading in readings),
        [position for reading in readings for position in reading.batch.positions.to_pylist()],
    )


def line(id, price=1, **more):
    return json.dumps({"id": id, "event_type": "all", "attributes": {"price": price, **more}})


def parquet(**columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=2)
    return sink.getvalue()


def places(refused):
    return [(one.line, one.id, [(error.rule, error.attribute) for error in one.errors]) for one in refused]


# JSON Lines


def is_json(raw):
    try:
        json.dumps(raw, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(st.lists(raw_events, max_size=7))
def test_json_lines_agree_with_validate(raws):
    # A line with NaN or half a surrogate pair is no JSON, so it is refused as a whole.
    texts = [json.dumps(raw) for raw in raws]
    readable = [raw for raw in raws if is_json(raw)]
    events, refused, duplicates, positions = read("\n".join(["0", *texts]))
    expected, _, refusals = one_by_one(readable)
    seen = {(event.source, event.id): event for event in reversed(expected)}
    assert events == [event for event in expected if seen[event.source, event.id] is event]
    assert duplicates == len(expected) - len(events)
    assert positions == list(range(1, len(events) + 1))
    assert len(refused) == 1 + len(refusals) + len(raws) - len(readable)


def test_malformed_lines_do_not_stop_the_others():
    lines = [
        b"\xef\xbb\xbf" + line("e1").encode(),
        b"",
        b"{not json",
        b"\xff\xfe",
        b'{"id": "e5", "event_type": "all", "attributes": {"price": NaN}}',
        b"[" * 100_000,
        b'"' + b"x" * LONGEST_LINE + b'"',
        line("e8").encode() + b"\r",
        b"  \t",
        b'{"id": "e10", "event_type": "all", "attributes": {"price": 1}} trailing',
        b"5",
        line("e12", price="x").encode(),
        line("e13").encode(),
    ]
    events, refused, duplicates, positions = read(b"\n".join(lines))
    assert [event.id for event in events] == ["e1", "e8", "e13"]
    assert places(refused) == [
        *((number, None, [("form", None)]) for number in (3, 4, 5, 6, 7, 10, 11)),
        (12, "e12", [("domain", "price")]),
    ]
    assert (duplicates, positions) == (0, [1, 2, 3])


def test_the_longest_line_is_still_read():
    text = line("e1", story="")
    whole = text.replace('"story": ""', '"story": "' + "x" * (LONGEST_LINE - len(text)) + '"')
    assert len(whole) == LONGEST_LINE
    assert [event.id for event in read(whole + "\r\n" + line("e2"))[0]] == ["e1", "e2"]
    assert places(read(whole + " \n" + line("e2"))[1]) == []
    assert places(read(whole + "  \r\n" + line("e2"))[1]) == [(1, None, [("form", None)])]


def test_a_refused_event_as_json():
    [refused] = read(line("e7", price=None))[1]
    assert refused.as_json() == {
        "line": 1,
        "id": "e7",
        "errors": [
            {
                "rule": "mandatory",
                "attribute": "price",
                "value": None,
                "message": "'price' is mandatory for 'all' but is not bound",
            }
        ],
    }


def test_duplicates_are_counted_across_chunks():
    texts = [
        line("a"),
        line("a", 2),
        line("b", "x"),
        line("b"),
        line("a", 3),
        '{"id":"a","source":"s","event_type":"none"}',
    ]
    events, refused, duplicates, positions = read("\n".join(texts), rows=2)
    assert [(event.source, event.id) for event in events] == [("", "a"), ("", "b"), ("s", "a")]
    assert (len(refused), duplicates, positions) == (1, 2, [1, 2, 3])


def test_a_hostile_file_cannot_invent_columns():
    texts = [line(f"e{n}", **{f"x{n}-{i}": 1 for i in range(50)}) for n in range(200)]
    events, refused, _, _ = read("\n".join(texts), rows=200)
    assert not events
    assert len(refused) == 200


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


# All forms say the same of what all can express.

tables = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from("abcdefgh"),
            "event_type": st.sampled_from(("all", "free", "none", "nosuch")),
            "price": st.sampled_from((None, 1, 2.5, -0.0, 2**53, 1e300)),
            "name": st.sampled_from((None, "x", "", 'q"uote', "com,ma", "new\nline", "é")),
            "brand": st.sampled_from((None, "opel", "mini", "opl")),
            "when": st.sampled_from((None, "2026-05-01T10:00:00Z", "2026-05-01", "20260501", "soon")),
        }
    ),
    min_size=1,
    max_size=6,
)


def csv_cell(value):
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"' if not value or set(value) & set('",\n') else value
    return "" if value is None else repr(value)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_the_forms_agree(rows):
    envelope = ("id", "event_type")
    names = list(rows[0])
    raws = [
        {
            **{name: row[name] for name in envelope},
            "attributes": {n: row[n] for n in names if n not in envelope},
        }
        for row in rows
    ]
    as_json = read("\n".join(json.dumps(raw) for raw in raws))
    header = ",".join(names)
    as_csv = read("\n".join([header, *(",".join(csv_cell(row[name]) for name in names) for row in rows)]), "csv")
    floats = {"price": [None if row["price"] is None else float(row["price"]) for row in rows]}
    columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in names if name != "price"}
    as_parquet = read(parquet(**columns, price=pa.array(floats["price"], pa.float64())), "parquet")

    def said(result):
        events, refused, duplicates, positions = result
        return events, [(one.id, one.errors) for one in refused], duplicates, positions

    assert said(as_json) == said(as_csv) == said(as_parquet)


# Files as a whole


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".jsonl.gz", ".csv", ".csv.gz", ".parquet"])
def test_the_form_is_chosen_by_the_suffix(tmp_path, suffix):
    path = tmp_path / f"events{suffix}"
    content = line("e1").encode()
    if "csv" in suffix:
        content = b"id,event_type,price\ne1,all,1\n"
    if "parquet" in suffix:
        content = parquet(id=["e1"], event_type=["all"], price=[1])
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    for source in (path, str(path)):
        [reading] = read_events(source, EVERY_KIND)
        assert [event.id for event in reading.batch] == ["e1"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("events.txt", b"", "say which form"),
        ("events.jsonl", b"", "empty"),
        ("events.jsonl", b"\n  \n", "empty"),
        ("events.csv", b"", "empty"),
        ("events.parquet", b"", "empty"),
        ("events.parquet", b"id,event_type\n", "no Parquet"),
        ("events.jsonl", parquet(id=["1"]), "a Parquet file"),
        ("events.csv", b"PK\x03\x04...", "zip"),
        ("events.jsonl", '{"id"'.encode("utf-16"), "UTF-16"),
        ("events.jsonl", b"a\0b\n", "zero bytes"),
        ("events.jsonl.gz", gzip.compress(line("e1").encode() * 999, mtime=0)[:60], "damaged"),
        ("events.jsonl", None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EventError, match=message) as problem:
        list(read_events(path, EVERY_KIND))
    assert str(pickle.loads(pickle.dumps(problem.value))) == str(problem.value)


def test_an_unknown_form():
    with pytest.raises(EventError, match="'jsonl'"):
        read_events(io.BytesIO(), EVERY_KIND, "json")


def test_a_file_may_be_read_in_part(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(line(f"e{n}") for n in range(10)))
    first = next(iter(read_events(path, EVERY_KIND, rows=2)))  # the file is closed with the iterator
    assert len(first.batch) == 2
