"""Packed bytes, unpacked no farther than a limit: gzip, bzip2, xz, and zip with one file in it.

A small packed file can hold terabytes, so each is unpacked piece by piece and given up once it is too large."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from typing import Protocol

from tidings.feeds.errors import UnreadableFeed

LARGEST = 32 << 20  # bytes of one page or file, unpacked, which are in memory while it is read
_MOST_MEMORY = 128 << 20  # bytes that xz may use for its window
_GZIP = 31  # zlib's number for it
_STARTS = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\xfd7zXZ\x00": "xz",
    **{b"BZh%d1AY&SY" % level: "bzip2" for level in range(1, 10)},
    b"\x28\xb5\x2f\xfd": "zstd",
}
ENDINGS = ("gz", "bz2", "xz", "zip")  # of packed files' names


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


def unpacked(place: str, body: bytes, largest: int = LARGEST) -> bytes:
    """The same bytes where they are not packed. Raises UnreadableFeed."""
    packing = packing_of(body)
    try:
        match packing:
            case "":
                return body
            case "gzip":
                return _pieces(place, body, lambda: zlib.decompressobj(wbits=_GZIP), largest)
            case "bzip2":
                return _pieces(place, body, bz2.BZ2Decompressor, largest)
            case "xz":
                return _pieces(place, body, lambda: lzma.LZMADecompressor(memlimit=_MOST_MEMORY), largest)
            case "zip":
                return _only_body(place, body, largest)
            case _:
                raise UnreadableFeed(place, f"it is compressed ({packing}); decompress it first")
    except (zlib.error, OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, ValueError) as problem:
        raise UnreadableFeed(place, f"it cannot be decompressed ({packing}): {problem}") from None


def packing_of(start: bytes) -> str:
    """How what begins so is packed; empty where it is not."""
    return next((name for first, name in _STARTS.items() if start.startswith(first)), "")


def only_file(place: str, archive: zipfile.ZipFile) -> str:
    """The name of the one file in it. Raises UnreadableFeed."""
    names = [one.filename for one in archive.infolist() if not one.is_dir() and not _is_hidden(one.filename)]
    if len(names) != 1:
        raise UnreadableFeed(place, f"it is a zip with {len(names):,} files; only one file is read: unpack it first")
    return names[0]


def _pieces(place: str, body: bytes, unpacker: Callable[[], _Unpacker], largest: int) -> bytes:
    """A packed file may have several parts, one after the other."""
    made: list[bytes] = []
    size = 0
    while body.strip(b"\x00"):
        part = unpacker()
        piece = part.decompress(body, largest + 1 - size)
        size += len(piece)
        made.append(piece)
        if size > largest:
            raise _too_large(place, largest)
        if not part.eof:
            raise UnreadableFeed(place, "the compressed data is cut off; get it again")
        body = part.unused_data
    return b"".join(made)


def _only_body(place: str, body: bytes, largest: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(body)) as archive, archive.open(only_file(place, archive)) as file:
        found = file.read(largest + 1)
    if len(found) > largest:
        raise _too_large(place, largest)
    return found


def _is_hidden(name: str) -> bool:
    """As the folders that a Mac adds."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _too_large(place: str, largest: int) -> UnreadableFeed:
    return UnreadableFeed(place, f"it has more than {largest:,} bytes uncompressed, the most allowed")
