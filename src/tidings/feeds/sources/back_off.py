"""How long a feed waits after something failed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BackOff:
    """The pause after failures in a row doubles, up to `longest` seconds; a random half of it is left out."""

    shortest: float = 1.0
    longest: float = 300.0
    draw: Callable[[], float] = field(default=random.random, repr=False)

    def pause(self, usual: float, failures: int) -> float:
        if not failures:
            return usual
        whole = max(usual, self.shortest) * 2.0 ** min(failures - 1, 30)
        return min(whole, max(self.longest, usual)) * (0.5 + self.draw() / 2)
