"""What accounts of this server say they will publish. While the network is distributed by advertisements, an event that
none of them matches is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection, delete, select, update

from tidings.errors import Explained, StoreError
from tidings.events import Event
from tidings.language import Filter
from tidings.schema import Catalog, Instant
from tidings.store.databases.database import Database
from tidings.store.tables import network_advertisements, network_node

Admits = Callable[[Event, Instant], bool]


class NoSuchAdvertisement(Explained, StoreError):
    id: str
    template = "you have no advertisement {id!v}; `tidings advertise --list` shows all"


@dataclass(frozen=True, slots=True)
class Advertisement:
    id: str
    owner: str
    filter: str


def advertise(database: Database, owner: str, filter: str) -> Advertisement:
    made = Advertisement(uuid4().hex, owner, filter)
    with database.writing() as connection:
        connection.execute(network_advertisements.insert().values(id=made.id, owner=owner, filter=filter))
        _changed(connection)
    return made


def withdraw(database: Database, id: str, owner: str) -> None:
    """Raises NoSuchAdvertisement."""
    table = network_advertisements
    with database.writing() as connection:
        gone = connection.execute(delete(table).where(table.c.id == id, table.c.owner == owner)).rowcount
        if not gone:
            raise NoSuchAdvertisement(id)
        _changed(connection)


def advertisements(connection: Connection) -> list[Advertisement]:
    rows = connection.execute(select(network_advertisements).order_by(network_advertisements.c.id))
    return [Advertisement(row.id, row.owner, row.filter) for row in rows]


def _changed(connection: Connection) -> None:
    connection.execute(update(network_node).values(advertised=network_node.c.advertised + 1))


class Admitted:
    """Whether some advertisement matches an event. They are read when they or the schema have changed."""

    def __init__(self) -> None:
        self._of: tuple[int, int] | None = None
        self._filters: list[Filter] = []
        self._catalog = Catalog()

    def at(self, connection: Connection, version: int, catalog: Catalog) -> Admits:
        if self._of != (version, catalog.version):
            self._filters = [Filter.parse(one.filter, catalog) for one in advertisements(connection)]
            self._of, self._catalog = (version, catalog.version), catalog
        from tidings.matching.choice import matches  # few servers need it

        filters = self._filters

        def admits(event: Event, accepted: Instant) -> bool:
            bindings = event.bindings(accepted)
            return any(matches(one.conjunctions, bindings, catalog) for one in filters)

        return admits
