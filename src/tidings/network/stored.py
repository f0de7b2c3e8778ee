"""What the machine calls durable, in the store: its journal read from there, its changes written there."""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from tidings.events import RefusedEvent, validate
from tidings.network.contents import Content, Page
from tidings.network.engine_filters import EngineFilters
from tidings.network.moving_in import move_in
from tidings.network.wire import read_order, write_order
from tidings.overlay import durable as d
from tidings.overlay.values import Event, Growth, Key, Order, Rule, Stamp
from tidings.schema import Catalog, json_form
from tidings.schema.growth import Change, grow
from tidings.store import Arrival, Grow, Heard, Node, PublishValid, Store, StoredOrder
from tidings.store.network.nodes import Gap

_log = logging.getLogger(__name__)
FIRST_VERSION = Catalog().version
_PAGE = 1_000  # events that are read and matched at once


class StoredJournal(d.Journal):
    """Reads events from the store; nothing of them stays in memory. The store itself refuses repetitions, and it alone
    knows what was taken: so both may be asked for before the last changes are written."""

    def __init__(self, store: Store, name: str, position: int, stamps: Stamps) -> None:
        super().__init__(position=position)
        self._store, self._name, self._stamps = store, name, stamps

    def copy(self) -> d.Journal:
        return self

    def accept(self, event: Event) -> None:
        raise AssertionError("events are accepted by the gateway")

    def take(self, event: Event) -> None:
        """The change that has it is stored by the driver."""

    def known(self, keys: Iterable[Key]) -> set[Key]:
        return set()

    def taken_after(self, origin: str, mark: Stamp, most: int) -> list[Stamp]:
        return [Stamp(*one) for one in self._store.taken_after(origin, mark, most)]

    def own_between(self, after: int, through: int) -> Iterator[Event]:
        while rows := self._store.own_events(after, through, _PAGE):
            yield from self._stamps.events(self._name, rows)
            after = rows[-1][0]

    def forget(self, position: int) -> None:
        self.forgotten = max(self.forgotten, position)


class Stamps:
    """Gives own events their places: the incarnation follows from the position, the schema from the orders."""

    def __init__(self) -> None:
        self.incarnations: list[d.Incarnation] = []
        self.growth: list[int] = [0]  # by how often the schema grew: after how many orders
        self._counted: list[int] = []  # versions of this server's schema that only have other statistics

    def of(self, position: int) -> Stamp:
        at = bisect_left(self.incarnations, position, key=lambda one: one.began) - 1
        return Stamp(self.incarnations[max(at, 0)].number, position)

    def events(self, name: str, rows: Sequence[tuple[int, int, str]]) -> list[Event]:
        contents = Page([body for _, _, body in rows]).contents
        events = []
        for (position, version, body), content in zip(rows, contents, strict=True):
            envelope = _envelope(body)
            grown = version - FIRST_VERSION - bisect_right(self._counted, version)
            schema = self.growth[min(grown, len(self.growth) - 1)]
            events.append(Event(envelope.source, envelope.id, content, name, self.of(position), schema))
        return events

    def learn(self, orders: Iterable[tuple[str, Order]], before: int) -> None:
        self.growth += (place for place, (_, order) in enumerate(orders, before + 1) if is_growth(order))

    def count(self, versions: Iterable[int]) -> None:
        """All versions, in order, by which only statistics came."""
        self._counted = list(versions)


class _Envelope(msgspec.Struct):
    id: str
    source: str = ""


_envelope = msgspec.json.Decoder(_Envelope).decode


def load(store: Store, node: Node, stamps: Stamps, filters: EngineFilters) -> d.Durable:
    durable = d.Durable(StoredJournal(store, node.name, node.position, stamps))
    durable.incarnations = [d.Incarnation(*one) for one in node.incarnations]
    stamps.incarnations = durable.incarnations
    durable.marks = {origin: Stamp(*place) for origin, place in node.marks.items()}
    durable.orders = [stored_order(one) for one in node.orders]
    stamps.learn(durable.orders, 0)
    durable.rule = Rule(node.term, node.home)
    durable.advertisements = {one.id: filters.travelling(one.filter) for one in store.advertisements()}
    durable.restored = node.restored
    durable.journal.forgotten = store.complete_from() - 1
    return durable


def stored_order(one: StoredOrder) -> tuple[str, Order]:
    body, _, term = one.body.partition("\n") if one.kind == "succeed" else (one.body, "", "")
    return read_order(one.request, one.kind, body, int(term or 0))


def to_store(request: str, order: Order) -> StoredOrder:
    _, kind, body, term = write_order(request, order)
    return StoredOrder(request, kind, f"{body}\n{term}" if kind == "succeed" else body)


class _Kind(msgspec.Struct):
    change: str = ""


_kind = msgspec.json.Decoder(_Kind).decode


def is_statistics(order: Growth) -> bool:
    """Whether it says how often words occur. Raises DecodeError where it says nothing."""
    return _kind(str(order.change)).change == "set_statistics"


def is_growth(order: Order) -> bool:
    """Whether all servers' schemas grow by it."""
    return isinstance(order, Growth) and not is_statistics(order)


def change_of(order: Growth) -> Change:
    """Raises ValueError, KeyError or a SchemaError where it is none."""
    return json_form.read_change(msgspec.json.decode(str(order.change)))


class Writing:
    """Turns the machine's changes into what the store keeps."""

    def __init__(self, catalog: Catalog, own_after: Callable[[d.Arrived], int]) -> None:
        self.catalog = catalog  # with all orders that the machine knows
        self._own_after = own_after
        self.refused: list[tuple[Event, RefusedEvent]] = []  # since the last look

    def heard(self, change: d.Change) -> Heard | None:
        """None where the store knows it already, from elsewhere."""
        match change:
            case d.Began(incarnation):
                return Heard(began=incarnation)
            case d.Renumbered(incarnation):
                return Heard(renumbered=incarnation)
            case d.Journaled(events, origin, mark, gap):
                marks = ((origin, mark),) if mark is not None else ()
                missing = None if gap is None else Gap(gap.origin, gap.after, gap.through)
                return Heard(tuple(self._arrivals(events)), marks, missing)
            case d.Marked(marks):
                return Heard(marks=marks)
            case d.Ordered(orders):
                grown = tuple(Grow(change_of(order)) for _, order in orders if isinstance(order, Growth))
                for one in grown:
                    self.catalog = grow(self.catalog, one.change)
                return Heard(orders=tuple(to_store(*one) for one in orders), growth=grown)
            case d.Ruled(rule):
                return Heard(rule=rule)
            case d.Arrived():
                moved_in = move_in(change, self._own_after(change), self.catalog)
                return Heard(marks=change.marks, moved_in=moved_in)
            case _:
                return None

    def _arrivals(self, events: Iterable[Event]) -> Iterator[Arrival]:
        """A neighbour may send anything: what is no event here is not stored."""
        for event in events:
            assert isinstance(event.content, Content)
            try:
                valid = validate(msgspec.json.decode(event.content.payload), self.catalog, hints=False)
            except RefusedEvent as refused:
                self.refused.append((event, refused))
                continue
            except Exception as problem:  # JSON that is none, or nested deeper than can be read, …
                _log.warning("an event of %s was dropped: %s", event.origin, type(problem).__name__)
                continue
            if (valid.source, valid.id) == event.key:
                yield Arrival(PublishValid(valid), event.origin, event.stamp)
