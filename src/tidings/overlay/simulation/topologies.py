"""Graphs of servers: links by the names of their ends, with the delay in milliseconds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from tidings.overlay.tree import Link

Topology = dict[Link, float]


def names(count: int) -> list[str]:
    width = len(str(max(count - 1, 1)))
    return [f"s{number:0{width}}" for number in range(count)]


def line(count: int, seed: int = 0) -> Topology:
    servers = names(count)
    return dict.fromkeys(itertools.pairwise(servers), 10.0)


def star(count: int, seed: int = 0) -> Topology:
    servers = names(count)
    return {(servers[0], other): 10.0 for other in servers[1:]}


def tree(count: int, seed: int = 0, children: int = 3) -> Topology:
    """The hierarchy of SIENA: each server but the first has one parent."""
    servers = names(count)
    return {(servers[(place - 1) // children], servers[place]): 10.0 for place in range(1, count)}


def ring(count: int, seed: int = 0) -> Topology:
    links = line(count)
    if count > 2:
        servers = names(count)
        links[servers[0], servers[-1]] = 10.0
    return links


def scattered(count: int, seed: int = 0) -> Topology:
    """A random tree and half as many further links, delays from 1 to 64 ms."""
    chosen = random.Random(seed)
    servers = names(count)
    pairs = [(chosen.randrange(place), place) for place in range(1, count)]
    for _ in range(count // 2 if count > 1 else 0):
        pairs.append(tuple(sorted(chosen.sample(range(count), 2))))  # type: ignore[arg-type]
    return {(servers[one], servers[other]): float(2 ** chosen.randrange(7)) for one, other in pairs}


def transit_stub(count: int, seed: int = 0) -> Topology:
    """A ring of transit servers with chords, 32 ms apart; round each of them stubs of up to nine servers, 1 to 4 ms."""
    chosen = random.Random(seed)
    servers = names(count)
    transits = max(count // 10, 1)
    links = {(servers[place], servers[place + 1]): 32.0 for place in range(transits - 1)}
    if transits > 2:
        links[servers[0], servers[transits - 1]] = 32.0
        for place in range(0, transits - 3, 3):
            links[servers[place], servers[place + 3]] = 64.0
    for place in range(transits, count):
        home = place % transits
        stub = [home, *range(transits + home, place, transits)]
        links[servers[chosen.choice(stub)], servers[place]] = float(2 ** chosen.randrange(3))
    return links


TOPOLOGIES: dict[str, Callable[[int, int], Topology]] = {
    "line": line,
    "star": star,
    "tree": tree,
    "ring": ring,
    "random": scattered,
    "transit-stub": transit_stub,
}
