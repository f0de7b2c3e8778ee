"""The schema of a server as orders of the network's home, and filters bound to it.

Statistics are entries of the journal like growth, but each server's own: they are not ordered, and the versions of two
servers' schemas may differ by them.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidings.errors import SchemaError
from tidings.network.engine_filters import EngineFilters
from tidings.network.stored import FIRST_VERSION, Stamps, change_of, is_growth, is_statistics, to_store
from tidings.network.wire_shapes import LONGEST_GROWTH
from tidings.overlay.durable import Change, Ordered
from tidings.overlay.orders import append_known
from tidings.overlay.server import Server
from tidings.overlay.values import Growth, Order
from tidings.schema.catalog import Catalog
from tidings.schema.growth import grow
from tidings.store import Heard, Store


class SchemaLog:
    """`filters` are bound to what the schema will be when all orders that the machine knows are stored."""

    def __init__(self, store: Store, stamps: Stamps, filters: EngineFilters) -> None:
        self._store, self._stamps = store, stamps
        self.filters = filters

    def why_not(self, order: Order) -> str:
        """At the home: why an order cannot be."""
        if isinstance(order, Growth):
            try:
                if len(str(order.change)) > LONGEST_GROWTH:
                    return (
                        f"a change of more than {LONGEST_GROWTH >> 20} MiB does not fit into a message between servers"
                    )
                if is_statistics(order):
                    return "statistics are each server's own: use tidings journal count-words there"
                grow(self.filters.catalog, change_of(order))
            except (SchemaError, ValueError, KeyError, TypeError, RecursionError) as problem:
                return str(problem)
        return ""

    def learn(self, server: Server, changes: Iterable[Change]) -> bool:
        """The machine knows new orders. Whether filters are to be bound anew."""
        ordered = [change for change in changes if isinstance(change, Ordered)]
        before = len(server.durable.orders) - sum(len(change.orders) for change in ordered)
        catalog = self.filters.catalog
        for change in ordered:
            self._stamps.learn(change.orders, before)
            before += len(change.orders)
            for _, order in change.orders:
                if isinstance(order, Growth):
                    catalog = grow(catalog, change_of(order))
        return self.adopt(catalog)

    def adopt(self, catalog: Catalog) -> bool:
        """Whether filters were bound anew."""
        if catalog.version == self.filters.catalog.version:
            return False
        self.filters = EngineFilters(catalog)
        return True

    def complete(self, server: Server) -> int:
        """Stores as orders the growth that the journal has and the orders lack: of before the network, or while nobody
        orders. How many these are; the machine's outcome has what follows."""
        entries = [(one.schema_version, Growth(one.body)) for one in self._store.changes(0) if one.kind == "schema"]
        growth = [order for _, order in entries if is_growth(order)]
        self._stamps.count(version for version, order in entries if is_statistics(order))
        known = sum(is_growth(order) for _, order in server.durable.orders)
        orders = tuple((f"v{FIRST_VERSION + place}", order) for place, order in enumerate(growth, 1))[known:]
        if orders:
            append_known(server, orders)
            self._stamps.learn(orders, len(server.durable.orders) - len(orders))
            self._store.store_heard([Heard(orders=tuple(to_store(*one) for one in orders))])  # the schema has them
        return len(orders)
