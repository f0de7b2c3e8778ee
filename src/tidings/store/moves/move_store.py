"""The methods of the store for subscriptions that move between servers."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.schema import Instant
from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.moves import offers
from tidings.store.moves.offers import Departure, Offer


class MoveStore:
    """Every method is one short transaction."""

    database: Database
    clock: ClockGuard

    def put_ticket(self, digest: bytes, owner: str, expires: Instant) -> None:
        """Subscriptions of other servers may move in for this account."""
        offers.put_ticket(self.database, digest, owner, self.clock.now(), expires)

    def depart(self, departures: Iterable[Departure]) -> None:
        """These subscriptions are to move to another server."""
        offers.put_departures(self.database, departures)

    def departures(self, owner: str | None = None) -> list[Departure]:
        return offers.departures(self.database, owner)

    def note_departure(self, subscription: str, problem: str) -> None:
        """Why it does not go."""
        offers.note_problem(self.database, subscription, problem)

    def offer(self, subscription: str, after: int = 0) -> Offer | None:
        """A subscription as another server may take it, with everything at one moment, but of its notifications only
        those after a cursor; None where there is none."""
        return offers.offer(self.database, subscription, after)

    def origins(self, positions: Iterable[int]) -> dict[int, tuple[str, int, int]]:
        """By position: origin, incarnation and position there, of events of other servers."""
        return offers.origins(self.database, positions)
