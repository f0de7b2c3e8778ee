"""Single bits of a machine word, for kernels that keep sets of boxes as bitmaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidings.kernels.compiled import inlined

_PLACES = np.zeros(67, np.int64)  # maps a power of two modulo 67 to its exponent: all 64 differ
_PLACES[[pow(2, exponent, 67) for exponent in range(64)]] = np.arange(64)


@inlined
def trailing_zeros(word: Any) -> Any:
    """The index of the lowest set bit."""
    return _PLACES[(word & (~word + np.uint64(1))) % np.uint64(67)]
