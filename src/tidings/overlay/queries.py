"""Ad-hoc queries: every server in reach looks among its own events, and whoever asked merges the answers."""

from __future__ import annotations

from tidings.overlay.messages import Found, Query, Search, Searched
from tidings.overlay.server import Server
from tidings.overlay.values import Event, Filter


def query(server: Server, command: Query) -> None:
    """This server answers at once, the others as they can; the driver decides for how long it waits."""
    server.tell(Found(command.name, server.name, *_search(server, command.filter, command.most)))
    for name in sorted(server.hops):
        server.route(name, Search(server.name, command.name, command.filter, command.most, server.schema))


def on_search(server: Server, asked: Search) -> None:
    """A filter of a later schema is not understood: the asker names this server as one that did not answer."""
    if asked.schema <= server.schema:
        events, all_of_them = _search(server, asked.filter, min(asked.most, server.limits.batch))
        server.route(asked.asker, Searched(asked.name, server.name, events, all_of_them))


def on_searched(server: Server, answer: Searched) -> None:
    server.tell(Found(answer.name, answer.server, answer.events, answer.all))


def _search(server: Server, filter: Filter, most: int) -> tuple[tuple[Event, ...], bool]:
    """The newest that match, in the order of the journal, and whether there are no others: of a long journal only the
    newest events are looked at, and a message has bounds."""
    journal = server.durable.journal
    first = max(journal.position - server.limits.scanned, 0)
    selects = server.filters.selector((filter,))
    found = [event for event in journal.own_between(first, journal.position) if selects(event.content)]
    room, kept = server.limits.bytes, 0
    for event in reversed(found[-most:]):
        room -= server.size_of(event.content)
        if room < 0 and kept:
            break
        kept += 1
    events = tuple(found[len(found) - kept :])
    return events, kept == len(found) and first == 0
