"""A network that has run for long: large ones need not be started link by link."""

from __future__ import annotations

from collections.abc import Mapping

from tidings.overlay.filters import Filters
from tidings.overlay.orders import load
from tidings.overlay.simulation.network import Network
from tidings.overlay.tree import Link, first_hops, spanning_tree
from tidings.overlay.values import Distribute, Distribution, Limits, LinkState, Stamp, Timing


def warm_network(
    links: Mapping[Link, float],
    filters: Filters,
    distribution: Distribution = "subscriptions",
    seed: int = 0,
    timing: Timing | None = None,
    limits: Limits | None = None,
) -> Network:
    """All links are alive, every server knows every other and the tree. Nobody has subscribed yet."""
    network = Network(links, filters, seed, timing=timing, limits=limits)
    servers = {name: host.server for name, host in network.hosts.items() if host.server is not None}
    states, heads = {}, {}
    for name, server in servers.items():
        for link in server.links.values():
            link.alive, link.answering_since = True, 0.0
        weights = tuple(sorted((other, link.weight) for other, link in server.links.items()))
        states[name] = LinkState(server.identity, server.next_version(), weights)
        heads[name] = server.heads[name]
    tree = spanning_tree(links)
    for name, server in servers.items():
        server.states, server.known, server.heads = dict(states), None, dict(heads)
        server.tree, server.stale_tree, server.hops = tree, False, first_hops(tree, name)
        server.neighbours = tuple(sorted(one for one, hop in server.hops.items() if one == hop))
        _prepare(network, name, heads, distribution)
    return network


def _prepare(network: Network, name: str, heads: dict[str, Stamp], distribution: Distribution) -> None:
    host = network.hosts[name]
    assert host.server is not None
    marks = {other: head for other, head in heads.items() if other != name}
    for durable in (host.disk, host.server.durable):
        durable.marks = dict(marks)
        durable.orders = [("distribution", Distribute(distribution))]
    load(host.server)
    for other in marks:
        network.first_marked[name, other] = 0.0
