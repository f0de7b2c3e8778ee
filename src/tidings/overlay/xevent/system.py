"""How XEvent carries a document (section IV.C): from the publisher to the roots of its element paths, from node to node
along the links of the delivery tree, and from each node to its subscribers.

A node passes a document on when it first comes. The hosts of linked nodes know each other's addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise

from tidings.overlay.xevent.delivery import DeliveryTree, PlacedPath
from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.sketch import Node, node_text


@dataclass(slots=True)
class CarriedDocument:
    """One document: what was sent from peer to peer, when it came to each subscriber, in milliseconds."""

    sends: list[tuple[int, int]] = field(default_factory=list)
    arrivals: dict[int, float] = field(default_factory=dict)

    def arrive(self, subscriber: int, time: float) -> None:
        self.arrivals[subscriber] = min(time, self.arrivals.get(subscriber, time))


class XEvent:
    def __init__(self, peers: Peers, tree: DeliveryTree) -> None:
        self.peers, self.tree = peers, tree
        self.links = tree.links()
        self.hosts = {node: peers.host(node_text(node)) for node in tree.sketch.nodes}

    def reached(self, entrances: Iterable[Node]) -> set[Node]:
        """The nodes that a document comes to."""
        found = set(entrances)
        waiting = list(found)
        while waiting:
            more = self.links.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return found

    def carry(
        self, publisher: int, entrances: Iterable[Node], satisfied: Iterable[PlacedPath], routed: bool = False
    ) -> CarriedDocument:
        """`routed`: the publisher does not know the addresses of the roots, and finds them by the hash table."""
        carried = CarriedDocument()
        waiting: list[tuple[float, Node]] = []
        for node in entrances:
            heappush(waiting, (first_way(self.peers, carried, publisher, node, routed), node))
        times: dict[Node, float] = {}
        while waiting:
            time, node = heappop(waiting)
            if node in times:
                continue  # a duplicate; discarded
            times[node] = time
            for other in sorted(self.links.get(node, ())):
                carried.sends.append((self.hosts[node], self.hosts[other]))
                heappush(waiting, (time + self.peers.delay(self.hosts[node], self.hosts[other]), other))
        self._to_subscribers(carried, times, satisfied)
        return carried

    def _to_subscribers(
        self, carried: CarriedDocument, times: Mapping[Node, float], satisfied: Iterable[PlacedPath]
    ) -> None:
        """A node sends to each of them once."""
        wanted = sorted({(filter.node, one) for filter in satisfied for one in self.tree.subscribers[filter]})
        for node, subscriber in wanted:
            carried.sends.append((self.hosts[node], subscriber))
            carried.arrive(subscriber, times[node] + self.peers.delay(self.hosts[node], subscriber))


def first_way(peers: Peers, carried: CarriedDocument, publisher: int, node: Node, routed: bool) -> float:
    """From the publisher to the host of a node; how long it takes."""
    way, time = peers.route(publisher, node_text(node))
    if not routed:
        way, time = [publisher, way[-1]], peers.delay(publisher, way[-1])
    carried.sends += pairwise(way)
    return time
