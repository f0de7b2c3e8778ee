"""`python -m tidings.bench.composite_stages [COMPOSITES,…] [EVENTS] [often]`: processor time that the stages of
the composites' query take for each event, with the states in SQLite, in one process and without Spark: matching the
leaves, detecting, storing. Rates by the clock depend on who else uses the machine; these hardly do.

The composites are those of `tidings.bench.composites`, over 100,000 users; a batch has 10,000 events, and the first few
batches, in which states and matches come to be, are not measured. Any user may take part in any composite, so hardly a
pattern is completed; with `often` each composite has its own share of the users, and many are."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random
from time import process_time

from tidings.bench.composite_memory import resident
from tidings.bench.machine import Machine, commit
from tidings.pipeline.composites.known import KnownComposites
from tidings.pipeline.composites.leaf_stage import StretchMatches
from tidings.pipeline.composites.shard_done import ShardWriter
from tidings.pipeline.composites.shard_stage import answer
from tidings.pipeline.composites.sink import CompositeRound, store_round
from tidings.pipeline.stream.match_parts import Limits
from tidings.pipeline.stream.staging import StagedFiles, Staging
from tidings.schema import Attribute, AttributeUse, Domain, EventType, Instant, Kind
from tidings.schema.growth import Change, CreateAttribute, CreateDomain, CreateEventType
from tidings.schema.values import UNITS
from tidings.store import Draft, Grow, Publish, Store, Subscribe
from tidings.store.clock.clock import now
from tidings.store.notifications.commits import Pace
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import SHARDS

_NAMES = ("item", "side", "user")
_USERS = 100_000
_RATE = 20_000  # events in a second of their time
LATENESS = 2 * UNITS["s"]
_BATCH = 10_000
_LIMITS = Limits(seconds=3_600)  # a batch is never cut
_UNMEASURED = 5  # batches


def main() -> None:
    counts, events, often = chosen(100_000)
    print(f"{Machine.here()}; commit {commit()}")
    for composites in counts:
        _run(composites, events, often)


def _run(composites: int, events: int, often: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tidings.db") as store:
        fill(store, composites, events, often)
        begun = process_time()
        known = KnownComposites(store)
        store.begin_composites()
        known.learn(store.committed(COMPOSITES) + composites)
        print(f"{composites:,} composites learnt in {process_time() - begun:.1f} s")
        _measure(store, known, StagedFiles(Path(folder) / "staged"))


def chosen(events: int) -> tuple[list[int], int, bool]:
    """What the command line says: the counts of composites, events, and whether patterns are often completed."""
    numbers = [one for one in sys.argv[1:] if one != "often"]
    counts, told = (*numbers, *("1000,100000", str(events))[len(numbers) :])[:2]
    return [int(one) for one in counts.split(",")], int(told), "often" in sys.argv[1:]


def fill(store: Store, composites: int, events: int, often: bool = False) -> None:
    draw = Random(7)
    share = max(1, _USERS // composites)
    uses = tuple(AttributeUse(name) for name in _NAMES)
    changes: list[Change] = [
        CreateDomain(Domain("number", Kind.NUMERIC)),
        *(CreateAttribute(Attribute(n, "number")) for n in _NAMES),
    ]
    store.append([Grow(change) for change in (*changes, CreateEventType(EventType("event", uses)))])
    text = "[item = {} and side = 0] before [item = {} and side = 1] within 10 s select all, first by user"
    for first in range(0, composites, _BATCH):
        some = range(first, min(first + _BATCH, composites))
        store.append([Subscribe(f"c{item}", composite=text.format(item, item)) for item in some])
    begin = int(now())
    for first in range(0, events, _BATCH):
        drafts: list[Draft] = []
        for number in range(first, min(first + _BATCH, events)):
            happened = begin + number * UNITS["s"] // _RATE - draw.randrange(LATENESS) + 2 * LATENESS
            item = draw.randrange(composites)
            user = item * share + draw.randrange(share) if often else draw.randrange(_USERS)
            bound = {"item": item, "side": number & 1, "user": user}
            raw = {"id": f"e{number}", "time": str(Instant(happened)), "event_type": "event", "attributes": bound}
            drafts.append(Publish(raw))
        store.append(drafts)


def _measure(store: Store, known: KnownComposites, staging: Staging) -> None:
    staging.sweep("")
    seconds, events, batches = [0.0, 0.0, 0.0], 0, 0
    while (first := store.committed(COMPOSITES) + 1) <= store.tail():
        last = min(first + _BATCH - 1, store.tail())
        known.learn(last)
        times = [process_time()]
        matched = StretchMatches(store, known, LATENESS, first, last, _LIMITS)
        rows = matched.rows()
        times.append(process_time())
        done, at = [], None
        for shard in range(SHARDS):
            one, at = answer(store, known, LATENESS, shard, [rows[shard]], ShardWriter(staging, "batch"), at)
            done.append(one)
        times.append(process_time())
        store_round(store, CompositeRound(done), staging, LATENESS, _BATCH, Pace())
        staging.sweep("")
        times.append(process_time())
        batches += bool(matched.events)
        if batches > _UNMEASURED:
            events += matched.events
            seconds = [one + times[stage + 1] - times[stage] for stage, one in enumerate(seconds)]
    if not events:
        return print("too few events to measure")
    each = [
        f"{name} {1e6 * one / events:.0f} µs" for name, one in zip(("leaves", "states", "store"), seconds, strict=True)
    ]
    print(
        f"{events:,} events: {', '.join(each)}; {store.last_cursor():,} detections; "
        f"{batches - _UNMEASURED} batches of {_BATCH:,}; {resident():,.0f} MB of memory"
    )
    tasks, sink = seconds[0] + seconds[1], seconds[2]
    print(f"{events / sum(seconds):,.0f} events/s of one processor; {events / (tasks / 2 + sink):,.0f} with two tasks")


if __name__ == "__main__":
    main()
