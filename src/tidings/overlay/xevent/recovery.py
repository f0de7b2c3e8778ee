"""XEvent after a crash of many peers at once (section IV.D): heartbeats, leases, and documents that go round a node
whose host is gone.

The hosts of linked nodes exchange heartbeats, and that of the topic with the roots. Who misses three in a row looks the
other's key up; the peer that owns it now becomes the host, and looks up the nodes that it is linked to. It begins
without filters: subscribers renew their leases, and each renewal brings its filter to the present host. Until then
whoever gets a document for the node, or does not know all nodes that it is linked to, sends it by the hash table to the
hosts of all shorter prefixes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from heapq import heappop, heappush

from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.sketch import Node, node_text
from tidings.overlay.xevent.system import XEvent

TOPIC: Node = ()
Subscription = tuple[int, Node]  # a peer, and the node that has its filter


@dataclass(frozen=True, slots=True)
class Periods:
    """Seconds."""

    heartbeat: float = 10.0
    missed: int = 3  # heartbeats in a row, then the other is taken for crashed
    lease: float = 30.0  # within it a subscriber renews: as long as it takes to notice a crash


@dataclass(frozen=True, slots=True, order=True)
class _Lookup:
    """Arrives at the owner of the node's key: from the host of another node, or to renew a subscription."""

    time: float
    node: Node
    source: Node = TOPIC
    subscription: Subscription | tuple[()] = ()


class Recovery:
    """The crash is at second 0."""

    def __init__(self, xevent: XEvent, left: Peers, chosen: random.Random, periods: Periods | None = None) -> None:
        """`left` are the peers after the crash."""
        self._peers, self._sketch = left, xevent.tree.sketch
        self.hosts = {TOPIC: xevent.peers.host(node_text(TOPIC)), **xevent.hosts}
        self._linked: dict[Node, set[Node]] = {node: set() for node in self.hosts}  # in both directions
        self._below = {TOPIC: set(self._sketch.roots), **xevent.links}
        for node, others in self._below.items():
            for other in others:
                self._linked[node].add(other)
                self._linked[other].add(node)
        self._known = {  # who knows the address of whom
            (node, other)
            for node, others in self._linked.items()
            for other in others
            if not self._gone(node) and not self._gone(other)
        }
        self.subscriptions = sorted(
            {
                (subscriber, filter.node)
                for filter, subscribers in xevent.tree.subscribers.items()
                for subscriber in subscribers - left.crashed
            }
        )
        self._held = {one for one in self.subscriptions if not self._gone(one[1])}
        self._lookups: list[_Lookup] = []
        self._plan(chosen, periods or Periods())

    def run(self, until: float) -> bool:
        """Whether anything happened."""
        before = len(self._held), len(self._known)
        while self._lookups and self._lookups[0].time <= until:
            lookup = heappop(self._lookups)
            if self._gone(lookup.node):
                self.hosts[lookup.node] = self._peers.host(node_text(lookup.node))
                for other in sorted(self._linked[lookup.node]):
                    self._look_up(lookup.time, self.hosts[lookup.node], other, lookup.node)
            if lookup.subscription:
                self._held.add(lookup.subscription)
            else:
                self._known |= {(lookup.source, lookup.node), (lookup.node, lookup.source)}
        return before != (len(self._held), len(self._known))

    def reached(self) -> int:
        """How many of the subscriptions a document would reach that matches them and has all element paths."""
        nodes = self._reached()
        return sum(one[1] in nodes and one in self._held for one in self.subscriptions)

    def _gone(self, node: Node) -> bool:
        return self.hosts[node] in self._peers.crashed

    def _plan(self, chosen: random.Random, periods: Periods) -> None:
        """Lookups when heartbeats are missed, and the first renewal of each lease whose filter is lost: the others
        change nothing."""
        for node, others in sorted(self._linked.items()):
            for other in sorted(others):
                noticed = (chosen.random() + periods.missed - 1) * periods.heartbeat
                if self._gone(other) and not self._gone(node):
                    self._look_up(noticed, self.hosts[node], other, node)
        for subscription in self.subscriptions:
            renewed = chosen.random() * periods.lease
            if self._gone(subscription[1]):
                self._look_up(renewed, subscription[0], subscription[1], subscription=subscription)

    def _look_up(
        self,
        time: float,
        sender: int,
        node: Node,
        source: Node = TOPIC,
        subscription: Subscription | tuple[()] = (),
    ) -> None:
        _, milliseconds = self._peers.route(sender, node_text(node))
        heappush(self._lookups, _Lookup(time + milliseconds / 1000, node, source, subscription))

    def _reached(self) -> set[Node]:
        """Publishers route to the roots, so they find the present owners."""
        found: set[Node] = set()
        waiting = list(self._sketch.roots)
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            found.add(node)
            below = self._below.get(node, set())
            if self._gone(node) or any((node, other) not in self._known for other in below):
                waiting += (node[:length] for length in range(1, len(node)))
            else:
                waiting += below
        return {node for node in found if not self._gone(node)}
