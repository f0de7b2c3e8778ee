"""The subscriptions that are to move to another server: offered until it has them, then withdrawn here.

What is to leave is stored, so a crash at any step only means that it is offered again; the new server takes it once.
"""

from __future__ import annotations

from tidings.network.engine_filters import EngineFilters
from tidings.network.moving_out import MovingOut, NotReady
from tidings.network.stored import Stamps
from tidings.overlay import messages as m
from tidings.overlay.server import Server
from tidings.store import Store

_AGAIN = 2.0  # seconds between two looks at what is to leave
_PATIENCE = 5.0  # seconds until luggage is sent again


class Departures:
    """`waits` says of each that was not offered yet why."""

    def __init__(self, store: Store, server: Server, stamps: Stamps) -> None:
        self._store, self._server = store, server
        self._moving_out = MovingOut(store, server.name, stamps)
        self._stowed: dict[str, int] = {}  # up to which cursor the new servers have notifications
        self._sent: dict[str, float] = {}  # when luggage went that is not answered yet
        self._next = 0.0
        self.some = True  # there may be some
        self.waits: dict[str, str] = {}

    def due(self, now: float, filters: EngineFilters) -> list[tuple[str, m.Move | m.Luggage]]:
        """What is to be offered now, and to whom."""
        if not self.some or now < self._next:
            return []
        self._next = now + _AGAIN
        departures = self._store.departures()
        self.some = bool(departures)
        self.waits = {}
        moves: list[tuple[str, m.Move | m.Luggage]] = []
        for one in departures:
            if one.problem or one.subscription in self._server.moving:
                continue
            if now - self._sent.get(one.subscription, -_PATIENCE) < _PATIENCE:
                continue
            if one.server not in self._server.hops:
                self.waits[one.subscription] = f"the server {one.server!r} cannot be reached"
                continue
            try:
                after = self._stowed.get(one.subscription, 0)
                move = self._moving_out.next(one, after, filters, self._server.schema)
            except NotReady as problem:
                self.waits[one.subscription] = str(problem)
                continue
            if move is None:
                self._store.departed(one.subscription)
            else:
                moves.append((one.server, move))
                if isinstance(move, m.Luggage):
                    self._sent[one.subscription] = now
        return moves

    def stowed(self, answer: m.Stowed) -> None:
        """What the new server says of luggage."""
        if self._sent.pop(answer.subscription, None) is None:
            return
        if answer.refused:
            self.refused(answer.subscription, answer.refused)
        else:
            self._stowed[answer.subscription] = answer.upto
            self.look()

    def look(self) -> None:
        """There is another one."""
        self.some, self._next = True, 0.0

    def refused(self, subscription: str, reason: str) -> None:
        """By the new server: it stays here until somebody tries again."""
        self._sent.pop(subscription, None)
        self._stowed.pop(subscription, None)
        self._store.note_departure(subscription, reason)
