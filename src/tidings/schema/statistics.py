"""How often terms occur in the texts of an attribute: what similarity (`~`) weighs them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log


@dataclass(frozen=True)
class Statistics:
    """`texts` were counted; `frequencies` has the number of texts with each term."""

    attribute: str
    texts: int = 0
    frequencies: Mapping[str, int] = field(default_factory=dict, hash=False)
    since: int = 0  # the position from which on they weigh

    def rarity(self, term: str) -> float:
        """The weight of a term that occurs once in a text."""
        return log(1 + (1 + self.texts) / (1 + self.frequencies.get(term, 0)))
