"""Marks, and what was missed: while an origin's head is above the mark, the origin itself is asked for the rest."""

from __future__ import annotations

from collections.abc import Mapping

from tidings.overlay import interests
from tidings.overlay.durable import Journaled, Marked
from tidings.overlay.messages import Answer, Ask
from tidings.overlay.server import Server
from tidings.overlay.values import BEGINNING, Event, Gap, Key, Stamp


def hear(server: Server, heads: Mapping[str, Stamp]) -> None:
    """Heads of all servers, from a neighbour. An origin first heard of is marked there; after a restore, which may have
    lost its mark, at its beginning."""
    if heads == server.heads:
        return
    marks, latest = server.durable.marks, server.latest
    first: list[tuple[str, Stamp]] = []
    room = server.limits.servers - len(marks)
    for origin, head in heads.items():
        if origin == server.name or origin in server.struck_off or head.incarnation > latest:
            continue
        if not server.has_room_for(origin, server.heads):
            continue
        if head > server.heads.get(origin, BEGINNING):
            server.heads[origin] = head
        if origin not in marks:
            if len(first) >= room:
                continue
            first.append((origin, BEGINNING if server.durable.restored else head))
        if head > marks.get(origin, head):
            server.behind.setdefault(origin, server.now + server.timing.after_change)
    if first:
        server.write(Marked(tuple(first)))


def tree_changed(server: Server) -> None:
    for origin in server.behind:
        server.behind[origin] = server.now + server.timing.after_change


def tick(server: Server) -> None:
    marks, heads = server.durable.marks, server.heads
    for origin in [origin for origin in server.behind if heads[origin] <= marks[origin]]:
        del server.behind[origin]
    interests.follow_own(server)
    if not server.wanted:
        if server.behind:
            server.write(Marked(tuple((origin, heads[origin]) for origin in server.behind)))
            server.behind.clear()
        return
    for origin, due in server.behind.items():
        if server.now >= due:
            server.behind[origin] = server.now + server.timing.ask_again
            mark = marks[origin]
            has = server.durable.journal.taken_after(origin, mark, server.limits.has)
            full = len(has) == server.limits.has and has[-1] < heads[origin]
            head = has[-1] if full else heads[origin]
            ask = Ask(server.name, server.life, server.wanted, mark, head, frozenset(has), server.schema)
            server.asked[origin] = heads[origin]
            server.route(origin, ask)


def on_ask(server: Server, ask: Ask) -> None:
    """This server's own events between the mark and the head that were asked for, not up to its newest: the asker may
    have subscribed to more since, and its mark speaks for all its subscriptions."""
    if ask.schema > server.schema:
        return
    durable = server.durable
    after, through = durable.count_of(ask.mark), durable.count_of(ask.head)
    selects = server.filters.selector(ask.filters)
    events: list[Event] = []
    room = server.limits.bytes
    for scanned, event in enumerate(durable.journal.own_between(after, through), 1):
        if event.stamp not in ask.has and selects(event.content):
            events.append(event)
            room -= server.size_of(event.content)
        if len(events) == server.limits.batch or room <= 0 or scanned == server.limits.scanned:
            through = event.stamp.position
            break
    forgotten = min(durable.journal.forgotten, through)
    gap = Gap(server.name, after, forgotten) if after < forgotten else None
    mark = Stamp(ask.head.incarnation, through)
    server.route(ask.asker, Answer(server.name, ask.life, tuple(events), mark, gap, server.schema))


def on_answer(server: Server, answer: Answer) -> None:
    if answer.origin not in server.asked:
        return  # nobody asked it, or it was struck off since
    if answer.life != server.life or any(event.schema > server.schema for event in answer.events):
        return
    if any(one.incarnation > server.latest for one in (answer.mark, *(event.stamp for event in answer.events))):
        return
    known = server.durable.journal.known(event.key for event in answer.events)
    new: dict[Key, Event] = {}
    for event in answer.events:
        if event.key not in known:
            new.setdefault(event.key, event)
    mark = max(answer.mark, server.durable.marks.get(answer.origin, BEGINNING))
    server.write(Journaled(tuple(new.values()), answer.origin, mark, answer.gap))
    if mark < server.asked.get(answer.origin, mark):
        server.behind[answer.origin] = server.now  # there is more
