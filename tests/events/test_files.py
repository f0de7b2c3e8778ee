import gzip
import io
import json
import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.events.examples import EVERY_KIND
from tests.events.reading import line, parquet, places, read
from tests.events.test_columns import one_by_one, raw_events
from tidings.errors import EventError
from tidings.events import read_events
from tidings.events.files.lines import LONGEST_LINE

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
                "message": "'price' is mandatory for 'all' but is missing",
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
