"""A subscription of another server moves in: what the store keeps of it, and which events here it still has to get."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tidings.composite.detector import Key, Match
from tidings.composite.leaf_plan import LeafPlan
from tidings.composite.stored import dump_key, dump_matches, load_key, load_matches
from tidings.events import Event, RefusedEvent, validate
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.matching.choice import matches
from tidings.network.cargo import Cargo, ticket_digest, unpacked
from tidings.overlay.durable import Arrived
from tidings.overlay.messages import Luggage
from tidings.schema import Catalog, Instant
from tidings.store import MovedEvent, MovedNotification, MoveIn, PublishValid, Subscribe
from tidings.store.moves.moving_in import Candidate
from tidings.store.notifications.composite_batch import Early
from tidings.store.notifications.waiting import State

_AT_ONCE = 0  # the span of matches that wait: with the next batch, whatever their time


def check(data: object, catalog: Catalog) -> None:
    """Raises an error where a server cannot take the cargo."""
    assert isinstance(data, bytes)
    cargo = unpacked(data)
    Arriving(cargo, catalog)
    _carried(cargo, catalog)
    if cargo.expiry:
        Instant.parse(cargo.expiry)


def move_in(change: Arrived, own_after: int, catalog: Catalog) -> MoveIn:
    """What the store keeps of a subscription that arrived. Raises WrongMessage."""
    assert isinstance(change.cargo, bytes)
    cargo = unpacked(change.cargo)
    events, notifications = _carried(cargo, catalog)
    expiry = Instant.parse(cargo.expiry) if cargo.expiry else None
    filter, composite = ("", cargo.text) if cargo.composite else (cargo.text, "")
    wanted = Subscribe(
        change.subscription, filter, expiry=expiry, name=cargo.name, note=cargo.note, composite=composite
    )
    arriving = Arriving(cargo, catalog)
    return MoveIn(
        giver=change.giver,
        since=cargo.since,
        digest=ticket_digest(cargo.ticket),
        subscription=wanted,
        paused=cargo.paused,
        opened=cargo.opened,
        events=events,
        notifications=notifications,
        marks=dict(change.given),
        own_after=own_after,
        select=arriving.select,
        waiting=arriving.waiting if cargo.composite else None,
    )


def stowing(luggage: Luggage, catalog: Catalog) -> MoveIn:
    """What the store keeps of notifications that come before their subscription. Raises WrongMessage."""
    cargo = unpacked(luggage.cargo)
    events, notifications = _carried(cargo, catalog)
    return MoveIn(
        giver=luggage.giver,
        since=cargo.since,
        digest=ticket_digest(cargo.ticket),
        subscription=Subscribe(luggage.subscription),
        paused=False,
        opened=0,
        events=events,
        notifications=notifications,
        marks={},
        own_after=0,
        select=list,
    )


def _carried(cargo: Cargo, catalog: Catalog) -> tuple[tuple[MovedEvent, ...], tuple[MovedNotification, ...]]:
    numbers: dict[int, int] = {}
    events: list[MovedEvent] = []
    for number, one in enumerate(cargo.events):
        if (event := _valid(one.body, catalog)) is not None:
            numbers[number] = len(events)
            place = one.incarnation, one.position
            events.append(MovedEvent(PublishValid(event), one.origin, place, one.pending))
    told = (
        MovedNotification(numbers.get(one.event), one.stored, one.detection, one.body) for one in cargo.notifications
    )
    return tuple(events), tuple(told)


def _valid(body: str, catalog: Catalog) -> Event | None:
    try:
        return validate(msgspec.json.decode(body), catalog, hints=False)
    except (RefusedEvent, msgspec.DecodeError):
        return None


class Arriving:
    """Matches what the new server has with the subscription: event by event, in bounded time."""

    def __init__(self, cargo: Cargo, catalog: Catalog) -> None:
        self._cargo, self._catalog = cargo, catalog
        bound = [BoundComposite.known(cargo.text, catalog)] if cargo.composite else []
        self._filters = [one for each in bound for one in each.filters] or [Filter.parse(cargo.text, catalog)]

    def select(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        return [one for one in candidates if self._matches(one)]

    def _matches(self, one: Candidate) -> bool:
        event = _valid(one.body, self._catalog)
        if event is None:
            return False
        bindings = event.bindings(Instant(one.accepted))
        return any(matches(filter.conjunctions, bindings, self._catalog) for filter in self._filters)

    def waiting(self, start: int, events: Sequence[Candidate]) -> tuple[list[State], list[Early]]:
        """The states under the key that the composite has here, and the matches that its query takes first."""
        from tidings.pipeline.composites.leaf_stage import shard_of  # loads compiled code

        id = str(start)
        states = []
        for text, due, body, forget in self._cargo.states:
            key = Key(id, load_key(text).values)
            states.append(State(dump_key(key), shard_of(key), due, body, forget))
        found = [one._replace(key=Key(id, one.key.values)) for one in load_matches(self._cargo.early)]
        found += self._leaves(id, events)
        by_shard: dict[int, list[Match]] = {}
        for match in found:
            by_shard.setdefault(shard_of(match.key), []).append(match)
        return states, [Early(shard, _AT_ONCE, dump_matches(some)) for shard, some in by_shard.items()]

    def _leaves(self, id: str, events: Sequence[Candidate]) -> list[Match]:
        from tidings.pipeline.composites.known import opened_composite

        plan = LeafPlan(self._catalog)
        opened = self._cargo.opened
        plan.add(id, opened_composite(self._cargo.text, opened, self._catalog), opened)
        found: list[Match] = []
        for one in events:
            event = _valid(one.body, self._catalog)
            assert event is not None  # it matched
            accepted = Instant(one.accepted)
            time = accepted if event.time is None else event.time
            bindings = event.bindings(accepted) | {"event.time": (time,)}
            numbers = [
                number
                for number, filter in enumerate(plan.filters)
                if matches(filter.conjunctions, bindings, self._catalog)
            ]
            found += plan.matches(int(time), event.source, event.id, bindings, numbers)
        return found
