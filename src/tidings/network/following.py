"""Follows the journal, which the gateway writes: the machine hears of its subscriptions, growth and own events.

Before the machine hears of other servers' heads it hears of every subscription that was confirmed by then: else a mark
could pass an event that one of them is owed.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tidings.network.engine_filters import EngineFilters
from tidings.network.schema_log import SchemaLog
from tidings.network.stored import Stamps
from tidings.overlay import messages as m
from tidings.overlay.server import Server
from tidings.store import Standing, Store

_CHANGES = ("subscribe", "edit", "pause", "resume", "withdraw", "expire")


class _Named(msgspec.Struct):
    id: str


_named = msgspec.json.Decoder(_Named).decode


def subscribed(store: Store, filters: EngineFilters) -> dict[str, str]:
    """The filters of all active subscriptions, as they travel."""
    active = (one for one in store.subscriptions() if one.state == "active")
    return {name: text for one in active for name, text in _filters_of(one, filters).items()}


def _filters_of(standing: Standing, filters: EngineFilters) -> dict[str, str]:
    if not standing.composite:
        return {standing.id: filters.travelling(standing.filter)}
    return {f"{standing.id}\n{number}": text for number, text in enumerate(filters.of_composite(standing.filter))}


class Following:
    """After a position. The machine gets commands by `command`, growth by `complete`."""

    def __init__(
        self,
        store: Store,
        server: Server,
        stamps: Stamps,
        schema: SchemaLog,
        after: int,
        command: Callable[[m.Command], None],
        complete: Callable[[], None],
    ) -> None:
        self._store, self._server, self._stamps, self._schema = store, server, stamps, schema
        self._followed = after
        self._command, self._complete = command, complete

    def look(self) -> None:
        """Up to the tail."""
        tail = self._store.tail()
        if tail <= self._followed:
            return
        entries = list(self._store.changes(self._followed, tail))
        if any(one.kind == "schema" for one in entries):
            self._complete()
        if ids := {_named(one.body).id for one in entries if one.kind in _CHANGES}:
            self.subscribe(ids)
        self._follow_events(tail)
        self._followed = tail

    def subscribe(self, ids: set[str]) -> None:
        """Tells the machine how these subscriptions stand now."""
        standing = {one.id: one for one in self._store.subscriptions_with(ids) if one.state == "active"}
        known = self._server.durable.subscriptions
        for id in sorted(ids):
            wanted = _filters_of(standing[id], self._schema.filters) if id in standing else {}
            self._server.moving.pop(id, None)  # it is offered again as it is now
            for old in [one for one in known if one.partition("\n")[0] == id and one not in wanted]:
                self._command(m.Unsubscribe(old))
            for name, text in wanted.items():
                if known.get(name) != text:
                    self._command(m.Subscribe(name, text))
        self._command(m.Tick())

    def _follow_events(self, tail: int) -> None:
        after = self._followed
        while rows := self._store.own_events(after, tail):
            events = self._stamps.events(self._server.name, rows)
            self._server.durable.journal.position = rows[-1][0]
            self._command(m.Follow(tuple(events)))
            after = rows[-1][0]
