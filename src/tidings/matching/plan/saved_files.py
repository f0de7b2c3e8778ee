"""Which file holds which piece of a matcher: what one plan has, the next need not write again.

Pieces (segments, and chunks of rows) never change, so the file of one is right for ever. It is linked from plan to
plan; a folder with all its links is complete by itself, and deleting an older plan harms nobody."""

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
    """`mark` tells the file itself from another of its name, and from what somebody made of it."""

    name: str
    size: int
    checksum: str
    mark: tuple[int, int]


class UnusablePlan(MatchingError):
    """A folder that is no plan, is of another format, or is damaged: the folder, the file and what is wrong."""

    def __init__(self, folder: str, file: str, problem: str) -> None:
        super().__init__(folder, file, problem)

    def __str__(self) -> str:
        folder, file, problem = self.args
        return f"{folder} cannot be used as a plan: {file} {problem}; save it again from the subscriptions"


class SavedFiles:
    """Pieces that are no longer used anywhere are forgotten here too."""

    def __init__(self) -> None:
        self._files: WeakKeyDictionary[Piece, SavedFile] = WeakKeyDictionary()
        self._used = 0  # names: each has a number of its own

    def know(self, files: dict[Piece, SavedFile]) -> None:
        for piece, file in files.items():
            self._files[piece] = file
            self._used = max(self._used, int(file.name.removesuffix(".arrow").rpartition("-")[2]) + 1)

    def put(self, piece: Piece, kind: str, folder: Path, base: Path | None) -> SavedFile:
        """Brings the piece's file into the folder: linked or copied from the base if that has it, else written."""
        known = self._files.get(piece)
        if known is not None and base is not None and (taken := _taken(known, folder, base)):
            return taken
        if known is None:
            self._used += 1
            return _written(folder / f"{kind}-{self._used - 1}.arrow", piece)
        written = _written(folder / known.name, piece)
        # The memory of an opened matcher is a file: a fresh checksum would make good what happened to it since.
        if written.checksum != known.checksum:
            raise UnusablePlan(str(base or folder), known.name, "was damaged after it was opened")
        return written


def _taken(known: SavedFile, folder: Path, base: Path) -> SavedFile | None:
    """The file as a link, or where links are refused as a copy; None when the base no longer has it as it was."""
    source, target = base / known.name, folder / known.name
    try:
        status = source.stat()
        if (status.st_size, _mark_of(status)) != (known.size, known.mark):
            return None
        try:
            os.link(source, target)
            return known
        except OSError:  # across file systems, by some of them, and when there are too many
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
    """What is known of a file from now on."""
    status = path.stat()
    return SavedFile(path.name, status.st_size, checksum, _mark_of(status))


def bytes_of(path: Path) -> Any:
    """A file's bytes by memory map, as an array that Arrow can read from too."""
    return np.memmap(path, np.uint8, mode="r").view(np.ndarray)


def sync(path: Path) -> None:
    """Waits until a file, or a folder's list of names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mark_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_ino, status.st_mtime_ns
