"""An array that grows at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Pool:
    def __init__(self, kind: Any, width: int = 0) -> None:
        self._rows = np.empty((64, width) if width else 64, kind)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def array(self) -> npt.NDArray[Any]:
        return self._rows[: self._count]

    def add(self, rows: npt.NDArray[Any]) -> None:
        end = self._count + len(rows)
        if end > len(self._rows):
            grown = np.empty((max(end, 2 * len(self._rows)), *self._rows.shape[1:]), self._rows.dtype)
            grown[: self._count] = self.array
            self._rows = grown
        self._rows[self._count : end] = rows
        self._count = end
