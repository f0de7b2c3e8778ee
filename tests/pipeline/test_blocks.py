"""A file read in blocks gives what it gives when it is read as a whole."""

import gzip
import json
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import EventError
from tidings.events import EventBatch, Refused, Sieve, write_event
from tidings.events.files.chunk import Chunk
from tidings.events.files.lines import LONGEST_LINE
from tidings.events.files.reading import raw_chunks
from tidings.pipeline.batch.blocks import read_blocks
from tidings.schema.files import read_catalog

CATALOG, _ = read_catalog(Path(__file__).parents[2] / "examples" / "schema.json")

Read = tuple[list[tuple[int, dict[str, Any]]], list[Refused], str | None]


def sifted(chunks: Iterator[Chunk]) -> Read:
    """The valid events with their lines, the refused ones, and the error that ended it."""
    events: list[tuple[int, dict[str, Any]]] = []
    refused: list[Refused] = []
    try:
        for chunk in chunks:
            found = Sieve(CATALOG).sift(chunk.columns)
            rows = found.rows.to_pylist()
            batch: EventBatch = found.batch
            events += [(chunk.lines[row], write_event(event)) for row, event in zip(rows, batch, strict=True)]
            broken = [Refused(chunk.lines[row], error.id, error.errors) for row, error in found.refused]
            refused += sorted([*chunk.refused, *broken], key=lambda one: one.line)
    except EventError as problem:
        return events, refused, str(problem)
    return events, refused, None


def as_blocks(path: Path, form: str | None, rows: int) -> Iterator[Chunk]:
    for block in read_blocks(path, CATALOG, form, rows):
        yield pickle.loads(pickle.dumps(block)).chunk(CATALOG)


def check(path: Path, rows: int = 3, form: str | None = None) -> Read:
    whole = sifted(raw_chunks(path, CATALOG, form, rows))
    assert sifted(as_blocks(path, form, rows)) == whole
    return whole


def car(n: int, **more: Any) -> str:
    return json.dumps({"id": f"e{n}", "event_type": "car", "attributes": {"brand": "mini", "year": 1900 + n, **more}})


def test_json_lines(tmp_path: Path) -> None:
    odd = [
        "",
        "   ",
        "[1]",
        "{",
        "\x00",
        "PK\x03\x04",
        '{"id": "\\ud800"}',
        "\ufeff" + car(5),
        "<?xml",
        "x" * (LONGEST_LINE + 5),
    ]
    lines = [car(1), *odd, "", "", "", "", "", "", car(2, paint=["red", "blue"]), car(3, brand="mimi"), car(4)]
    for name, content in (("e.jsonl", "\ufeff" + "\n".join(lines)), ("f.jsonl", "\r\n".join(lines) + "\r\n")):
        (tmp_path / name).write_bytes(content.encode())
        events, refused, problem = check(tmp_path / name)
        assert problem is None
        assert [line for line, _ in events] == [1, 18, 20]
        assert [one.line for one in refused] == [4, 5, 6, 7, 8, 9, 10, 11, 19]


def test_damage_comes_after_what_stood_before_it(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(car(n) + " " * (n % 97) for n in range(20_000)).encode())
    (tmp_path / "e.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    events, _, problem = check(tmp_path / "e.jsonl.gz", rows=100)
    assert events
    assert len(events) % 100 == 0
    assert "damaged after line" in str(problem)


def test_damage_between_two_blocks(tmp_path: Path) -> None:
    """Whole blocks before it are given, the last one too."""
    rows = [ROW.format(n, "".join(random.Random(n).choices("abcdefgh", k=400))) for n in range(2_000)]
    packed = gzip.compress((HEADER + "".join(rows)).encode())
    (tmp_path / "e.csv.gz").write_bytes(packed[: len(packed) * 3 // 4])
    counts = [len(check(tmp_path / "e.csv.gz", rows)[0]) for rows in (1, 2, 7)]
    assert counts[0] > 500
    assert counts == [counts[0], counts[0] // 2 * 2, counts[0] // 7 * 7]


HEADER = "id,event_type,brand,year,paint\n"
ROW = "e{},car,mini,1971,{}\n"


def test_csv(tmp_path: Path) -> None:
    cells = ['"a\nb"', "red|blue", '"say ""hi"""', '"open', "", '"', "x", '"closed"x', '"""\n""\n"', "é" * 5]
    content = HEADER + "".join(ROW.format(n, cell) for n, cell in enumerate(cells * 3)) + "\n\n" + ROW.format(99, "z")
    (tmp_path / "e.csv").write_text(content)
    events, refused, problem = check(tmp_path / "e.csv")
    assert problem is None
    assert len(events) > 10
    assert len(refused) == 3
    (tmp_path / "header.csv").write_text('\n"id"\n,event_type\n')
    assert check(tmp_path / "header.csv") == check(tmp_path / "header.csv", rows=1)
    long = (
        HEADER
        + ROW.format(1, "a")
        + "x" * (LONGEST_LINE + 5)
        + "\n"
        + ROW.format(2, '"' + "\n" * 3)
        + ROW.format(3, "b")
    )
    (tmp_path / "long.csv").write_text(long)
    assert [one.line for one in check(tmp_path / "long.csv", rows=1)[1]][:1] == [3]


@given(cells=st.lists(st.text(st.sampled_from('a",\n\r é'), max_size=6), max_size=12), rows=st.integers(1, 4))
def test_any_csv(tmp_path_factory: pytest.TempPathFactory, cells: list[str], rows: int) -> None:
    path = tmp_path_factory.mktemp("csv") / "e.csv"
    path.write_bytes((HEADER + "".join(ROW.format(n, cell) for n, cell in enumerate(cells))).encode())
    check(path, rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.jsonl", b""),
        ("blank.jsonl", b"\n" * 10),
        ("blank.csv", b"\n" * 10),
        ("only.csv", HEADER.encode()),
        ("wrong.csv", b"id,event_typ\n1,car\n"),
        ("foreign.jsonl", b"PAR1"),
        ("foreign.csv", b"\xff\xfei\0d\0"),
        ("empty.parquet", b""),
        ("junk.parquet", b"junk"),
        ("odd.txt", b"{}"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    try:
        whole = sifted(raw_chunks(tmp_path / name, CATALOG, None, 3))
    except EventError as problem:  # said before anything is read
        with pytest.raises(type(problem), match="the name ends in none of"):
            list(read_blocks(tmp_path / name, CATALOG))
        return
    assert sifted(as_blocks(tmp_path / name, None, 3)) == whole
    assert (whole[2] is None) == (name == "only.csv")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(EventError, match="cannot be read: No such file"):
        list(read_blocks(tmp_path / "none.jsonl", CATALOG))
    with pytest.raises(EventError, match="no form 'xls'"):
        list(read_blocks(tmp_path / "none.jsonl", CATALOG, "xls"))


def test_xml(tmp_path: Path) -> None:
    """Which is parsed before it is cut."""
    kind = '<EVENT_TYPE><VALUE type="car"/></EVENT_TYPE>'
    event = f'<PUBLISH_EVENT id="e{{}}">{kind}<ATTRIBUTES>{{}}</ATTRIBUTES></PUBLISH_EVENT>'
    bound = '<ATTR type="brand">mini</ATTR>\n<ATTR type="year">{}</ATTR>'
    events = [event.format(n, bound.format(1900 + n)) for n in range(8)] + ["<X/>", event.format(9, "")]
    for ending in ("</EVENTS>", "</EVENT>"):
        (tmp_path / "e.xml").write_text("<EVENTS>" + "\n".join(events) + ending)
        found, refused, problem = check(tmp_path / "e.xml")
        assert ([line for line, _ in found], [one.line for one in refused]) == ([*range(1, 17, 2)], [17, 18])
        assert (problem is None) == (ending == "</EVENTS>")


def test_parquet(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array(["e1", b"\xff", "e3", None, "e5"] * 4, pa.binary()).view(pa.string()),
            "event_type": pa.array(["car"] * 20).dictionary_encode(),
            "brand": ["mini", "mini", "mimi", "opel", "audi"] * 4,
            "year": pa.array(range(20), pa.decimal128(8, 2)),
            "paint": [["red"], None, ["red", "red"], [], ["blue", "red"]] * 4,
        }
    )
    pq.write_table(table, tmp_path / "e.parquet", row_group_size=7)
    events, refused, problem = check(tmp_path / "e.parquet")
    assert [line for line, _ in events] == [n for n in range(1, 21) if n % 5 in (0, 1)]
    assert (len(refused), problem) == (12, None)
    pq.write_table(table.select(["id", "brand"]), tmp_path / "wrong.parquet")
    assert "the column 'event_type' is missing" in str(check(tmp_path / "wrong.parquet")[2])
