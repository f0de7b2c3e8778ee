"""A schema as tables and trees on a terminal."""

from __future__ import annotations

import json

from rich.table import Table
from rich.tree import Tree

from tidings.cli.terminal import counted, plain
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind

_NODES_SHOWN = 40


def size_of(catalog: Catalog) -> str:
    sizes = (
        counted(len(catalog.event_types), "event type"),
        counted(len(catalog.attributes), "attribute"),
        counted(len(catalog.domains), "domain"),
    )
    return ", ".join(sizes)


def event_types_table(catalog: Catalog) -> Table:
    table = Table("event type", "attribute", "domain", "mandatory", "values", box=None, pad_edge=False)
    for event_type in catalog.event_types:
        name = event_type.name
        for use in event_type.attributes:
            domain = catalog.domain_of(use.name)
            mandatory, unique = "yes" if use.mandatory else "", "one" if use.unique else "several"
            table.add_row(plain(name), plain(use.name), plain(domain.name if domain else ""), mandatory, unique)
            name = ""
    return table


def domain_tree(domain: Domain) -> Tree:
    operators = " ".join(domain.operators or ())
    tree = Tree(f"[bold]{plain(domain.name)}[/] {domain.kind}: {plain(operators)}")
    if domain.kind is Kind.ENUMERATED:
        listed = ", ".join(json.dumps(value, ensure_ascii=False) for value in domain.values[:_NODES_SHOWN])
        tree.add(
            plain(listed + _more(len(domain.values)))
            + (" (in this order)" if domain.ordered else " (open)" if domain.open else "")
        )
    branches = {-1: tree}
    for number, node in enumerate(domain.hierarchy.names[:_NODES_SHOWN]):
        branches[number] = branches[domain.hierarchy.parents[number]].add(plain(node))
    if len(domain.hierarchy) > _NODES_SHOWN:
        tree.add(_more(len(domain.hierarchy)).removeprefix(", "))
    return tree


def _more(count: int) -> str:
    return f", … {count - _NODES_SHOWN:,} more" if count > _NODES_SHOWN else ""
