"""Comparisons between attributes as a graph. Deciding a conjunction whose comparisons form a long cycle is graph
colouring, so that is refused; a forest is decided in one pass, and a cycle of three attributes is searched. Kernels do
not search cycles with arithmetic, which are therefore refused, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from tidings.language.errors import ComparisonCycle
from tidings.language.normal_form import Conjunction
from tidings.language.predicates import KINDS, chosen_attributes
from tidings.language.tree import LinearComparison, Not

LONGEST_CYCLE = 3  # attributes
NO_CYCLE = 2  # where one of the comparisons computes

_MAY_RELATE = frozenset((Not, *(node for node, kind in KINDS.items() if kind.other_attributes)))


def refuse_cycles(conjunctions: Iterable[Conjunction], text: str) -> None:
    """Raises ComparisonCycle."""
    for conjunction in conjunctions:
        if len(conjunction) >= LONGEST_CYCLE and not _MAY_RELATE.isdisjoint(map(type, conjunction)):
            _refuse_cycles(conjunction, text)


def _refuse_cycles(conjunction: Conjunction, text: str) -> None:
    compared = [(literal, pair) for literal in conjunction for pair in combinations(chosen_attributes(literal), 2)]
    neighbours: dict[str, set[str]] = {}
    for _, (one, other) in compared:
        if one != other:
            neighbours.setdefault(one, set()).add(other)
            neighbours.setdefault(other, set()).add(one)
    for component in _biconnected(neighbours):
        if len(component) > NO_CYCLE:
            literals = [literal for literal, pair in compared if len({*pair} & component) > 1]
            limit = NO_CYCLE if any(isinstance(one, LinearComparison) for one in literals) else LONGEST_CYCLE
            if len(component) > limit:
                predicate = literals[0].term if isinstance(literals[0], Not) else literals[0]
                names = tuple(name for name in neighbours if name in component)
                raise ComparisonCycle(text, predicate.at, names, limit)  # type: ignore[union-attr]


def _biconnected(neighbours: dict[str, set[str]]) -> Iterator[set[str]]:
    """The biconnected components (Hopcroft and Tarjan), without recursion. One of three or more nodes has a cycle
    through any two of them; an edge outside all cycles is one of two nodes."""
    depth: dict[str, int] = {}
    lowest: dict[str, int] = {}  # depth that the node's subtree reaches by one edge back
    for root in neighbours:
        if root in depth:
            continue
        depth[root] = lowest[root] = 0
        path = [(root, iter(neighbours[root]))]
        waiting = [root]  # nodes whose component is not complete
        while path:
            node, rest = path[-1]
            for other in rest:
                if other not in depth:
                    depth[other] = lowest[other] = len(path)
                    path.append((other, iter(neighbours[other])))
                    waiting.append(other)
                    break
                if len(path) < 2 or other != path[-2][0]:
                    lowest[node] = min(lowest[node], depth[other])
            else:
                path.pop()
                if not path:
                    break
                parent = path[-1][0]
                lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] >= depth[parent]:
                    component = {parent, waiting.pop()}
                    while node not in component:
                        component.add(waiting.pop())
                    yield component
