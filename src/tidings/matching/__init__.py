"""Decides which filters match which events: the `Algorithm` contract, the naive matcher that specifies it, and one
module per algorithm. The contract needs numpy, so it is loaded on first use: code that only names an algorithm starts
without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.matching.algorithm import Algorithm, Cost, Matches

__all__ = ["Algorithm", "Cost", "Matches"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'tidings.matching' has no attribute {name!r}")
    from tidings.matching import algorithm

    found = globals()[name] = getattr(algorithm, name)
    return found
