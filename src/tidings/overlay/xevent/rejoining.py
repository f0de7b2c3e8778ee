"""SCRIBE after a crash of many peers at once: who misses three heartbeats of its parent joins again.

The hash table leads the join round the peers that are gone, and to the key's new owner, if the root is gone. Without
`repair` it is the basic SCRIBE of the paper's evaluation, in which nobody joins again."""

from __future__ import annotations

import random
from heapq import heappop, heappush

from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.recovery import Periods
from tidings.overlay.xevent.scribe import Scribe
from tidings.overlay.xevent.sketch import Node, node_text


class Rejoining:
    """The crash is at second 0."""

    def __init__(
        self,
        scribe: Scribe,
        left: Peers,
        chosen: random.Random,
        periods: Periods | None = None,
        repair: bool = True,
    ) -> None:
        """`left` are the peers after the crash."""
        self._peers, periods = left, periods or Periods()
        self._groups = {node: group.copied(left) for node, group in scribe.groups.items()}
        self._joins: list[tuple[float, Node, int]] = []
        for node, group in self._groups.items() if repair else ():
            for peer, parent in sorted(group.parents.items()):
                noticed = (chosen.random() + periods.missed - 1) * periods.heartbeat
                if parent in left.crashed:
                    _, milliseconds = left.route(peer, node_text(node))
                    heappush(self._joins, (noticed + milliseconds / 1000, node, peer))
        self.subscriptions = [
            (member, node)
            for node, group in self._groups.items()
            for member in group.members
            if member not in left.crashed
        ]

    def run(self, until: float) -> bool:
        """Whether anything happened. A join is taken to last as long as its way to the root would."""
        before = len(self._joins)
        while self._joins and self._joins[0][0] <= until:
            _, node, peer = heappop(self._joins)
            self._groups[node].join(self._peers, peer)
        return before != len(self._joins)

    def reached(self) -> int:
        """How many of the subscriptions a document would reach that matches them."""
        connected = {node: {group.root: True} for node, group in self._groups.items()}
        return sum(self._connected(node, member, connected[node]) for member, node in self.subscriptions)

    def _connected(self, node: Node, member: int, known: dict[int, bool]) -> bool:
        parents = self._groups[node].parents
        way = [member]
        while way[-1] not in known:
            above = parents.get(way[-1])
            if above is None or above in self._peers.crashed:
                known[way[-1]] = False
            else:
                way.append(above)
        found = known[way[-1]]
        known.update(dict.fromkeys(way, found))
        return found
