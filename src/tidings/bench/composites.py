"""`python -m tidings.bench.composites [EVENTS]`: events a second of processor time through the composite stage, after
their leaves were matched, in one process: routing, waiting for the watermark, detecting. Once with the states in memory
and once with every touched state written and read as text, as a database needs it; and the size of that text for each
live partial match.

The composites are of one kind, "A and then B of one item within 10 s, by user, each A with the next B". Each has an
item of its own, so an event matches one leaf of one composite. Users are drawn evenly; events happen 20,000 times a
second and arrive up to 10 s late."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from random import Random
from time import process_time

from tidings.bench.machine import Machine, commit
from tidings.composite.detector import Detector, Entry, Found, Key, Match, Shard
from tidings.composite.leaf_plan import LeafPlan
from tidings.composite.pairs import WAITING
from tidings.composite.stored import dump_entry, load_entry
from tidings.language.composites.bound import BoundComposite
from tidings.language.composites.tree import Before, Composite, Leaf, Select
from tidings.language.filter import Filter
from tidings.language.tree import Comparison, both
from tidings.schema.catalog import Catalog
from tidings.schema.values import UNITS, Span

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "number", "kind": "numeric"}],
        "attributes": [{"name": name, "domain": "number"} for name in ("item", "side", "user")],
        "event_types": [{"name": "event", "attributes": [{"name": name} for name in ("item", "side", "user")]}],
    }
)
_RATE = 20_000  # events in a second of their time
_LATENESS = 10 * UNITS["s"]
BATCH = 10_000
Event = tuple[int, str, dict[str, tuple[int]], int]  # its time, its id, what it binds, and the leaf that it matches
_FRAME = Span(10 * UNITS["s"])


@dataclass(frozen=True, slots=True)
class Measured:
    composites: int
    keys: int
    stored: bool
    events: int
    rate: float
    detections: int
    live: int  # partial matches at the end
    bytes_each: float

    def __str__(self) -> str:
        where = "as text" if self.stored else "in memory"
        size = f", {self.bytes_each:.0f} bytes for each" if self.stored else ""
        return (
            f"{self.composites:,} composites, {self.keys:,} users, states {where}: {self.rate:,.0f} events/s; "
            f"{self.detections:,} detections of {self.events:,} events, {self.live:,} partial matches live{size}"
        )


class _Texts(MutableMapping[Key, Entry]):
    """Entries that are written and read as text each time."""

    def __init__(self) -> None:
        self.texts: dict[Key, str] = {}

    def __getitem__(self, key: Key) -> Entry:
        return load_entry(self.texts[key])

    def __setitem__(self, key: Key, entry: Entry) -> None:
        self.texts[key] = dump_entry(entry)

    def __delitem__(self, key: Key) -> None:
        del self.texts[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)


@dataclass
class Stage:
    """The composite stage with its composites."""

    composites: int
    keys: int
    stored: bool
    plan: LeafPlan = field(init=False)

    def __post_init__(self) -> None:
        self.plan = LeafPlan(SCHEMA)
        for item in range(self.composites):
            filters = [
                Filter(both([Comparison("item", "=", item), Comparison("side", "=", side)]), ()) for side in (0, 1)
            ]
            tree = Before(Leaf(filters[0].tree), Leaf(filters[1].tree), _FRAME, Select("all", 1))
            bound = BoundComposite(Composite(tree, by=("user",)), tuple(filters))
            self.plan.add(str(item), bound, 0)

    def run(self, events: int, seed: int = 7) -> Measured:
        random = Random(seed)
        detector = Detector(self.plan.programs)
        shard = Shard(_Texts() if self.stored else {})
        batches = [self.batch(at, random) for at in range(0, events, BATCH)]
        found, greatest = 0, 0
        gc.collect()
        begun = process_time()
        for batch in batches:
            greatest = max(greatest, *(time for time, _, _, _ in batch))
            found += len(self.advance(detector, shard, batch, greatest))
        seconds = process_time() - begun
        live = partial_matches(shard)
        size = sum(map(len, shard.entries.texts.values())) if isinstance(shard.entries, _Texts) else 0
        return Measured(
            self.composites, self.keys, self.stored, events, events / seconds, found, live, size / max(live, 1)
        )

    def batch(self, at: int, random: Random) -> list[Event]:
        return [self._event(number, random) for number in range(at, at + BATCH)]

    def advance(self, detector: Detector, shard: Shard, batch: list[Event], greatest: int) -> list[Found]:
        """`greatest` is the latest time of all events so far."""
        matches: list[Match] = []
        for time, id, bound, leaf in batch:
            matches += self.plan.matches(time, "", id, bound, (leaf,))
        return detector.advance(shard, matches, greatest - _LATENESS)[1]

    def _event(self, number: int, random: Random) -> Event:
        item, side, user = random.randrange(self.composites), number & 1, random.randrange(self.keys)
        happened = number * UNITS["s"] // _RATE + random.randrange(_LATENESS)
        return happened, f"e{number}", {"user": (user,)}, 2 * item + side


def partial_matches(shard: Shard) -> int:
    return sum(len(queue) for entry in shard.entries.values() for queue in entry.states[-1][WAITING])


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{Machine.here()}; commit {commit()}")
    for composites, keys in ((1_000, 100_000), (100_000, 100_000), (1_000, 100)):
        for stored in (False, True):
            print(Stage(composites, keys, stored).run(events), flush=True)


if __name__ == "__main__":
    main()
