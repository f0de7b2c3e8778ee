"""A hierarchy as branches that a template can open: on the schema's page, and to choose from in a form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tidings.schema.hierarchy import NO_PARENT, SEPARATOR, Hierarchy

DEEPEST = 50  # levels that a page opens


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    path: str
    below: tuple[Branch, ...]

    @property
    def count(self) -> int:
        return sum(1 + branch.count for branch in self.below)

    def leads_to(self, paths: Collection[str]) -> bool:
        """Whether one of them lies below."""
        return any(branch.path in paths or branch.leads_to(paths) for branch in self.below)


def obstacle(hierarchy: Hierarchy, most: int) -> str:
    """Why a page cannot open the tree, '' where it can: with more nodes than that it would be too slow, and templates
    go down a level by calling themselves."""
    if len(hierarchy) > most:
        return "too many"
    levels: list[int] = []
    for parent in hierarchy.parents:  # parents come before their children
        levels.append(1 if parent == NO_PARENT else levels[parent] + 1)
    return "too deep" if max(levels, default=0) > DEEPEST else ""


def branches(hierarchy: Hierarchy, most: int) -> tuple[Branch, ...]:
    """None where there is an obstacle."""
    return () if obstacle(hierarchy, most) else _below(hierarchy.tree())


def _below(tree: Mapping[str, Any], above: str = "") -> tuple[Branch, ...]:
    paths = {name: f"{above}{SEPARATOR}{name}" if above else name for name in tree}
    return tuple(Branch(name, paths[name], _below(below, paths[name])) for name, below in tree.items())
