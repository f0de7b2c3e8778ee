"""How long after its last time an instance of a node may become known."""

from __future__ import annotations

from typing import assert_never

from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Pair,
    Root,
    Times,
    Unless,
    operands,
)


def lag(node: Root) -> int:
    """The node's frontier is this much before that of the leaves."""
    match node:
        case Leaf() | Every() | EveryDay():
            return 0
        case Before() | Both():
            return operand_lag(node) + own_lag(node)
        case Either() | Unless() | Nth() | Times() | Absent():
            return operand_lag(node)
        case _:
            assert_never(node)


def operand_lag(node: Root) -> int:
    """The least of its operands' frontiers is this much before that of the leaves."""
    return max(lag(operand) for operand in operands(node))


def own_lag(node: Pair) -> int:
    """Pairs that wait for a frame to pass become known up to a frame later."""
    completing = node.select[1:] if isinstance(node, Before) else node.select
    return int(node.within) if node.final or "last" in completing else 0
