"""Files with more bytes than are ever in memory at once: CSV, JSON Lines and logs are read piece by piece."""

import bz2
import gzip
import io
import json
import lzma
import tracemalloc
import zipfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tidings.feeds import UnreadableFeed, infer
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.ready.recognition import recognized
from tidings.feeds.records.records import Located, located_records
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.pace import Pace
from tidings.feeds.sources.packed import LARGEST
from tidings.feeds.sources.sources import open_source

CELL = "x" * 110_000
ROWS = LARGEST // len(CELL) + 20


def zipped(body: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", body)
    return made.getvalue()


def csv() -> bytes:
    return "".join(["no,text\n", *(f"{n},{CELL}\n" for n in range(ROWS))]).encode()


def content_of(path: Path) -> Content:
    source = open_source(Origin(file=path), sample=True)
    (content,) = source.look()
    return content


def numbers(found: list[Located]) -> list[int]:
    return [int(one.record["no"][0]) for one in found]


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, zipped, lambda body: lzma.compress(body, preset=0)]
)
def test_rows_are_read_packed_or_not(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(pack(csv()))
    content = content_of(tmp_path / "rows.csv")
    assert content.large is not None
    assert recognized(content, "rows").format == "csv"
    found = list(located_records(content, Layout("csv"), ["no"]))
    assert numbers(found) == list(range(ROWS))
    assert found[-1].line == ROWS + 1


def test_the_memory_that_it_takes_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(csv())
    content = content_of(tmp_path / "rows.csv")
    said: list[str] = []
    pace = Pace(said.append, count(0, 10).__next__)
    tracemalloc.start()
    try:
        for one in located_records(content, Layout("csv"), ["no", "text"]):
            pace.see(content, one)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4 << 20 < LARGEST
    assert "rows.csv: 160 records, 0/s, 49%, about 1,649 s left" in said[159]


def test_json_lines_and_logs(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"no": n, "text": CELL}) + "\n" for n in range(ROWS))
    (tmp_path / "rows.json").write_text(lines)
    content = content_of(tmp_path / "rows.json")
    layout = Layout(recognized(content, "rows.json").format)
    assert numbers(list(located_records(content, layout, ["no"]))) == list(range(ROWS))
    proposal = infer(content, layout, Origin(file=tmp_path / "rows.json"), "row")
    assert [str(one.kind) for one in proposal.mapping.fields] == ["numeric", "text"]
    found = list(located_records(content, Layout("log"), ["line"]))
    assert [one.line for one in found] == list(range(1, ROWS + 1))


def test_one_document_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps([{"text": CELL} for _ in range(ROWS)], indent=0))
    (tmp_path / "rows.xml").write_text(f"<r>{f'<x>{CELL}</x>' * ROWS}</r>")
    for name, layout in (("json", Layout("json")), ("json", Layout("json", "/rows")), ("xml", Layout("xml", "x"))):
        with pytest.raises(UnreadableFeed, match="larger files must be CSV, JSON Lines or logs"):
            list(located_records(content_of(tmp_path / f"rows.{name}"), layout, ["text"]))


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (lambda body: body + b"1,\xff\n", "not valid UTF-8; set another with the mapping's `encoding`"),
        (lambda body: gzip.compress(body)[:-2_000], "it cannot be read: Compressed file ended"),
        (lambda body: body + b'1,"x\n', f"line {ROWS + 2}: a quote is never closed"),
    ],
)
def test_what_was_read_before_the_damage_counts(damaged: Callable[[bytes], bytes], said: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(damaged(csv()))
    records = located_records(content_of(tmp_path / "rows.csv"), Layout("csv"), ["no"])
    read: list[Located] = []
    with pytest.raises(UnreadableFeed, match=said):
        read.extend(records)
    assert len(read) > ROWS // 2


def test_another_encoding_and_a_mark_of_utf_8(tmp_path: Path) -> None:
    for text, encoding in (("\ufeffno,text\n", "utf-8"), ("no,text\n", "utf-16")):
        (tmp_path / "rows.csv").write_bytes((text + f"ü,{CELL}\n" * ROWS).encode(encoding))
        found = located_records(content_of(tmp_path / "rows.csv"), Layout("csv"), ["no"])
        assert next(found).record == {"no": ("ü",)}
