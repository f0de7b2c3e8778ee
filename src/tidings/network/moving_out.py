"""A subscription moves out: what this server offers to another one."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.composite.detector import Key
from tidings.composite.stored import dump_key, dump_matches, load_key, load_matches
from tidings.network.cargo import Cargo, CargoEvent, CargoNotification, packed
from tidings.network.contents import Page
from tidings.network.engine_filters import EngineFilters
from tidings.network.stored import Stamps
from tidings.overlay import messages as m
from tidings.overlay.values import Stamp
from tidings.store import Departure, Offer, Store

_MOST_BEHIND = 20_000  # positions that matching may be behind when a subscription leaves


class NotReady(Exception):
    """The subscription cannot leave now; tried again."""


def move_out(store: Store, name: str, stamps: Stamps, filters: EngineFilters, one: Departure) -> m.Move | None:
    """The offer of a subscription; None where it was withdrawn. Raises NotReady."""
    offer = store.offer(one.subscription)
    if offer is None:
        return None
    if offer.tail - offer.committed > _MOST_BEHIND:
        raise NotReady(f"{offer.tail - offer.committed:,} entries are still to be matched here")
    standing = offer.standing
    texts = filters.of_composite(standing.filter) if standing.composite else [filters.travelling(standing.filter)]
    pending = _selected(store, filters, texts, offer.committed, offer.tail) if standing.span is not None else set()
    ahead = _matching(store, filters, texts, [at for at in offer.ahead if at <= offer.tail])
    events, numbers = _events(store, name, stamps, offer, pending, ahead)
    cargo = Cargo(
        ticket=one.ticket,
        text=standing.filter,
        composite=standing.composite,
        paused=standing.state == "paused",
        opened=offer.opened,
        expiry="" if standing.expiry is None else str(standing.expiry),
        name=standing.name,
        note=standing.note,
        events=tuple(events),
        notifications=tuple(
            CargoNotification(numbers.get(each.position, -1), each.stored, each.detection, each.body)
            for each in offer.notifications
        ),
        older=offer.older,
        states=tuple(
            (dump_key(Key("", load_key(state.key).values)), state.due, state.body, state.forget)
            for state in offer.states
        ),
        early=_early_of(offer),
        since=standing.since,
    )
    marks = {origin: Stamp(*place) for origin, place in offer.marks.items()}
    marks[name] = stamps.of(offer.tail)
    return m.Move(one.subscription, one.server, packed(cargo), filters.widen(texts), tuple(sorted(marks.items())))


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


def _events(
    store: Store, name: str, stamps: Stamps, offer: Offer, pending: set[int], ahead: set[int]
) -> tuple[list[CargoEvent], dict[int, int]]:
    """In the order of the journal, and their numbers by position."""
    positions = sorted({one.position for one in offer.notifications} | pending | ahead)
    bodies, origins = store.events_at(positions), store.origins(positions)
    events: list[CargoEvent] = []
    numbers: dict[int, int] = {}
    for at in positions:
        if at in bodies:
            origin, incarnation, place = origins.get(at) or (name, *stamps.of(at))
            numbers[at] = len(events)
            events.append(CargoEvent(bodies[at], origin, incarnation, place, at in pending, at in ahead))
    return events, numbers


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
