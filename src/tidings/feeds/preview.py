"""Records as the events they would become, and what the schema would say to them; nothing is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from tidings.events import BrokenRule, RefusedEvent, validate
from tidings.events.quick_look import QuickLook
from tidings.events.validation import FARTHEST_AHEAD
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.records.json_values import Damaged
from tidings.feeds.records.records import Record
from tidings.schema import Catalog, Instant
from tidings.settings import Settings

_MOST_HINTED = 100  # records
_LARGEST = Settings().largest_event  # bytes, unless the server is set otherwise
_SECOND = len("2026-05-01T10:00:00")
_encode = msgspec.json.Encoder().encode


class Preview:
    """Of one mapping for one schema, as a server would judge now that has the usual limits."""

    def __init__(self, mapping: Mapping, catalog: Catalog, now: Instant | None = None) -> None:
        self._now = Instant.of(datetime.now(UTC)) if now is None else now
        self._farthest = str(Instant(self._now + FARTHEST_AHEAD))[:_SECOND]
        self._growing = {one.attribute for one in mapping.fields if one.grow}
        self._maker = EventMaker(mapping, catalog)
        self._catalog = catalog
        self._look = QuickLook(catalog).bindings
        self._hints = _MOST_HINTED

    def of(self, record: Record) -> dict[str, Any]:
        """`{"event": …}`, with `errors` where it would be refused, `appends` where values are new, and `left_out` for
        bad values without which it would be published."""
        made = self._maker.make(record)
        broken = list(made.errors)
        if type(record) is Damaged:
            return {"event": made.raw, "errors": [error.as_json() for error in broken]}
        # Else it is valid: the usual case.
        if self._look(made.raw) is None or made.raw.get("time", "")[:_SECOND] >= self._farthest:
            broken += self._errors(made.raw)
        broken += _too_large(made.raw)
        shown: dict[str, Any] = {"event": made.raw}
        new = [error for error in broken if self._is_unseen(error)]
        if new:
            shown["appends"] = {str(error.attribute): error.as_json()["value"] for error in new}
        if wrong := [error.as_json() for error in broken if error not in new]:
            shown["errors"] = wrong
        if made.left_out:
            shown["left_out"] = [error.as_json() for error in made.left_out]
        return shown

    def _errors(self, raw: object) -> Sequence[BrokenRule]:
        """Looking for what was meant takes milliseconds among a thousand words: only the first faults are told so."""
        errors = _errors(raw, self._catalog, self._now, hints=False)
        if not self._hints or all(map(self._is_unseen, errors)):
            return errors
        self._hints -= 1
        return _errors(raw, self._catalog, self._now, hints=True)

    def _is_unseen(self, error: BrokenRule) -> bool:
        """A value that `run` would append first."""
        domain = self._catalog.domain_of(error.attribute) if error.attribute in self._growing else None
        return error.rule == "domain" and domain is not None and bool(domain.vocabulary or domain.kind == "enumerated")


def previewed(mapping: Mapping, records: Iterable[Record], catalog: Catalog) -> Iterator[dict[str, Any]]:
    """Each record."""
    return map(Preview(mapping, catalog).of, records)


def _too_large(raw: object) -> Iterator[BrokenRule]:
    try:
        size = len(_encode(raw))
    except UnicodeEncodeError:
        return  # of which `validate` says what is wrong with it
    if size > _LARGEST:
        yield BrokenRule("form", None, None, f"the event has {size:,} bytes; at most {_LARGEST:,} are allowed")


def _errors(raw: object, catalog: Catalog, now: Instant, hints: bool) -> Sequence[BrokenRule]:
    try:
        validate(raw, catalog, now, hints=hints)
    except RefusedEvent as refused:
        return refused.errors
    return ()
