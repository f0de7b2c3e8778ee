"""What a network promised, and what came of it, as an observer who sees everything tells."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.overlay.interests import due
from tidings.overlay.simulation.network import Host, Network
from tidings.overlay.tree import spanning_tree
from tidings.overlay.values import BEGINNING, Event


def lost(network: Network, by_marks: bool = False) -> list[str]:
    """Events that a subscription was promised and that its server neither has nor reports as a gap. With `by_marks`, at
    any time: only those that the server's mark claims it has."""
    return [
        f"{subscription} at {host.name}: {event.id} of {event.origin}, {event.stamp}"
        for subscription, host, event in promised(network)
        if event.key not in host.notes.get(subscription, ())
        and not any(_is_repetition(one, event) for one in (host, *_before(network, subscription)))
        and not _in_gap(host, event)
        and (
            not by_marks or (event.origin != host.name and event.stamp <= host.disk.marks.get(event.origin, BEGINNING))
        )
    ]


def promised(network: Network) -> Iterator[tuple[str, Host, Event]]:
    """What was accepted after "subscribed", by an origin marked by then, and not lost when the origin was restored."""
    kept = [(moment, event) for moment, event in network.accepted.values() if _is_kept(network, event)]
    for subscription, (name, filter, since) in network.subscribed.items():
        for moment, event in kept:
            marked = since if event.origin == name else network.first_marked.get((name, event.origin), moment)
            if moment > max(since, marked) and network.filters.matches(filter, event.content):
                yield subscription, network.hosts[name], event


def _is_kept(network: Network, event: Event) -> bool:
    journal = network.hosts[event.origin].disk.journal
    return event.key in journal.keys and event.stamp not in journal.taken.get(event.origin, ())


def _before(network: Network, subscription: str) -> Iterator[Host]:
    """Where it was before it moved: what was a repetition there is not news where it is now."""
    return (network.hosts[name] for name in network.lived.get(subscription, ()))


def _is_repetition(host: Host, event: Event) -> bool:
    """Whether the journal has the event's source and id from another acceptance, perhaps before the subscription."""
    journal = host.disk.journal
    return event.key in journal.keys and event.stamp not in journal.taken.get(event.origin, ())


def _in_gap(host: Host, event: Event) -> bool:
    place = event.stamp.position
    return any(gap.origin == event.origin and gap.after < place <= gap.through for gap in host.disk.gaps)


def unsettled(network: Network) -> list[str]:
    """What should be equal, empty or level once everything works and some time has passed."""
    wanted = spanning_tree(network.links)
    found = []
    for name, host in network.hosts.items():
        server = host.server
        if server is None:
            found.append(f"{name} is down")
            continue
        if server.tree != wanted:
            found.append(f"{name}: its tree differs by {sorted(server.tree ^ wanted)}")
        found += [f"{name}: events wait for {one}" for one, queue in server.queues.items() if queue.waiting]
        for neighbour in server.neighbours:
            other = network.hosts[neighbour].server
            held = server.held.get(neighbour)
            if other is None or held is None or (held.filters, held.advertisements) != due(other, name):
                found.append(f"{name}: the interest held from {neighbour} is not what that has")
        for origin, other_host in network.hosts.items():
            if origin != name and other_host.server is not None:
                mark, head = host.disk.marks.get(origin, BEGINNING), other_host.server.heads[origin]
                if mark != head:
                    found.append(f"{name}: its mark of {origin} is {mark}, the head {head}")
    return found


def doubled(network: Network) -> list[str]:
    """Events that a journal has twice."""
    hosts = network.hosts.values()
    return [host.name for host in hosts if len(host.disk.journal.entries) != len(host.disk.journal.keys)]
