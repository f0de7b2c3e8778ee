"""A binary stream as numbered lines, for the readers of text files.

A line longer than the limit is reported without its bytes, so that a file without newlines cannot fill the
memory.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import IO, Any

from tidings.errors import EventError

LONGEST_LINE = 1_000_000
TOO_LONG = f"the line is longer than {LONGEST_LINE:,} bytes"
_BOM = b"\xef\xbb\xbf"
_FOREIGN = {
    b"PAR1": "a Parquet file: read it with the form 'parquet' or name it .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it or save it as CSV",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
    b"BZh": "compressed by bzip2: unpack it or use gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it or use gzip",
    b"\xfd7zXZ": "compressed by xz: unpack it or use gzip",
    b"<?xml": "XML: read it with the form 'xml' or name it .xml",
}


class ForeignFile(EventError):
    """A file is not of the form it should be: its name, and what it looks like."""

    def __init__(self, name: str, looks_like: str) -> None:
        super().__init__(name, looks_like)

    def __str__(self) -> str:
        return "{}: this looks like {}".format(*self.args)


class EmptyFile(EventError):
    def __init__(self, name: str) -> None:
        super().__init__(name)

    def __str__(self) -> str:
        return f"{self.args[0]}: the file is empty; a file of events has at least one line"


class DamagedFile(EventError):
    """A file breaks off or cannot be unpacked: its name, how far it could be read, and why."""

    def __init__(self, name: str, place: str, reason: str) -> None:
        super().__init__(name, place, reason)

    def __str__(self) -> str:
        return "{}: damaged after {}: {}".format(*self.args)


def numbered_lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, bytes | None]]:
    """Each line with its number and its newline, None for one that is too long; blank lines too.

    Unpacks gzip, skips a byte order mark; raises ForeignFile, EmptyFile or DamagedFile.
    """
    number = 0
    blank = True
    try:
        buffered = unpacked(stream)
        while line := buffered.readline(LONGEST_LINE + 2):
            number += 1
            if number == 1:
                line = _beginning(line, name)
            if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                _skip_to_newline(buffered)
                blank = False
                yield number, None
                continue
            if blank:
                blank = not line.strip()
            yield number, line
    except (EOFError, OSError, zlib.error) as problem:
        raise DamagedFile(name, f"line {number}", str(problem)) from None
    if blank:
        raise EmptyFile(name)


def _skip_to_newline(buffered: Any) -> None:
    while (rest := buffered.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass


def unpacked(stream: IO[bytes]) -> Any:
    """The stream as a buffered one; what gzip has packed is unpacked as it is read."""
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(_Raw(stream))
    if bytes(buffered.peek(2)[:2]) == b"\x1f\x8b":
        return io.BufferedReader(gzip.GzipFile(fileobj=buffered), 1 << 17)
    return buffered


class _Raw(io.RawIOBase):
    """Anything with `read`, for BufferedReader."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _beginning(line: bytes, name: str) -> bytes:
    for magic, looks_like in _FOREIGN.items():
        if line.startswith(magic):
            raise ForeignFile(name, looks_like)
    if b"\0" in line:
        raise ForeignFile(name, "no text: there are zero bytes in its first line")
    return line.removeprefix(_BOM)
