"""The tree along which interests and events go: all servers that know the same link states compute the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from tidings.overlay.values import LinkState

Link = tuple[str, str]  # the lesser name first


def mutual_links(states: Mapping[str, LinkState]) -> dict[Link, float]:
    """The links that both ends list, with the greater of their two weights."""
    weights = {name: dict(state.weights) for name, state in states.items()}
    links = {}
    for name, listed in weights.items():
        for other, weight in listed.items():
            back = weights.get(other, {}).get(name)
            if name < other and back is not None:
                links[name, other] = max(weight, back)
    return links


def spanning_tree(links: Mapping[Link, float]) -> frozenset[Link]:
    """The minimum spanning tree (of each part of the graph), by weight, then lesser name, then the other."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := parent.setdefault(name, name)) != name:
            parent[name] = parent.setdefault(above, above)
            name = parent[name]
        return name

    tree = []
    for link in sorted(links, key=lambda link: (links[link], link)):
        left, right = root(link[0]), root(link[1])
        if left != right:
            parent[left] = right
            tree.append(link)
    return frozenset(tree)


def first_hops(tree: Iterable[Link], start: str) -> dict[str, str]:
    """For each other server that the tree reaches: the neighbour that leads to it."""
    near: dict[str, list[str]] = {}
    for left, right in tree:
        near.setdefault(left, []).append(right)
        near.setdefault(right, []).append(left)
    hops: dict[str, str] = {name: name for name in near.get(start, ())}
    waiting = deque(hops)
    while waiting:
        name = waiting.popleft()
        for further in near[name]:
            if further != start and further not in hops:
                hops[further] = hops[name]
                waiting.append(further)
    return hops
