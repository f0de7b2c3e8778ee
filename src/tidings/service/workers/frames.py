"""Frames over a pipe between the service and its own processes: a length, then that many bytes."""

from __future__ import annotations

import os
from collections.abc import Callable

_LENGTH = 8  # bytes
_AT_ONCE = 1 << 20


def write_frame(descriptor: int, data: bytes) -> None:
    rest = memoryview(len(data).to_bytes(_LENGTH, "big") + data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_frame(read: Callable[[int], bytes]) -> bytes:
    """`read(n)` gives at most n bytes, none at the end. Raises EOFError."""
    length = int.from_bytes(_exactly(read, _LENGTH), "big")
    return _exactly(read, length)


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    pieces = []
    while size:
        piece = read(min(size, _AT_ONCE))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
