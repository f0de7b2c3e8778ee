"""The streaming detector gives the oracle's detections, however events arrive and wherever batches are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.composite.matches import matches
from tests.composite.random_composites import SCHEMA, Scene, scenes
from tidings.composite.detector import Detector, Found, Match, Shard
from tidings.composite.oracle import Oracle
from tidings.composite.program import Program
from tidings.composite.references import event_of, reference
from tidings.composite.stored import (
    ForeignState,
    dump_due,
    dump_entry,
    dump_key,
    dump_matches,
    load_due,
    load_entry,
    load_key,
    load_matches,
)
from tidings.composite.trace import Detection, EventKey


def expected(scene: Scene, start: int) -> tuple[list[Detection], int]:
    oracle = Oracle(scene.composite, SCHEMA, start, scene.until, scene.most_waiting)
    return oracle.detections(scene.trace), oracle.dropped


def streamed(scene: Scene, start: int) -> tuple[list[Detection], int]:
    program = Program.of(scene.composite, start, SCHEMA)
    detector = Detector({"c": program}, scene.most_waiting)
    shard = Shard()
    detector.open(shard, "c")
    found: list[Found] = []
    batch: list[Match] = []
    for one, watermark, cut in zip(scene.trace, scene.watermarks, scene.cuts, strict=True):
        batch += matches(program, one)
        if cut:
            shard, new = detector.advance(shard, batch, watermark)
            found += new
            batch = []
            shard = restored(shard)
    if scene.trace:
        shard, new = detector.advance(shard, batch, scene.watermarks[-1])
        found += new
    shard, new = detector.finish(shard, [], scene.until)
    found += new
    assert all(one.composite == "c" for one in found)
    return sorted((one.detection for one in found), key=_order), shard.dropped.get("c", 0)


def restored(shard: Shard) -> Shard:
    """Written and read again, value by value."""
    return Shard(
        {load_key(dump_key(key)): load_entry(dump_entry(entry)) for key, entry in shard.entries.items()},
        {second: load_matches(dump_matches(matches)) for second, matches in shard.early.items()},
        {second: load_due(dump_due(due)) for second, due in shard.due.items()},
        shard.frontier,
        shard.dropped,
    )


def _order(one: Detection) -> tuple[object, ...]:
    return one.time, one.events, one.key


def check(scene: Scene) -> None:
    start = min((one.event.time for one in scene.trace), default=0)
    right, dropped = expected(scene, start)
    got, got_dropped = streamed(scene, start)
    assert got == sorted(right, key=_order)
    assert got_dropped == dropped


@settings(max_examples=40, deadline=None)
@given(scenes())
def test_detector_equals_oracle(scene: Scene) -> None:
    check(scene)


@pytest.mark.slow
@settings(max_examples=1_500, deadline=None)
@given(scenes())
def test_detector_equals_oracle_often(scene: Scene) -> None:
    check(scene)


def test_a_state_of_a_later_version_is_refused() -> None:
    with pytest.raises(ForeignState, match="version 2"):
        load_entry("[2, null, null]")


events = st.builds(EventKey, st.integers(-(10**15), 10**15), st.text(max_size=3), st.text(max_size=3))


@given(events, events)
def test_references_are_ordered_as_events_are(one: EventKey, other: EventKey) -> None:
    assert event_of(reference(*one)) == one
    assert (reference(*one) < reference(*other)) == (one < other)
