"""XEvent and SCRIBE side by side: relative delay penalty and link stress (XEvent, section V, figures 7 and 8)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidings.documents.selection import selected
from tidings.documents.tree import DocumentNode, read_tree
from tidings.overlay.xevent.delivery import DeliveryTree, PlacedPath
from tidings.overlay.xevent.peers import Peers
from tidings.overlay.xevent.records import ELEMENT_PATHS, random_document, random_paths
from tidings.overlay.xevent.scribe import Scribe
from tidings.overlay.xevent.sketch import SketchTree
from tidings.overlay.xevent.system import CarriedDocument, XEvent


@dataclass(frozen=True, slots=True)
class PeerSetting:
    peers: int = 2000
    paths: int = 256  # each subscribed to by a peer of its own, as far as there are enough
    documents: int = 20
    met: int = 16  # peers that an entry of a routing table is the nearest of; 1: delays do not count
    seed: int = 1


@dataclass(frozen=True, slots=True)
class World:
    """Both systems with the same peers and the same subscribers."""

    setting: PeerSetting
    peers: Peers
    tree: DeliveryTree
    xevent: XEvent
    scribe: Scribe


@dataclass(frozen=True, slots=True)
class PeerTraffic:
    """Of one system. Penalties are how much longer a document takes to a subscriber than a message from the publisher;
    `stress[n]` is how many links carry n copies of a document, on average."""

    system: str
    penalties: npt.NDArray[np.float64]
    first_penalties: npt.NDArray[np.float64]  # when the publisher does not know the hosts yet
    total_penalty: float  # all delays together, by all delays of the network below
    stress: npt.NDArray[np.float64]
    sends: float  # from peer to peer, for a document
    missed: int  # matches that did not arrive

    @property
    def mean_stress(self) -> float:
        """Copies over all links, by the number of links."""
        return float(self.stress @ np.arange(len(self.stress)) / self.stress.sum())

    @property
    def greatest_stress(self) -> int:
        return len(self.stress) - 1


def world(setting: PeerSetting, advance: Callable[[str], None] = lambda _: None) -> World:
    advance("placing peers")
    peers = Peers(setting.peers, setting.seed, setting.met)
    chosen = random.Random(setting.seed)
    tree = DeliveryTree(SketchTree(ELEMENT_PATHS))
    paths = random_paths(setting.paths, setting.seed)
    homes = chosen.sample(range(peers.count), min(len(paths), peers.count))
    for number, path in enumerate(paths):
        if number % 64 == 0:
            advance("subscribing")
        tree.subscribe(homes[number % len(homes)], path)
    return World(setting, peers, tree, XEvent(peers, tree), Scribe(peers, tree))


def compare(made: World, advance: Callable[[str], None] = lambda _: None) -> tuple[list[PeerTraffic], float]:
    """The traffic of XEvent, of SCRIBE and of one message to each subscriber; and the share of a document's matches
    that needed no test."""
    chosen = random.Random(made.setting.seed + 1)
    counts = {"XEvent": _Counts(made.peers), "SCRIBE": _Counts(made.peers), "unicast": _Counts(made.peers)}
    tested = satisfied = 0
    for _ in range(made.setting.documents):
        advance("publishing")
        document, publisher = read_tree(random_document(chosen)), chosen.randrange(made.peers.count)
        entrances = made.tree.sketch.entrances(document)
        found = made.tree.satisfied(made.xevent.reached(entrances), holds_in(document))
        tested, satisfied = tested + sum(found.values()), satisfied + len(found)
        wanted = {one for filter in found for one in made.tree.subscribers[filter]}
        for name, system in (("XEvent", made.xevent), ("SCRIBE", made.scribe)):
            first = system.carry(publisher, entrances, found, routed=True)
            counts[name].add(publisher, wanted, system.carry(publisher, entrances, found), first)
        alone = _unicast(made.peers, publisher, wanted)
        counts["unicast"].add(publisher, wanted, alone, alone)
    traffics = [one.traffic(name, made.setting.documents) for name, one in counts.items()]
    return traffics, 1 - tested / max(satisfied, 1)


def holds_in(document: DocumentNode) -> Callable[[PlacedPath], bool]:
    return lambda filter: bool(selected(filter.path, document))


def _unicast(peers: Peers, publisher: int, wanted: Iterable[int]) -> CarriedDocument:
    carried = CarriedDocument()
    for subscriber in sorted(wanted):
        carried.sends.append((publisher, subscriber))
        carried.arrive(subscriber, peers.delay(publisher, subscriber))
    return carried


class _Counts:
    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._penalties: list[float] = []
        self._first: list[float] = []
        self._took = self._direct = 0.0
        self._stress: npt.NDArray[np.float64] = np.zeros(1)
        self._sends = self._missed = 0

    def add(self, publisher: int, wanted: set[int], carried: CarriedDocument, first: CarriedDocument) -> None:
        self._sends += sum(one != other for one, other in carried.sends)
        self._missed += len(wanted ^ carried.arrivals.keys())
        for subscriber in sorted(wanted - {publisher}):
            direct = self._peers.delay(publisher, subscriber)
            self._penalties.append(carried.arrivals[subscriber] / direct)
            self._first.append(first.arrivals[subscriber] / direct)
            self._took, self._direct = self._took + carried.arrivals[subscriber], self._direct + direct
        links = [link for one, other in carried.sends for link in self._peers.way(one, other)]
        copies = np.bincount(np.bincount(np.array(links, np.int64), minlength=self._peers.links))
        together = np.zeros(max(len(copies), len(self._stress)))
        together[: len(self._stress)] = self._stress
        together[: len(copies)] += copies
        self._stress = together

    def traffic(self, name: str, documents: int) -> PeerTraffic:
        total = self._took / self._direct if self._direct else 1.0
        penalties, first = np.sort(self._penalties), np.sort(self._first)
        return PeerTraffic(
            name, penalties, first, total, self._stress / documents, self._sends / documents, self._missed
        )
