"""The story of the saleroom: what its composites find is what a plain reading of the events finds."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from tidings.client import Client
from tidings.composite.file_detections import FileDetections
from tidings.demo.bidding import bid
from tidings.demo.feeding import grow
from tidings.demo.saleroom import EVERY, LAST_CALL, OPEN, happenings, saleroom_schema
from tidings.demo.wishes import WISHES
from tidings.events import EventBatch, validate
from tidings.language.composites import BoundComposite
from tidings.schema import Instant

BEGIN = 1_800_000_000
END = BEGIN + 300
CATALOG = saleroom_schema()
STORY = {wish.name: wish for wish in WISHES if wish.composite}


def detections(events: list[dict[str, Any]]) -> dict[str, list[list[str]]]:
    """The ids of the events of each detection, by wish."""
    composites = {name: BoundComposite.parse(wish.composite, CATALOG) for name, wish in STORY.items()}
    assert not any(one.warnings for one in composites.values())
    found = FileDetections(composites, CATALOG)
    found.take(EventBatch.of([validate(raw, CATALOG) for raw in events], CATALOG))
    by_wish: dict[str, list[list[str]]] = defaultdict(list)
    for one in found.detections():
        by_wish[one.composite].append([event.id for event in one.detection.events])
    return by_wish


def test_the_composites_find_what_their_titles_say() -> None:
    events = happenings(BEGIN, END)
    found = detections(events)
    lots: dict[int, list[dict[str, Any]]] = defaultdict(list)
    bids: dict[str, list[str]] = defaultdict(list)
    for raw in events:
        lots[raw["attributes"]["auction"]].append(raw)
        if raw["event_type"] == "bid":
            bids[raw["attributes"]["bidder"]].append(raw["id"])
    threes = [ids[at : at + 3] for ids in bids.values() for at in range(0, len(ids) - 2, 3)]
    assert sorted(found["three-bids"]) == sorted(threes)
    only = {lot: [raw for raw in of_lot if raw["event_type"] == "bid"] for lot, of_lot in lots.items()}
    pairs = [[one["id"], two["id"]] for of_lot in only.values() for one, two in pairwise(of_lot)]
    assert sorted(found["outbid"]) == sorted(pairs)  # bidders take turns, and a lot is open for a minute
    silent = [
        [one["id"], two["id"]]
        for of_lot in lots.values()
        for one, two in pairwise(of_lot)
        if (one["event_type"], two["event_type"]) == ("last_call", "hammer")
    ]
    assert sorted(found["no-late-bid"]) == sorted(silent)
    assert all(len(found[name]) >= 3 for name in STORY), "within a few minutes there is something to see of each"


def test_times_are_what_is_asked_for_and_stretches_join() -> None:
    whole = happenings(BEGIN, END)
    times = [Instant.parse(raw["time"]) for raw in whole]
    assert times == sorted(times)
    assert times[0] >= BEGIN * 1_000_000
    cut = BEGIN + 77.7
    assert [*happenings(BEGIN, cut), *happenings(cut, END)] == whole
    assert len({raw["id"] for raw in whole}) == len(whole)
    of_each = Counter(raw["event_type"] for raw in whole)
    assert of_each["hammer"] == of_each["last_call"] == (END - BEGIN) // EVERY
    assert LAST_CALL < OPEN


def test_it_is_published_as_it_happens(ann: Client) -> None:
    assert "bids" in grow(ann, lambda said: None)
    stop = threading.Event()
    moments = iter([float(BEGIN - 10**8), float(BEGIN - 10**8 + 20)])

    def clock() -> float:
        """Twenty seconds in two looks, a few years ago."""
        time = next(moments)
        if time == BEGIN - 10**8 + 20:
            stop.set()
        return time

    bid(ann, stop, print, clock=clock)
    wanted = {raw["id"] for raw in happenings(BEGIN - 10**8, BEGIN - 10**8 + 20)}
    assert wanted
    assert {one.event["id"] for one in ann.query("auction exists", limit=1_000)} == wanted
