"""Events along the tree: each is passed on once, to the neighbours whose interest it matches, in order."""

from __future__ import annotations

from itertools import islice

from tidings.overlay import interests
from tidings.overlay.durable import Accepted, Journaled
from tidings.overlay.messages import Events, Publish, Refused, Taken
from tidings.overlay.server import Queue, Server
from tidings.overlay.values import Event, Key, Stamp, Version


def publish(server: Server, command: Publish) -> None:
    """Accepts an event from a client: this server is its origin."""
    key = command.source, command.id
    if server.durable.journal.known([key]):
        server.tell(Refused(command, "an event with this source and id was accepted before"))
    elif not _advertised(server, command.content):
        server.tell(Refused(command, "no advertisement of yours matches the event"))
    else:
        stamp = Stamp(server.incarnation, server.durable.journal.position + 1)
        event = Event(command.source, command.id, command.content, server.name, stamp, server.schema)
        server.write(Accepted(event))
        server.heads[server.name] = stamp
        _pass_on(server, event, giver=None)


def follow(server: Server, events: tuple[Event, ...]) -> None:
    """Own events that the driver's journal accepted by itself, in order."""
    for event in events:
        server.heads[server.name] = event.stamp
        _pass_on(server, event, giver=None)


def _advertised(server: Server, content: object) -> bool:
    if server.distribution != "advertisements":
        return True
    return any(server.filters.matches(one, content) for one in server.durable.advertisements.values())


def on_events(server: Server, neighbour: str, message: Events) -> None:
    if any(event.schema > server.schema for event in message.events):
        return  # not understood yet: sent again until acknowledged
    if any(event.stamp.incarnation > server.latest for event in message.events):
        return
    interests.follow_own(server)
    known = server.durable.journal.known(event.key for event in message.events)
    new: dict[Key, Event] = {}
    for event in message.events:
        if event.key not in known and server.wants(event.content):
            new.setdefault(event.key, event)
    if new:
        server.write(Journaled(tuple(new.values())))
    for event in message.events:
        if event.origin != server.name:
            _pass_on(server, event, neighbour)
    server.send(neighbour, Taken(message.version))


def _pass_on(server: Server, event: Event, giver: str | None) -> None:
    name = event.origin, event.stamp
    if name in server.passed:
        return
    server.passed[name] = None
    if len(server.passed) > server.limits.passed:
        del server.passed[next(iter(server.passed))]
    for neighbour in server.neighbours:
        selects = server.selectors.get(neighbour)
        if neighbour != giver and selects is not None and selects(event.content):
            queue = server.queues.setdefault(neighbour, Queue())
            size = server.size_of(event.content)
            if len(queue.waiting) >= server.limits.queued or queue.bytes + size > server.limits.queued_bytes:
                continue  # a neighbour that acknowledges nothing: whoever misses the event asks its origin for it
            server.number += 1
            queue.bytes += size
            queue.waiting.append((server.number, event, server.now))
            if not queue.sent:
                _send(server, neighbour, queue)


def _send(server: Server, neighbour: str, queue: Queue) -> None:
    batch: list[tuple[int, Event, float]] = []
    room = server.limits.bytes
    for one in islice(queue.waiting, server.limits.batch):
        room -= server.size_of(one[1].content)
        if batch and room < 0:
            break
        batch.append(one)
    queue.sent, queue.sent_at = batch[-1][0], server.now
    events = tuple(event for _, event, _ in batch)
    server.send(neighbour, Events(Version(server.incarnation, queue.sent), events))


def on_taken(server: Server, neighbour: str, version: Version) -> None:
    queue = server.queues.get(neighbour)
    if queue is None or version.incarnation != server.incarnation or version.number < queue.sent:
        return
    while queue.waiting and queue.waiting[0][0] <= version.number:
        queue.bytes -= server.size_of(queue.waiting.popleft()[1].content)
    queue.sent = 0
    if queue.waiting:
        _send(server, neighbour, queue)


def tick(server: Server) -> None:
    for neighbour, queue in server.queues.items():
        if queue.waiting and (not queue.sent or server.now - queue.sent_at >= server.timing.resend):
            _send(server, neighbour, queue)
