"""How large a document may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    depth: int = 100  # nested elements
    nodes: int = 100_000  # elements, attributes and texts
    size: int = 16 * 2**20  # bytes


LIMITS = DocumentLimits()
