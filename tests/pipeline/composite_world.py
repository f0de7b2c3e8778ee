"""A journal with a clock, and events for composites to wait for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.services.sqlite import new_store
from tests.store.samples import Clock
from tidings.composite.trace import EventKey, Occurrence
from tidings.schema import Attribute, AttributeUse, Domain, EventType, Instant, Kind
from tidings.schema.growth import CreateAttribute, CreateDomain, CreateEventType
from tidings.store import (
    Accepted,
    Draft,
    Grow,
    Publish,
    Store,
    Tick,
)
from tidings.store.notifications.commits import Pace

START = Clock().time
CHANGES = [
    CreateDomain(Domain("number", Kind.NUMERIC)),
    *(CreateAttribute(Attribute(name, "number")) for name in "lvk"),
    CreateEventType(EventType("t", tuple(AttributeUse(name, mandatory=False, unique=False) for name in "lvk"))),
]


class World:
    """A journal with a clock."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.store = Store.open(new_store(folder / "tidings.db"), self.clock)
        self.put(*(Grow(change) for change in CHANGES))
        self.catalog = self.store.catalog()

    def put(self, *drafts: Draft) -> int:
        outcomes = self.store.append(drafts)
        assert all(isinstance(one, Accepted) for one in outcomes), outcomes
        return self.store.tail()

    def publish(self, one: Occurrence) -> int:
        attributes = {"l": sorted(one.leaves)} | {name: list(values) for name, values in one.values.items()}
        raw = {"id": one.event.id, "source": one.event.source, "time": str(Instant(one.event.time))}
        return self.put(Publish(raw | {"event_type": "t", "attributes": attributes}))

    def tick(self, time: int) -> int:
        self.clock.time = Instant(max(time, self.clock.time))
        return self.put(Tick())

    def found(self) -> list[tuple[str, Any, Any, int]]:
        """Of all notifications: subscription, key, constituents, time."""
        told = self.store.notifications(limit=100_000)
        assert [one.cursor for one in told] == list(range(1, len(told) + 1))
        known = self.store.detections(one.detection for one in told)
        assert len(known) == len(told)
        return sorted(
            (one.subscription, found.key, tuple(EventKey(*event[:3]) for event in found.events), int(found.time))
            for one in told
            for found in [known[one.detection]]
        )


class SmallPace(Pace):
    """So many detections in each transaction; where `left` runs out, the process is killed after so many."""

    def __init__(self, left: int = 10**9, rows: int = 2) -> None:
        super().__init__(rows=rows)
        self._left = left

    def note(self, rows: int, seconds: float) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


def event(second: float, leaf: int, id: str = "", **values: float) -> Occurrence:
    time = START + int(second * 1_000_000)
    return Occurrence(EventKey(time, "", id or f"e{second}"), frozenset([leaf]), {k: (v,) for k, v in values.items()})


A_THEN_B = "[l contains 0] before [l contains 1] within 10 s"


def times(world: World) -> list[tuple[str, list[str], float]]:
    """Of what was found: subscription, ids, seconds after the start."""
    return [(name, [one.id for one in events], (time - START) / 1e6) for name, _, events, time in world.found()]
