"""The methods of the store for a server of a network."""

from __future__ import annotations

from tidings.store.clock.clock_guard import ClockGuard
from tidings.store.databases.database import Database
from tidings.store.network import advertisements, nodes
from tidings.store.network.advertisements import Advertisement
from tidings.store.network.nodes import Node, Place, StoredLink


class NetworkStore:
    """Every method is one short transaction."""

    database: Database
    clock: ClockGuard

    def begin_incarnation(self, name: str) -> str:
        """Of the server of this name; its identity. Raises NamedOtherwise."""
        return nodes.begin(self.database, name, int(self.clock.now()) // 1000)

    def node(self) -> Node | None:
        """None where the server never had a name."""
        return nodes.node(self.database)

    def taken_after(self, origin: str, mark: Place, most: int) -> list[Place]:
        """The first places of an origin's history after the mark whose events are in the journal."""
        with self.database.reading() as connection:
            return nodes.taken_after(connection, origin, mark, most)

    def own_events(
        self, after: int, upto: int, rows: int = 1_000, most_bytes: int = 1 << 22
    ) -> list[tuple[int, int, str]]:
        """Position, schema version and body of the first own events of (after, upto], as many as fit."""
        return nodes.own_events(self.database, after, upto, rows, most_bytes)

    def origin_of(self, position: int) -> str | None:
        """The server that accepted the event at this position; None: this one."""
        with self.database.reading() as connection:
            return nodes.origin_of(connection, position)

    def links(self) -> list[StoredLink]:
        return nodes.links(self.database)

    def link_of(self, digest: bytes) -> StoredLink | None:
        """By the digest of the token that the neighbour shows."""
        with self.database.reading() as connection:
            return nodes.link_of(connection, digest)

    def put_link(self, link: StoredLink) -> None:
        nodes.put_link(self.database, link, self.clock.now())

    def remove_link(self, name: str) -> bool:
        return nodes.remove_link(self.database, name)

    def advertise(self, owner: str, filter: str, most: int | None = None) -> Advertisement:
        """The filter's canonical text: what the account will publish. Raises TooManyAdvertisements where the account
        has `most` of them."""
        return advertisements.advertise(self.database, owner, filter, most)

    def withdraw_advertisement(self, id: str, owner: str) -> None:
        """Raises NoSuchAdvertisement."""
        advertisements.withdraw(self.database, id, owner)

    def advertisements(self) -> list[Advertisement]:
        """Of all accounts that are not disabled."""
        with self.database.reading() as connection:
            return advertisements.advertisements(connection)

    def advertised(self) -> int:
        """A number that changes with the advertisements."""
        with self.database.reading() as connection:
            return advertisements.version(connection)

    def forget_arrivals(self) -> int:
        """Where events that retention has removed came from; how many."""
        return nodes.forget_arrivals(self.database)
