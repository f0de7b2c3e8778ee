"""The floor: what only writing the answers costs. No matcher can be quicker than a kernel that writes as many
numbers."""

from __future__ import annotations

import mmap
from time import perf_counter

import numpy as np
import numpy.typing as npt

from tidings.kernels.compiled import kernel

_TRIES = 5


@kernel
def write_only(out: npt.NDArray[np.int32]) -> None:
    """Each place gets its own number; nothing is read."""
    for place in range(len(out)):
        out[place] = place


def floor_ns(matches: int) -> float:
    """Nanoseconds for each of so many int32, written into fresh memory: the best of five."""
    if not matches:
        return 0.0
    write_only(np.empty(1, np.int32))
    best = min(_seconds(matches) for _ in range(_TRIES))
    return best / matches * 1e9


def _seconds(matches: int) -> float:
    """The memory comes from the system, as large arrays do; numpy's own might be what was just given back."""
    started = perf_counter()
    memory = mmap.mmap(-1, 4 * matches, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)  # numpy asks for the same
    write_only(np.frombuffer(memory, np.int32))
    return perf_counter() - started
