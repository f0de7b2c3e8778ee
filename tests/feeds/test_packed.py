"""Packed files are unpacked, no farther than a limit."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.mapping.mapping_file import format_of
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.packed import unpacked

ROWS = b"a,b\n1,x\n2,y\n"


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return made.getvalue()


PACKED = [
    gzip.compress(ROWS),
    gzip.compress(ROWS[:8]) + gzip.compress(ROWS[8:]),
    bz2.compress(ROWS),
    lzma.compress(ROWS),
    zipped(rows=ROWS),
    zipped(**{"__MACOSX/rows": b"x", "rows": ROWS}),
]


@pytest.mark.parametrize("body", PACKED, ids=range(len(PACKED)))  # packed bytes contain the time: no names for tests
def test_packed_rows_are_read(body: bytes) -> None:
    found = list(read_records(Content("there", body), Layout("csv"), ["b"]))
    assert found == [{"b": ("x",)}, {"b": ("y",)}]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda body: zipped(rows=body)])
def test_what_is_too_large_unpacked_is_given_up(pack: object) -> None:
    assert callable(pack)
    body = pack(b"0" * 1_000_000)
    assert len(body) < 10_000
    with pytest.raises(UnreadableFeed, match="more than 100,000 bytes uncompressed"):
        unpacked("there", body, 100_000)
    assert len(unpacked("there", body, 1_000_000)) == 1_000_000


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (gzip.compress(ROWS)[:-4], "is cut off"),
        (b"\x1f\x8b no gzip", "cannot be decompressed"),
        (zipped(a=ROWS, b=ROWS), "a zip with 2 files"),
        (zipped(a=ROWS)[:30], "cannot be decompressed"),
        (b"\x28\xb5\x2f\xfd....", r"compressed \(zstd\)"),
    ],
    ids=["cut gzip", "no gzip", "two files", "cut zip", "zstd"],
)
def test_what_cannot_be_unpacked_is_told(body: bytes, said: str) -> None:
    with pytest.raises(UnreadableFeed, match=said):
        unpacked("there", body)


def test_text_that_begins_like_bzip2_is_text() -> None:
    assert unpacked("there", b"BZh,price\n") == b"BZh,price\n"


def test_the_ending_before_the_packing_says_the_format() -> None:
    told = [format_of(name) for name in ("a.csv.gz", "a.JSONL.xz", "http://x/a.xml.zip?b=c.d", "gz", "a.gz")]
    assert told == ["csv", "json", "xml", None, None]
