"""What each tree neighbour is to send here: one numbered set of filters, replaced whole."""

from __future__ import annotations

from dataclasses import replace

from tidings.overlay.filters import Filters
from tidings.overlay.messages import Posted
from tidings.overlay.server import Server
from tidings.overlay.values import Filter, Interest, Version

_FEW = 100  # new filters that are looked at alone


def own_changed(server: Server) -> None:
    """Subscriptions, advertisements or the distribution changed."""
    server.stale_own = server.stale_interests = True


def follow_own(server: Server) -> None:
    """What own subscriptions want, where they changed: once for many changes, and before anything depends on it."""
    if not server.stale_own:
        return
    server.stale_own = False
    everything = server.distribution == "events"
    own = {server.filters.everything} if everything else set(server.durable.subscriptions.values())
    if server.own is None or not _is_covered(server, own, server.own):
        server.wanted = server.filters.summary(own, server.limits.filters)
        server.wants = server.filters.selector(server.wanted)
    server.own = own


def _is_covered(server: Server, own: set[Filter], before: set[Filter]) -> bool:
    """Whether what is wanted stays as it is: nothing went, and what came is covered."""
    new = own - before
    if len(new) > _FEW or not before <= own:
        return False
    return server.filters.reduce((*server.wanted, *new)) == server.wanted


def adopt(server: Server, filters: Filters) -> None:
    server.filters, server.own = filters, None
    server.selectors = {name: filters.selector(held.filters) for name, held in server.held.items()}
    own_changed(server)


def due(server: Server, neighbour: str) -> tuple[tuple[Filter, ...], tuple[Filter, ...]]:
    """The filters and advertisements that the neighbour should hold of this server: its own, and what it holds from its
    other tree neighbours."""
    follow_own(server)
    held = server.held
    others = [held[name] for name in server.neighbours if name != neighbour and name in held]
    filters = {*server.wanted, *(filter for interest in others for filter in interest.filters)}
    advertised = {*server.durable.advertisements.values(), *(one for each in others for one in each.advertisements)}
    if server.distribution == "advertisements":
        behind = held[neighbour].advertisements if neighbour in held else ()
        filters = server.filters.overlapping(filters, behind)
    limit = server.limits.filters
    return server.filters.summary(filters, limit), server.filters.summary(advertised, limit)


def post(server: Server) -> None:
    if not server.stale_interests:
        return
    server.stale_interests = False
    schema = server.schema
    for neighbour in server.neighbours:
        content = due(server, neighbour)
        last = server.posted.get(neighbour)
        if last is None or (last.filters, last.advertisements) != content:
            server.posted[neighbour] = Interest(server.next_version(), *content, schema)
            server.send(neighbour, Posted(server.posted[neighbour]))


def on_posted(server: Server, neighbour: str, interest: Interest) -> None:
    held = server.held.get(neighbour)
    if (held and interest.version <= held.version) or interest.schema > server.schema:
        return  # older, or not yet understood: it is sent again until a heartbeat says that it is held
    if interest.version.incarnation > server.latest:
        return
    interest = replace(
        interest,
        filters=_bounded(server, interest.filters),
        advertisements=_bounded(server, interest.advertisements),
    )
    server.held[neighbour] = interest
    server.selectors[neighbour] = server.filters.selector(interest.filters)
    server.stale_interests = True


def _bounded(server: Server, filters: tuple[Filter, ...]) -> tuple[Filter, ...]:
    """Too many count as everything: more traffic, and nothing lost."""
    return filters if len(filters) <= server.limits.filters else (server.filters.everything,)


def on_holds(server: Server, neighbour: str, holds: Version) -> None:
    """The neighbour says which interest it holds: it is sent the newest until it has it."""
    posted = server.posted.get(neighbour)
    if posted and posted.version != holds:
        server.send(neighbour, Posted(posted))
