"""The workload by which REIN and later range matchers are measured: many two-sided ranges on events that bind
everything.

Every filter asks for a range of ten attributes, each `width` of the domain wide: with a width of one half one filter
in 1024 matches an event, whatever the number of attributes. Equality never helps here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidings.errors import TidingsError
from tidings.events import EventBatch
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.workloads import columns
from tidings.workloads.draws import Draws, Ordinals

DOMAIN = 1_000_000
CONSTRAINTS = 10
_OCTAVES = 20  # powers of two up to the domain's size
_FILTERS_AT_ONCE = 1 << 17  # so that drawing millions needs little memory
_SIDES = np.array([OPERATORS.index(">="), OPERATORS.index("<=")], np.int8)


class NotARangeWorkload(TidingsError):
    def __init__(self, attributes: int, width: float) -> None:
        super().__init__(attributes, width)

    def __str__(self) -> str:
        return "rein needs at least {} attributes and a width above 0 and at most 1, not {} and {}".format(
            CONSTRAINTS, *self.args
        )


@dataclass(frozen=True)
class Rein:
    """`zipf` crowds the ranges at the low end of the domain: then each octave has as many of them as any other."""

    attributes: int = 20
    width: float = 0.5
    zipf: bool = False
    seed: int = 1

    name: ClassVar[str] = "rein"

    def __post_init__(self) -> None:
        if self.attributes < CONSTRAINTS or not 0 < self.width <= 1:
            raise NotARangeWorkload(self.attributes, self.width)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"a{number:02}" for number in range(1, self.attributes + 1))

    @property
    def catalog(self) -> Catalog:
        return Catalog(
            domains=(Domain("number", Kind.NUMERIC),),
            attributes=tuple(Attribute(name, "number") for name in self.names),
            event_types=(EventType("event", tuple(AttributeUse(name) for name in self.names)),),
        )

    def subscriptions(self, n: int, start: int = 0) -> PredicateTable:
        """n filters of ten ranges, each two predicates: `a03 >= 1200 and a03 <= 501199 and …`"""
        attribute = np.empty((n, CONSTRAINTS, 2), np.int16)
        value = np.empty((n, CONSTRAINTS, 2))
        for first in range(0, n, _FILTERS_AT_ONCE):
            rows = slice(first, min(first + _FILTERS_AT_ONCE, n))
            draws = Draws(self.seed, "subscriptions", rows.stop - first, start + first)
            attribute[rows] = self._chosen(draws)[:, :, None]
            value[rows] = self._ranges(draws)
        return PredicateTable(
            self.catalog,
            self.names,
            ((),) * self.attributes,
            offsets=np.arange(n + 1) * 2 * CONSTRAINTS,
            attribute=attribute.ravel(),
            operator=np.tile(_SIDES, n * CONSTRAINTS),
            value=value.ravel(),
        )

    def events(self, n: int, start: int = 0) -> EventBatch:
        """n events that bind all attributes, uniform over the domain."""
        draws = Draws(self.seed, "events", n, start)
        everywhere = np.ones(n, bool)
        made = {name: columns.numbers(draws.below(DOMAIN, name), everywhere) for name in self.names}
        return columns.batch(self.catalog, np.zeros(n, np.int64), made, start)

    def _chosen(self, draws: Draws) -> Ordinals:
        """Ten different attributes a filter, ascending: those that drew the smallest numbers."""
        keys = np.stack([draws.raw(f"{name} chosen") for name in self.names], axis=1)
        return np.sort(np.argpartition(keys, CONSTRAINTS - 1, axis=1)[:, :CONSTRAINTS], axis=1)

    def _ranges(self, draws: Draws) -> Ordinals:
        """Both ends of each filter's ranges. A range lies inside the domain as a whole."""
        length = max(1, round(self.width * DOMAIN))
        room = DOMAIN - length + 1  # places where a range can begin
        made = np.empty((draws.n, CONSTRAINTS, 2), np.int64)
        for place in range(CONSTRAINTS):
            low = self._crowded(room, draws, place) if self.zipf else draws.below(room, f"range {place}")
            made[:, place, 0], made[:, place, 1] = low, low + length - 1
        return made

    def _crowded(self, limit: int, draws: Draws, place: int) -> Ordinals:
        """Zipf's law by octaves, in integers and so the same everywhere: an octave, then uniform within it."""
        first = np.int64(1) << draws.below(min(_OCTAVES, limit.bit_length()), f"octave {place}")
        drawn = first + draws.below(first, f"range {place}")
        crowded: Ordinals = np.minimum(drawn, limit) - 1
        return crowded
