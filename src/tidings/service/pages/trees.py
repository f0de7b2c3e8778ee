"""A hierarchy as branches that a template can open: on the schema's page, and to choose from in a form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tidings.schema.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    below: tuple[Branch, ...]

    @property
    def count(self) -> int:
        return sum(1 + branch.count for branch in self.below)

    def leads_to(self, names: Collection[str]) -> bool:
        """Whether one of them lies below."""
        return any(branch.name in names or branch.leads_to(names) for branch in self.below)


def branches(hierarchy: Hierarchy, most: int) -> tuple[Branch, ...]:
    """None of a tree with more nodes than that: a page with all of them would be too slow to open."""
    return () if len(hierarchy) > most else _below(hierarchy.tree())


def _below(tree: Mapping[str, Any]) -> tuple[Branch, ...]:
    return tuple(Branch(name, _below(below)) for name, below in tree.items())
