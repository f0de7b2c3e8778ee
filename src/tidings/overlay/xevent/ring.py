"""Peers on a ring of 64-bit ids, and prefix routing among them, as Pastry and Bamboo do it.

No routing table is stored: what a table would hold is computed from the sorted ids, so 100,000 peers take a few
megabytes. An entry is the nearest, by delay, of some peers with the wanted prefix; which ones a peer has met follows
from its id. Peers are numbers, in the order of their ids, and keep them when others crash."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256

BITS = 64
_DIGIT = 4  # bits
LEAVES = 8  # on each side
_LONGEST = 1 << BITS


def key_of(text: str) -> int:
    """Where the ring has this text."""
    return int.from_bytes(sha256(text.encode()).digest()[: BITS // 8])


class Ring:
    def __init__(
        self,
        ids: Sequence[int],
        delay: Callable[[int, int], float],
        met: int = 16,
        crashed: Collection[int] = (),
    ) -> None:
        """`ids` ascend. `met` is how many peers an entry is the nearest of."""
        self.ids = ids
        self._delay, self._met = delay, met
        gone = set(crashed)
        self._live = [peer for peer in range(len(ids)) if peer not in gone]
        self._live_ids = [ids[peer] for peer in self._live]
        self._entries: dict[tuple[int, int, int], int] = {}

    def owner(self, key: int) -> int:
        """The live peer whose id is nearest to the key on the ring; of two, the one with the lesser id."""
        return self._live[self._nearest(key)]

    def _nearest(self, key: int) -> int:
        after = bisect_left(self._live_ids, key)
        places = (after - 1) % len(self._live), after % len(self._live)
        return min(places, key=lambda place: (_distance(self._live_ids[place], key), self._live_ids[place]))

    def next_hop(self, peer: int, key: int) -> int:
        """The live peer that this one passes the key to; itself where it is the owner."""
        own = self.ids[peer]
        place, target = bisect_left(self._live_ids, own), self._nearest(key)
        gap = (target - place) % len(self._live)
        if min(gap, len(self._live) - gap) <= LEAVES:
            return self._live[target]
        shared = (BITS - (own ^ key).bit_length()) // _DIGIT
        width = 1 << (BITS - _DIGIT * (shared + 1))
        low = key // width * width
        step = -width if own < key else width
        while low != own // width * width:  # nobody has one digit more: the nearest digit between, which is nearer
            if bisect_left(self._live_ids, low) < bisect_left(self._live_ids, low + width):
                return self._entry(peer, low, width)
            low += step
        return self._live[place + (LEAVES if own < key else -LEAVES)]  # the last leaf on the way

    def route(self, peer: int, key: int) -> list[int]:
        """From this peer to the owner, both included."""
        way = [peer]
        while (after := self.next_hop(way[-1], key)) != way[-1]:
            way.append(after)
        return way

    def _entry(self, peer: int, low: int, width: int) -> int:
        """Of the peers from `low` on, the nearest that this one has met. Others' crashes change it only where they
        were met: each is the first one at or after a point that follows from the peer's id."""
        known = self._entries.get((peer, low, width))
        if known is None:
            first, stop = bisect_left(self._live_ids, low), bisect_left(self._live_ids, low + width)
            if stop - first <= self._met:
                met: Collection[int] = range(first, stop)
            else:
                points = (low + _mixed(self.ids[peer] ^ low, number) % width for number in range(self._met))
                met = {first if (at := bisect_left(self._live_ids, point)) >= stop else at for point in points}
            known = min((self._live[at] for at in met), key=lambda other: (self._delay(peer, other), other))
            self._entries[peer, low, width] = known
        return known


def _distance(one: int, other: int) -> int:
    gap = (one - other) % _LONGEST
    return min(gap, _LONGEST - gap)


def _mixed(value: int, number: int) -> int:
    """Splitmix64: as good as random, and the same in every run."""
    value = (value + (number + 1) * 0x9E3779B97F4A7C15) % _LONGEST
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % _LONGEST
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % _LONGEST
    return value ^ (value >> 31)
