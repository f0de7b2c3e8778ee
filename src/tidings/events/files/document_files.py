"""XML documents in files, one event each: a file, or all `.xml` files in a folder and below it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tidings.events.batch import EventBatch
from tidings.events.document_events import document_event, event_type_of_documents
from tidings.events.event import Event
from tidings.events.files.reading import Reading, UnreadableFile
from tidings.events.refusal import Refused, RefusedEvent
from tidings.events.validation import validate
from tidings.schema import Catalog

_AT_ONCE = 500  # files


def read_document_files(source: str | Path, catalog: Catalog, event_type: str | None = None) -> Iterator[Reading]:
    """The id of an event is its file's path within the folder; `line` of a refused one is its number among the files.
    Raises EventError, or UnknownName for the event type."""
    named = event_type_of_documents(catalog, event_type)
    return _readings(Path(source), catalog, named)


def _readings(source: Path, catalog: Catalog, event_type: str) -> Iterator[Reading]:
    files = sorted(source.rglob("*.xml")) if source.is_dir() else [source]
    position = 1
    for start in range(0, len(files), _AT_ONCE):
        events: list[Event] = []
        refused: list[Refused] = []
        for number, file in enumerate(files[start : start + _AT_ONCE], start + 1):
            id = str(file.relative_to(source)) if source.is_dir() else file.name
            try:
                document = file.read_bytes()
            except OSError as problem:
                raise UnreadableFile(str(file), problem.strerror or str(problem)) from None
            try:
                raw = document_event(document, (event_type,), catalog, {"id": (id,)})
                events.append(validate(raw, catalog))
            except RefusedEvent as problem:
                refused.append(Refused(number, id, problem.errors))
        yield Reading(EventBatch.of(events, catalog, position), refused)
        position += len(events)
