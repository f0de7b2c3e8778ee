"""A file that is too large to be in memory as a whole: read piece by piece, unpacked on the way."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.sources.packed import LARGEST, only_file, packing_of


class LargeFile:
    """Knows which share of it has been read, for those who wait."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = path.stat().st_size
        self._file: IO[bytes] | None = None

    @property
    def share(self) -> float:
        """Of its bytes as they are on the disk."""
        if self._file is None or self._file.closed or not self._size:
            return 0.0
        return min(1.0, self._file.tell() / self._size)

    def start(self, size: int) -> bytes:
        """Its first bytes, unpacked."""
        with self._path.open("rb") as file, opened(str(self._path), file) as unpacked:
            return unpacked.read(size)

    @contextmanager
    def text(self, encoding: str, newline: str) -> Iterator[io.TextIOBase]:
        """From its beginning; lines end as those of `open` do. Raises OSError and UnreadableFeed."""
        with self._path.open("rb") as self._file, opened(str(self._path), self._file) as unpacked:
            yield io.TextIOWrapper(cast(Any, unpacked), encoding, "surrogateescape", newline)


def opened(place: str, file: IO[bytes]) -> IO[bytes]:
    """Its bytes, unpacked while they are read. Raises UnreadableFeed."""
    packing = packing_of(file.read(16))
    file.seek(0)
    match packing:
        case "":
            return file
        case "gzip":
            return cast(IO[bytes], gzip.GzipFile(fileobj=file))
        case "bzip2":
            return bz2.BZ2File(file)
        case "xz":
            return lzma.LZMAFile(file)
        case "zip":
            archive = zipfile.ZipFile(file)
            return archive.open(only_file(place, archive))
        case _:
            raise UnreadableFeed(place, f"it is compressed ({packing}); decompress it first")


def is_large(place: str, body: bytes) -> bool:
    """Whether a file that begins so, or is that, has more than LARGEST bytes unpacked."""
    if len(body) > LARGEST:
        return True
    if not packing_of(body[:16]):
        return False
    try:
        with opened(place, io.BytesIO(body)) as unpacked:
            return len(unpacked.read(LARGEST + 1)) > LARGEST
    except (UnreadableFeed, *BROKEN):
        return False  # the reader reports why


BROKEN = (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, ValueError)
