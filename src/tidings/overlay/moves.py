"""A client moves: its subscription goes to another server with the old one's marks, so that nothing is missed."""

from __future__ import annotations

from tidings.overlay import interests
from tidings.overlay.durable import Arrived, Unsubscribed
from tidings.overlay.messages import Departed, Move, MovedIn, MoveIn, MoveRefused, Refused
from tidings.overlay.server import Server
from tidings.overlay.values import BEGINNING, UNHEARD, Event, Stamp, Version

_AGAIN = 5.0  # seconds until the offer is repeated


def move(server: Server, command: Move) -> None:
    """Offers the subscription. Cargo and marks are of one moment: what comes later, the new server gets itself."""
    filter = command.filter or server.durable.subscriptions.get(command.subscription)
    if filter is None:
        server.tell(Refused(command, f"no subscription {command.subscription!r}"))
    elif command.to not in server.hops:
        server.tell(Refused(command, f"the server {command.to!r} cannot be reached"))
    else:
        marks = command.marks
        if marks is None:
            marks = tuple(sorted({**server.durable.marks, server.name: server.heads[server.name]}.items()))
        offer = MoveIn(
            server.name,
            server.next_version(),
            command.subscription,
            filter,
            marks,
            command.cargo,
            server.schema,
        )
        server.moving[command.subscription] = command.to, offer, server.now
        server.route(command.to, offer)


def tick(server: Server) -> None:
    for subscription, (to, offer, offered) in list(server.moving.items()):
        if server.now - offered >= _AGAIN:
            server.moving[subscription] = to, offer, server.now
            server.route(to, offer)


def on_move_in(server: Server, offer: MoveIn) -> None:
    """The marks fall to where the old server's were; answers that were asked for before must not raise them."""
    if offer.schema > server.schema or _waits(server, offer):
        return  # offered again
    numbers = (offer.version.incarnation, *(mark.incarnation for _, mark in offer.marks))
    if any(number > server.latest for number in numbers):
        return
    place = offer.giver, offer.subscription
    if offer.version > server.arrived.get(place, UNHEARD):
        server.arrived[place] = offer.version
        own, theirs = server.durable.marks, dict(offer.marks)
        lowered = {name: min(mark, own.get(name, mark)) for name, mark in theirs.items() if name != server.name}
        lowered = {name: mark for name, mark in lowered.items() if server.has_room_for(name, server.heads)}
        missed = _missed(server, offer, theirs)
        marks = tuple(lowered.items())
        arrived = Arrived(offer.subscription, offer.filter, marks, offer.cargo, missed, offer.giver, offer.marks)
        server.write(arrived)
        server.moved_in += 1
        for origin, mark in lowered.items():
            if server.heads.get(origin, BEGINNING) > mark:
                server.behind[origin] = server.now
        interests.own_changed(server)
    server.route(offer.giver, MovedIn(offer.subscription, offer.version))


def _waits(server: Server, offer: MoveIn) -> bool:
    """Whether the subscription is itself on its way from here: whoever has both withdraws none. Where two servers offer
    it to each other, it stays at the first by name."""
    to, _, _ = server.moving.get(offer.subscription, ("", None, 0.0))
    if to == offer.giver and server.name < offer.giver:
        del server.moving[offer.subscription]
        return False
    return bool(to)


def _missed(server: Server, offer: MoveIn, marks: dict[str, Stamp]) -> tuple[Event, ...]:
    """What this server's journal has after the old one's marks."""

    def is_later(event: Event) -> bool:
        mark = marks.get(event.origin, BEGINNING)
        if event.origin == server.name:
            return event.stamp.position > server.durable.count_of(mark)
        return event.stamp > mark

    entries = server.durable.journal.entries
    return tuple(one for one in entries if is_later(one) and server.filters.matches(offer.filter, one.content))


def on_refused(server: Server, refusal: MoveRefused) -> None:
    if moving := server.moving.pop(refusal.subscription, None):
        to, offer, _ = moving
        server.tell(Refused(Move(refusal.subscription, to, None, offer.filter), refusal.reason))


def on_moved_in(server: Server, subscription: str, version: Version) -> None:
    """An answer to an earlier offer says nothing of this one: the subscription may have come back since."""
    _, offer, _ = server.moving.get(subscription, ("", None, 0.0))
    if offer is not None and offer.version == version:
        del server.moving[subscription]
        server.write(Unsubscribed(subscription))
        interests.own_changed(server)
        server.tell(Departed(subscription))
