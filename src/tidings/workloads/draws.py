"""Seeded random columns: the only randomness of the workloads.

Every column has a stream of its own, and row i of it takes exactly its i-th number. So the first k of n rows
are the rows that asking for k gives, rows can be drawn from anywhere, and asking for events never changes the
subscriptions. Numbers are made from the generator's raw output, which numpy keeps the same in every version,
unlike what `Generator.integers` makes of it.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ordinals = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Draws:
    """The rows [start, start + n) of every column of one part (`subscriptions`, `events`) of a workload."""

    seed: int
    part: str
    n: int
    start: int = 0

    def raw(self, column: str) -> npt.NDArray[np.uint64]:
        """64 random bits a row."""
        key = (zlib.crc32(self.part.encode()), zlib.crc32(column.encode()))
        bits = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key))
        bits.advance(self.start)
        made: npt.NDArray[np.uint64] = bits.random_raw(self.n)
        return made

    def below(self, limit: int | Ordinals, column: str) -> Ordinals:
        """Integers 0 … limit - 1, uniform up to limit parts in 2^32; each row may have its own limit."""
        high = self.raw(column) >> np.uint64(32)
        return ((high * np.asarray(limit, np.uint64)) >> np.uint64(32)).astype(np.int64)

    def happens(self, probability: float, column: str) -> npt.NDArray[np.bool_]:
        """True with this probability."""
        return (self.raw(column) >> np.uint64(11)) * 2.0**-53 < probability
