"""SCRIBE on the same peers: a group for each key of a path, whose multicast tree is the ways that the hash table routes
its members' joins, backwards.

As in the paper's evaluation, content is filtered at the host of the key. From there a document goes down the branches
that have a member it matches: the fewest copies that such a tree allows."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.overlay.xevent.delivery import DeliveryTree, PlacedPath
from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.ring import key_of
from tidings.overlay.xevent.sketch import Node, node_text
from tidings.overlay.xevent.system import CarriedDocument, first_way


class ScribeGroup:
    """The tree of one key. Who is in it but the root has a parent."""

    def __init__(self, peers: Peers, node: Node, members: Iterable[int]) -> None:
        self.key = key_of(node_text(node))
        self.members = sorted(members)
        self.root = peers.ring.owner(self.key)
        self.parents: dict[int, int] = {}
        for member in self.members:
            self.join(peers, member)

    def join(self, peers: Peers, peer: int) -> float:
        """Goes towards the key until somebody is in the tree; how long it takes, in milliseconds."""
        took = 0.0
        while peer != self.root:
            above = peers.ring.next_hop(peer, self.key)
            took += peers.hop_delay(peer, above, self.key)
            self.parents[peer] = above
            if above in self.parents:
                break
            peer = above
        return took

    def copied(self, left: Peers) -> ScribeGroup:
        """The tree as a crash leaves it: the root is the peer that owns the key now, and need not be in it."""
        other = object.__new__(ScribeGroup)
        other.key, other.members, other.root = self.key, self.members, left.ring.owner(self.key)
        other.parents = {one: above for one, above in self.parents.items() if one not in left.crashed}
        return other

    def branch(self, member: int) -> list[int]:
        """From the member up to the root."""
        way = [member]
        while way[-1] != self.root:
            way.append(self.parents[way[-1]])
        return way


class Scribe:
    def __init__(self, peers: Peers, tree: DeliveryTree) -> None:
        """`tree` is asked for the members alone: the subscribers of the paths with each key."""
        self.peers, self.tree = peers, tree
        members: dict[Node, set[int]] = {}
        for filter, subscribers in tree.subscribers.items():
            members.setdefault(filter.node, set()).update(subscribers)
        self.groups = {node: ScribeGroup(peers, node, members[node]) for node in sorted(members)}

    def carry(
        self, publisher: int, entrances: Iterable[Node], satisfied: Iterable[PlacedPath], routed: bool = False
    ) -> CarriedDocument:
        """To the group of each prefix of the document's element paths."""
        carried = CarriedDocument()
        prefixes = {root[:length] for root in entrances for length in range(1, len(root) + 1)}
        wanted: dict[Node, set[int]] = {}
        for filter in satisfied:
            wanted.setdefault(filter.node, set()).update(self.tree.subscribers[filter])
        for node in sorted(prefixes & self.groups.keys()):
            group = self.groups[node]
            times = {group.root: first_way(self.peers, carried, publisher, node, routed)}
            for member in sorted(wanted.get(node, ())):
                self._down(carried, group, member, times)
        return carried

    def _down(self, carried: CarriedDocument, group: ScribeGroup, member: int, times: dict[int, float]) -> None:
        """Only over those links of the branch that did not carry the document yet."""
        branch = group.branch(member)
        reached = next(place for place, peer in enumerate(branch) if peer in times)
        for place in range(reached, 0, -1):
            above, below = branch[place], branch[place - 1]
            carried.sends.append((above, below))
            times[below] = times[above] + self.peers.delay(above, below)
        carried.arrive(member, times[member])
