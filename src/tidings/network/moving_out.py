"""A subscription moves out: what this server offers to another one."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.composite.detector import Key
from tidings.composite.stored import dump_key, dump_matches, load_key, load_matches
from tidings.network.cargo import Cargo, CargoEvent, CargoNotification, fits, packed
from tidings.network.contents import Page
from tidings.network.engine_filters import EngineFilters
from tidings.network.stored import Stamps
from tidings.overlay import messages as m
from tidings.overlay.values import Stamp
from tidings.store import Departure, Offer, OfferedNotification, Store

_MOST_BEHIND = 20_000  # positions that matching may be behind when a subscription leaves


class NotReady(Exception):
    """The subscription cannot leave now; tried again."""


class MovingOut:
    """What this server, of this name, offers."""

    def __init__(self, store: Store, name: str, stamps: Stamps) -> None:
        self._store, self._name, self._stamps = store, name, stamps

    def next(self, one: Departure, after: int, filters: EngineFilters, schema: int) -> m.Move | m.Luggage | None:
        """The offer of a subscription, or notifications that go before it, where the new server has those up to a
        cursor; None where it was withdrawn. Raises NotReady."""
        offer = self._store.offer(one.subscription, after)
        if offer is None:
            return None
        if offer.more:
            return self._luggage(one, offer, after, offer.notifications, schema)
        if offer.tail - offer.committed > _MOST_BEHIND:
            raise NotReady(f"{offer.tail - offer.committed:,} entries are still to be matched here")
        standing = offer.standing
        texts = filters.of_composite(standing.filter) if standing.composite else [filters.travelling(standing.filter)]
        data = packed(self._cargo(one, offer, texts, filters))
        if not fits(data) and offer.notifications:
            half = offer.notifications[: (len(offer.notifications) + 1) // 2]
            return self._luggage(one, offer, after, half, schema)
        marks = {origin: Stamp(*place) for origin, place in offer.marks.items()}
        marks[self._name] = self._stamps.of(offer.tail)
        return m.Move(one.subscription, one.server, data, filters.widen(texts), tuple(sorted(marks.items())))

    def _luggage(
        self, one: Departure, offer: Offer, after: int, some: Sequence[OfferedNotification], schema: int
    ) -> m.Luggage:
        """As many of these notifications as fit, the first ones."""
        while True:
            events, told = self._events(some, set(), set())
            cargo = Cargo(
                one.ticket, "", False, False, 0, events=events, notifications=told, since=offer.standing.since
            )
            data = packed(cargo)
            if fits(data) or len(some) == 1:
                return m.Luggage(self._name, one.subscription, after, some[-1].cursor, data, schema)
            some = some[: len(some) // 2]

    def _cargo(self, one: Departure, offer: Offer, texts: Sequence[str], filters: EngineFilters) -> Cargo:
        standing, store = offer.standing, self._store
        pending = _selected(store, filters, texts, offer.committed, offer.tail) if standing.span is not None else set()
        ahead = _matching(store, filters, texts, [at for at in offer.ahead if at <= offer.tail])
        events, told = self._events(offer.notifications, pending, ahead)
        return Cargo(
            ticket=one.ticket,
            text=standing.filter,
            composite=standing.composite,
            paused=standing.state == "paused",
            opened=offer.opened,
            expiry="" if standing.expiry is None else str(standing.expiry),
            name=standing.name,
            note=standing.note,
            events=events,
            notifications=told,
            states=tuple(
                (dump_key(Key("", load_key(state.key).values)), state.due, state.body, state.forget)
                for state in offer.states
            ),
            early=_early_of(offer),
            since=standing.since,
        )

    def _events(
        self, notifications: Sequence[OfferedNotification], pending: set[int], ahead: set[int]
    ) -> tuple[tuple[CargoEvent, ...], tuple[CargoNotification, ...]]:
        """Events in the order of the journal, and the notifications that name them by their numbers."""
        positions = sorted({one.position for one in notifications} | pending | ahead)
        bodies, origins = self._store.events_at(positions), self._store.origins(positions)
        events: list[CargoEvent] = []
        numbers: dict[int, int] = {}
        for at in positions:
            if at in bodies:
                origin, incarnation, place = origins.get(at) or (self._name, *self._stamps.of(at))
                numbers[at] = len(events)
                events.append(CargoEvent(bodies[at], origin, incarnation, place, at in pending, at in ahead))
        told = (
            CargoNotification(numbers.get(one.position, -1), one.stored, one.detection, one.body)
            for one in notifications
        )
        return tuple(events), tuple(told)


def _selected(store: Store, filters: EngineFilters, texts: Sequence[str], after: int, upto: int) -> set[int]:
    """Positions of events in (after, upto] that match any of the filters."""
    selects, found = filters.selector(texts), set[int]()
    while after < upto:
        page = store.event_page(after, upto)
        contents = Page(page.payloads).contents
        found |= {at for at, content in zip(page.positions, contents, strict=True) if selects(content)}
        after = page.upto
    return found


def _matching(store: Store, filters: EngineFilters, texts: Sequence[str], positions: Sequence[int]) -> set[int]:
    bodies = store.events_at(positions)
    contents = Page(list(bodies.values())).contents
    selects = filters.selector(texts)
    return {at for at, content in zip(bodies, contents, strict=True) if selects(content)}


def _early_of(offer: Offer) -> str:
    composite = str(offer.standing.span)
    return dump_matches(
        [
            one._replace(key=Key("", one.key.values))
            for body in offer.early
            for one in load_matches(body)
            if one.key.composite == composite
        ]
    )
