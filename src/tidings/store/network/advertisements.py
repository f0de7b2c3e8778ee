"""What accounts of this server say they will publish. While the network is distributed by advertisements, an event that
none of them matches is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection, delete, func, select, update

from tidings.errors import Explained, StoreError
from tidings.events import Event
from tidings.language import Filter
from tidings.schema import Catalog, Instant
from tidings.store.databases.database import Database
from tidings.store.tables import A_DISABLED_ACCOUNT, accounts, network_advertisements, network_node
from tidings.store.tables import catalog as newest

Admits = Callable[[Event, Instant], bool]


class NoSuchAdvertisement(Explained, StoreError):
    id: str
    template = "you have no advertisement {id!v}; `tidings advertise --list` shows all"


class TooManyAdvertisements(Explained, StoreError):
    most: int
    template = (
        "you have {most!n} advertisements, the most allowed; withdraw one (`tidings advertise --withdraw ID`), "
        "or combine some with 'or'"
    )


@dataclass(frozen=True, slots=True)
class Advertisement:
    id: str
    owner: str
    filter: str


def advertise(database: Database, owner: str, filter: str, most: int | None) -> Advertisement:
    """Raises TooManyAdvertisements."""
    made = Advertisement(uuid4().hex, owner, filter)
    with database.writing() as connection:
        if most is not None:
            own = select(func.count()).where(network_advertisements.c.owner == owner)
            if connection.execute(own).scalar_one() >= most:
                raise TooManyAdvertisements(most)
        connection.execute(network_advertisements.insert().values(id=made.id, owner=owner, filter=filter))
        changed(connection)
    return made


def withdraw(database: Database, id: str, owner: str) -> None:
    """Raises NoSuchAdvertisement."""
    table = network_advertisements
    with database.writing() as connection:
        gone = connection.execute(delete(table).where(table.c.id == id, table.c.owner == owner)).rowcount
        if not gone:
            raise NoSuchAdvertisement(id)
        changed(connection)


def withdraw_all(connection: Connection, owner: str) -> None:
    connection.execute(delete(network_advertisements).where(network_advertisements.c.owner == owner))
    changed(connection)


def advertisements(connection: Connection) -> list[Advertisement]:
    """Of all accounts that are not disabled."""
    table = network_advertisements
    disabled = select(accounts.c.username).where(accounts.c.username == table.c.owner, A_DISABLED_ACCOUNT)
    rows = connection.execute(select(table).where(~disabled.exists()).order_by(table.c.id))
    return [Advertisement(row.id, row.owner, row.filter) for row in rows]


def version(connection: Connection) -> int:
    """Another one after each change."""
    return int(connection.execute(select(network_node.c.advertised)).scalar() or 0)


def changed(connection: Connection) -> None:
    """Call it in the transaction that changes which advertisements there are."""
    connection.execute(update(network_node).values(advertised=network_node.c.advertised + 1))


class Outdated(Exception):
    """The advertisements or the schema are newer than those that were read."""


class Admitted:
    """Whether some advertisement matches an event. Parsing many takes seconds, so it is done before a transaction that
    holds the journal's lock: where `at` raises Outdated, `read` and try again."""

    def __init__(self) -> None:
        self._known: tuple[int, Catalog, dict[str, Filter]] = (-1, Catalog(), {})

    def read(self, connection: Connection, catalog_of: Callable[[Connection, int], Catalog]) -> None:
        number = version(connection)
        catalog = catalog_of(connection, connection.execute(select(newest.c.version)).scalar_one())
        _, old_catalog, old = self._known
        parsed = old if catalog.version == old_catalog.version else {}
        texts = [one.filter for one in advertisements(connection)]
        self._known = number, catalog, {text: parsed.get(text) or Filter.parse(text, catalog) for text in texts}

    def at(self, number: int, catalog: Catalog) -> Admits:
        """Raises Outdated."""
        known, known_catalog, parsed = self._known
        if (known, known_catalog.version) != (number, catalog.version):
            raise Outdated
        from tidings.matching.choice import matches  # few servers need it

        filters = list(parsed.values())

        def admits(event: Event, accepted: Instant) -> bool:
            bindings = event.bindings(accepted)
            return any(matches(one.conjunctions, bindings, catalog) for one in filters)

        return admits
