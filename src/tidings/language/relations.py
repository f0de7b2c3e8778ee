"""How two values may stand to each other, as bits; in a hierarchy they may be unrelated."""

from __future__ import annotations

LESS, SAME, GREATER, UNRELATED = 1, 2, 4, 8
ANY_RELATION = LESS | SAME | GREATER | UNRELATED
RELATIONS = {
    "<": LESS,
    "<=": LESS | SAME,
    "=": SAME,
    "!=": LESS | GREATER | UNRELATED,
    ">=": GREATER | SAME,
    ">": GREATER,
}


def mirrored(bits: int) -> int:
    """The relations of b to a, given those of a to b."""
    return bits & ~(LESS | GREATER) | (GREATER if bits & LESS else 0) | (LESS if bits & GREATER else 0)
