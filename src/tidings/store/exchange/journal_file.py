"""A journal as a file and back: JSON Lines, a header, then one line an entry.

    {"form": "tidings journal", "format": 2, "journal": "…uuid…", "tail": 2, "complete_from": 1, "watermark": null}
    {"position": 1, "accepted": "2026-05-01T10:00:00Z", "kind": "schema", "schema_version": 2, "body": {…}}

An event that was removed leaves `{"position": 7, "accepted": "…", "removed": "…"}`, the key by which its duplicates are
known; once the keys of positions 7 to 9 have gone too, `{"position": 7, "forgotten": 9}` is all that is left of them.
"""

from __future__ import annotations

import os
from heapq import merge
from operator import attrgetter
from pathlib import Path
from typing import IO
from uuid import UUID

import msgspec
from sqlalchemy import select

from tidings.schema import Instant
from tidings.store.errors import BrokenJournal, JournalFile, StoreNotEmpty
from tidings.store.exchange.importer import Forgotten, Import, Removed
from tidings.store.journal.entries import Entry
from tidings.store.journal.watermark import before_first_event
from tidings.store.store import Store
from tidings.store.tables import about
from tidings.whole_file import whole_file

FORM = "tidings journal"
FORMAT = 2
_LONGEST_HEADER = 10_000
_ROWS_AT_ONCE = 10_000
ENTRIES = "SELECT position, accepted, kind, schema_version, body FROM journal WHERE position > ? ORDER BY position"
REMOVED = "SELECT position, accepted, key FROM removed_keys WHERE position < ? ORDER BY position"


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    form: str
    format: int
    journal: str
    tail: int
    complete_from: int
    watermark: str | None = None  # before the first event; format 1 does not have it


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An entry; a removed event with its key; or events up to the position `forgotten`, whose keys are gone too."""

    position: int
    accepted: str = ""
    kind: str = ""
    schema_version: int = 0
    body: msgspec.Raw = msgspec.Raw()
    removed: str = ""
    forgotten: int = 0


_encoder = msgspec.json.Encoder()
_decode_line = msgspec.json.Decoder(Line).decode
_decode_header = msgspec.json.Decoder(Header).decode


def export_journal(store: Store, path: str | os.PathLike[str]) -> int:
    """Writes the file whole, as the journal is at one moment; answers how many lines it has after the header."""
    path = Path(path)
    lines = 0
    with whole_file(path, durable=True) as file, store.database.reading() as connection:
        row = connection.execute(select(about.c.tail, about.c.complete_from)).one()
        mark = before_first_event(connection)
        said = None if mark is None else str(Instant(mark))
        header = Header(FORM, FORMAT, store.id, row.tail, row.complete_from, said)
        file.write(_encoder.encode(header) + b"\n")
        stream = store.database.dialect.stream
        entries = (_entry_line(*one) for page in stream(connection, ENTRIES, (0,), _ROWS_AT_ONCE) for one in page)
        missing = stream(connection, REMOVED, (row.complete_from,), _ROWS_AT_ONCE)
        removed = (_removed_line(*one) for page in missing for one in page)
        last = 0
        for line in merge(entries, removed, key=attrgetter("position")):
            if line.position > last + 1 and last + 1 < row.complete_from:
                file.write(_encoder.encode(Line(last + 1, forgotten=line.position - 1)) + b"\n")
                lines += 1
            file.write(_encoder.encode(line) + b"\n")
            last = line.position
            lines += 1
        if last < row.tail and row.complete_from > row.tail:
            file.write(_encoder.encode(Line(last + 1, forgotten=row.tail)) + b"\n")
            lines += 1
    return lines


def import_journal(path: str | os.PathLike[str], store: Store) -> int:
    """Reads the file into an empty store, all or nothing; answers how many entries. Raises JournalFile, StoreNotEmpty.

    The journal keeps its id, positions and times. Events are validated and filters bound again.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _import(file, str(path), store)
    except OSError as problem:
        raise JournalFile(str(path), 0, problem.strerror or str(problem)) from None


def _import(file: IO[bytes], path: str, store: Store) -> int:
    header = _header(file, path)
    with store.database.writing() as connection:
        tail = connection.execute(select(about.c.tail)).scalar_one()
        if tail:
            raise StoreNotEmpty(store.database.shown_url, tail)
        mark = None if header.watermark is None else int(Instant.parse(header.watermark))
        importing = Import(connection, store.database.dialect, header.complete_from, mark)
        number = 1
        try:
            for number, line in enumerate(file, 2):
                importing.take(_read(line, number, path))
            importing.finish(header.journal, header.tail)
            store.clock.confirm(connection)  # the journal may be old; whoever imports it knows
        except BrokenJournal as problem:
            position, reason = problem.args
            raise JournalFile(path, importing.line_of(position) if position else number, str(reason)) from None
    store.id = header.journal
    return header.tail


def _header(file: IO[bytes], path: str) -> Header:
    line = file.readline(_LONGEST_HEADER)
    try:
        header = _decode_header(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise JournalFile(path, 1, "not a journal: the header is missing") from None
    if header.form != FORM:
        raise JournalFile(path, 1, f"not a journal but {header.form[:60]!r}")
    if header.format > FORMAT:
        raise JournalFile(path, 1, f"it has format {header.format}, this release knows {FORMAT}; install a newer one")
    try:
        if header.watermark is not None:
            Instant.parse(header.watermark)
    except ValueError as problem:
        raise JournalFile(path, 1, f"the watermark {problem}") from None
    try:
        UUID(header.journal)
    except ValueError:
        raise JournalFile(path, 1, "the journal's id is not a UUID") from None
    return header


def _read(line: bytes, number: int, path: str) -> Entry | Removed | Forgotten:
    try:
        read = _decode_line(line)
        if read.forgotten:
            return Forgotten(read.position, read.forgotten)
        if read.removed:
            accepted = Instant.parse(read.accepted) if read.accepted else None
            return Removed(read.position, read.removed.encode(), accepted)
        body = bytes(read.body).decode()
        return Entry(read.position, Instant.parse(read.accepted), read.kind, read.schema_version, body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        what = "the file breaks off here" if not line.endswith(b"\n") else "not a valid entry"
        raise JournalFile(path, number, f"{what}: {problem}") from None


def _entry_line(position: int, accepted: int, kind: str, version: int, body: str) -> Line:
    return Line(position, str(Instant(accepted)), kind, version, msgspec.Raw(body.encode()))


def _removed_line(position: int, accepted: int, key: bytes) -> Line:
    return Line(position, str(Instant(accepted)), removed=bytes(key).decode())
