"""The subscriptions that are to move to another server: offered until it has them, then withdrawn here.

What is to leave is stored, so a crash at any step only means that it is offered again; the new server takes it once.
"""

from __future__ import annotations

from tidings.network.engine_filters import EngineFilters
from tidings.network.moving_out import NotReady, move_out
from tidings.network.stored import Stamps
from tidings.overlay import messages as m
from tidings.overlay.server import Server
from tidings.store import Store

_AGAIN = 2.0  # seconds between two looks at what is to leave


class Departures:
    """`waits` says of each that was not offered yet why."""

    def __init__(self, store: Store, server: Server, stamps: Stamps) -> None:
        self._store, self._server, self._stamps = store, server, stamps
        self._next = 0.0
        self.some = True  # there may be some
        self.waits: dict[str, str] = {}

    def due(self, now: float, filters: EngineFilters) -> list[m.Move]:
        """What is to be offered now."""
        if not self.some or now < self._next:
            return []
        self._next = now + _AGAIN
        departures = self._store.departures()
        self.some = bool(departures)
        self.waits = {}
        moves = []
        for one in departures:
            if one.problem or one.subscription in self._server.moving:
                continue
            if one.server not in self._server.hops:
                self.waits[one.subscription] = f"the server {one.server!r} cannot be reached"
                continue
            try:
                move = move_out(self._store, self._server.name, self._stamps, filters, one)
            except NotReady as problem:
                self.waits[one.subscription] = str(problem)
                continue
            if move is None:
                self._store.departed(one.subscription)
            else:
                moves.append(move)
        return moves

    def look(self) -> None:
        """There is another one."""
        self.some, self._next = True, 0.0

    def refused(self, subscription: str, reason: str) -> None:
        """By the new server: it stays here until somebody tries again."""
        self._store.note_departure(subscription, reason)
