"""Peers at routers: how long a message takes from one to another, by which links, and how the hash table routes it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np

from tidings.overlay.xevent.ring import Ring, key_of
from tidings.overlay.xevent.routers import Routers

_LAN = 1.0  # milliseconds from a peer to its router
_TIMEOUT = 500.0  # milliseconds until a peer that does not answer is passed over


class Peers:
    def __init__(self, count: int, seed: int, met: int = 16, routers: Routers | None = None) -> None:
        self.routers = routers or Routers(seed)
        chosen = np.random.default_rng((seed, 1))
        ids = np.unique(chosen.integers(0, 2**64, count, np.uint64))
        while len(ids) < count:
            ids = np.unique(np.append(ids, chosen.integers(0, 2**64, count - len(ids), np.uint64)))
        self.count = count
        self._router: list[int] = chosen.integers(0, self.routers.count, count).tolist()
        self._met = met
        self._whole = self.ring = Ring(ids.tolist(), self.delay, met)
        self.crashed: frozenset[int] = frozenset()

    def after_crash(self, crashed: Collection[int]) -> Peers:
        """The same peers without these. Tables are repaired when they are used: an entry that has crashed costs a
        time-out."""
        left = object.__new__(Peers)
        left.__dict__ |= self.__dict__
        left.crashed = frozenset(crashed)
        left.ring = Ring(self.ring.ids, self.delay, self._met, left.crashed)
        return left

    def delay(self, one: int, other: int) -> float:
        """Milliseconds over the network below."""
        if one == other:
            return 0.0
        return 2 * _LAN + self.routers.delay(self._router[one], self._router[other])

    def way(self, one: int, other: int) -> tuple[int, ...]:
        """The links that a message takes: those of routers, then the two of peers."""
        if one == other:
            return ()
        first = len(self.routers.links)
        return (*self.routers.way(self._router[one], self._router[other]), first + one, first + other)

    @property
    def links(self) -> int:
        return len(self.routers.links) + self.count

    def host(self, text: str) -> int:
        return self.ring.owner(key_of(text))

    def route(self, peer: int, text: str) -> tuple[list[int], float]:
        """The peers on the way to the text's host, and the milliseconds it takes."""
        key = key_of(text)
        way = self.ring.route(peer, key)
        return way, sum(self.hop_delay(one, other, key) for one, other in pairwise(way))

    def hop_delay(self, one: int, other: int, key: int) -> float:
        missed = self.crashed and self._whole.next_hop(one, key) in self.crashed
        return self.delay(one, other) + (_TIMEOUT if missed else 0.0)
