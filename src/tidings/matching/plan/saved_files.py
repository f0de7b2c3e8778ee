"""Tracks which file holds which piece of a matcher, so that the next plan need not write it again.

Pieces (segments and chunks of rows) are immutable, so their files stay valid. Each plan links the files it shares with
the previous one. A plan is complete by itself, so older plans can be deleted safely."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from tidings.errors import MatchingError
from tidings.matching.index.segment import Segment
from tidings.matching.plan.checksum import checksum_of
from tidings.matching.plan.chunks import Chunk
from tidings.matching.plan.segment_file import rows_of

Piece = Segment | Chunk


class SavedFile(NamedTuple):
    """`mark` distinguishes the file from another of the same name and from a modified version."""

    name: str
    size: int
    checksum: str
    mark: tuple[int, int]


class UnusablePlan(MatchingError):
    """The folder is not a plan, has another format, or is damaged: the folder, the file and the problem."""

    def __init__(self, folder: str, file: str, problem: str) -> None:
        super().__init__(folder, file, problem)

    def __str__(self) -> str:
        folder, file, problem = self.args
        return f"{folder} cannot be used as a plan: {file} {problem}; save it again from the subscriptions"


class SavedFiles:
    """Holds pieces weakly: unused ones are forgotten here, too."""

    def __init__(self) -> None:
        self._files: WeakKeyDictionary[Piece, SavedFile] = WeakKeyDictionary()
        self._used = 0  # names used so far; each has its own number

    def know(self, files: dict[Piece, SavedFile]) -> None:
        for piece, file in files.items():
            self._files[piece] = file
            self._used = max(self._used, int(file.name.removesuffix(".arrow").rpartition("-")[2]) + 1)

    def put(self, piece: Piece, kind: str, folder: Path, base: Path | None) -> SavedFile:
        """Puts the piece's file into the folder: linked or copied from the base if it is there, else written."""
        known = self._files.get(piece)
        if known is not None and base is not None and (taken := _taken(known, folder, base)):
            return taken
        if known is None:
            self._used += 1
            return _written(folder / f"{kind}-{self._used - 1}.arrow", piece)
        written = _written(folder / known.name, piece)
        # An opened matcher's memory is the file itself, so a fresh checksum would hide damage done to it since.
        if written.checksum != known.checksum:
            raise UnusablePlan(str(base or folder), known.name, "was damaged after it was opened")
        return written


def _taken(known: SavedFile, folder: Path, base: Path) -> SavedFile | None:
    """Links the file, or copies it if linking fails; None if the base no longer has it unchanged."""
    source, target = base / known.name, folder / known.name
    try:
        status = source.stat()
        if (status.st_size, _mark_of(status)) != (known.size, known.mark):
            return None
        try:
            os.link(source, target)
            return known
        except OSError:  # across file systems, unsupported, or too many links
            shutil.copyfile(source, target)
    except (FileNotFoundError, NotADirectoryError):
        return None
    sync(target)
    return saved_file(target, known.checksum)


def _written(path: Path, piece: Piece) -> SavedFile:
    rows = rows_of(piece) if isinstance(piece, Segment) else piece.rows
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_batch(rows)
    sync(path)
    return saved_file(path, checksum_of(bytes_of(path)))


def saved_file(path: Path, checksum: str) -> SavedFile:
    """Records what is known about a file."""
    status = path.stat()
    return SavedFile(path.name, status.st_size, checksum, _mark_of(status))


def bytes_of(path: Path) -> Any:
    """Memory-maps a file as an array that Arrow can read, too."""
    return np.memmap(path, np.uint8, mode="r").view(np.ndarray)


def sync(path: Path) -> None:
    """Flushes a file, or a folder's list of names, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mark_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_ino, status.st_mtime_ns
