"""A transit-stub topology of routers, as the Georgia Tech generator makes them: domains of transit routers, and round
each transit router stub domains, each joined to it by one link.

With 10 domains of 5 transit routers, 10 stubs each and 10 routers a stub there are 5,050. Since a stub has one way out,
a shortest way is up one stub, along the backbone and down another: small tables instead of one of 5,050 x 5,050."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Milliseconds, from and to.
_BETWEEN_DOMAINS, _BACKBONE, _UPLINK, _STUB = (30, 60), (10, 20), (3, 8), (1, 4)


class Routers:
    def __init__(self, seed: int, domains: int = 10, transits: int = 5, stubs: int = 10, size: int = 10) -> None:
        """`stubs` for each transit router, `size` routers in each."""
        chosen = np.random.default_rng(seed)
        self._links: dict[tuple[int, int], int] = {}
        self._transits, self._size, self._stubs = domains * transits, size, stubs
        self.count = self._transits * (1 + stubs * size)
        distances, after = shortest(self._backbone(chosen, domains, transits))
        self._across: list[list[float]] = distances.tolist()
        self._ways = [
            [self._links_of(after, one, other, 0) for other in range(self._transits)] for one in range(self._transits)
        ]
        self._within, self._after = shortest(self._stub_graphs(chosen))
        self._inside: list[list[list[float]]] = self._within.tolist()
        self._climb: list[float] = [0.0] * self._transits
        self._up: list[tuple[int, ...]] = [()] * self._transits
        for stub in range(self._transits * stubs):
            first = self._transits + stub * size
            gateway, uplink = int(chosen.integers(size)), float(chosen.uniform(*_UPLINK))
            link = self._link(stub // stubs, first + gateway)
            for place in range(size):
                self._climb.append(self._inside[stub][place][gateway] + uplink)
                self._up.append((*self._links_of(self._after[stub], place, gateway, first), link))

    @property
    def links(self) -> dict[tuple[int, int], int]:
        """Their numbers, by the routers at both ends."""
        return self._links

    def delay(self, one: int, other: int) -> float:
        """Milliseconds by the shortest way."""
        stub = self._stub(one)
        if stub is not None and stub == self._stub(other):
            return self._inside[stub][(one - self._transits) % self._size][(other - self._transits) % self._size]
        return self._climb[one] + self._across[self._transit(one)][self._transit(other)] + self._climb[other]

    def way(self, one: int, other: int) -> tuple[int, ...]:
        """The links that the shortest way takes."""
        stub = self._stub(one)
        if stub is not None and stub == self._stub(other):
            first = self._transits + stub * self._size
            return self._links_of(self._after[stub], one - first, other - first, first)
        return self._up[one] + self._ways[self._transit(one)][self._transit(other)] + self._up[other]

    def _stub(self, router: int) -> int | None:
        return None if router < self._transits else (router - self._transits) // self._size

    def _transit(self, router: int) -> int:
        stub = self._stub(router)
        return router if stub is None else stub // self._stubs

    def _link(self, one: int, other: int) -> int:
        return self._links.setdefault((min(one, other), max(one, other)), len(self._links))

    def _links_of(self, after: Integers, one: int, other: int, first: int) -> tuple[int, ...]:
        links = []
        while one != other:
            step = int(after[one, other])
            links.append(self._link(first + one, first + step))
            one = step
        return tuple(links)

    def _backbone(self, chosen: np.random.Generator, domains: int, transits: int) -> Floats:
        delays = np.full((self._transits, self._transits), np.inf)
        for domain in range(domains):
            for one, other in _graph(chosen, transits, 0.6):
                self._join(delays, domain * transits + one, domain * transits + other, chosen.uniform(*_BACKBONE))
        for one, other in _graph(chosen, domains, 0.3):
            ends = one * transits + int(chosen.integers(transits)), other * transits + int(chosen.integers(transits))
            self._join(delays, *ends, chosen.uniform(*_BETWEEN_DOMAINS))
        return delays

    def _stub_graphs(self, chosen: np.random.Generator) -> Floats:
        delays = np.full((self._transits * self._stubs, self._size, self._size), np.inf)
        for stub in range(len(delays)):
            for one, other in _graph(chosen, self._size, 0.2):
                first = self._transits + stub * self._size
                self._link(first + one, first + other)
                delays[stub, one, other] = delays[stub, other, one] = chosen.uniform(*_STUB)
        return delays

    def _join(self, delays: Floats, one: int, other: int, delay: float) -> None:
        self._link(one, other)
        delays[one, other] = delays[other, one] = delay


def shortest(delays: Floats) -> tuple[Floats, Integers]:
    """By Floyd and Warshall, of one graph or of many of the same size: the distances, and the node after the first on
    the way from it to the second."""
    found = delays.copy()
    size = found.shape[-1]
    diagonal = np.arange(size)
    found[..., diagonal, diagonal] = 0
    after = np.broadcast_to(diagonal, found.shape).copy()
    for middle in range(size):
        through = found[..., :, middle, None] + found[..., None, middle, :]
        better = through < found
        found = np.where(better, through, found)
        after = np.where(better, after[..., :, middle, None], after)
    return found, after


def _graph(chosen: np.random.Generator, size: int, share: float) -> list[tuple[int, int]]:
    """A random tree, and this share of the other pairs."""
    edges = {(int(chosen.integers(place)), place) for place in range(1, size)}
    more = [pair for pair in combinations(range(size), 2) if pair not in edges and chosen.random() < share]
    return [*sorted(edges), *more]
