"""How large a document may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    depth: int = 100  # nested elements
    nodes: int = 100_000  # elements, attributes and texts
    size: int = 16 * 2**20  # bytes, also once entities are expanded
    attributes: int = 1_000  # of one element: the canonical form sorts them in quadratic time
    namespaces: int = 64  # declared at once: the canonical form looks at all pairs of them for each element
    namespace: int = 1_000  # bytes of one: parsers copy it for each name
    growth: int = 8  # how many times as large the canonical form may be; characters become at most six


LIMITS = DocumentLimits()
