"""The streaming detector gives the oracle's detections, however events arrive and wherever batches are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.composite.matches import matches
from tests.composite.notation import SCHEMA as LETTERS
from tests.composite.notation import at, composite_of, shown, trace_of
from tests.composite.random_composites import SCHEMA, Scene, scenes
from tidings.composite.detector import Detector, Found, Key, Match, Shard
from tidings.composite.oracle import Oracle
from tidings.composite.program import Program
from tidings.composite.references import event_of, reference
from tidings.composite.stored import (
    ForeignState,
    dump_due,
    dump_entry,
    dump_key,
    dump_matches,
    dump_spans,
    joined_matches,
    load_due,
    load_entry,
    load_key,
    load_matches,
    load_spans,
)
from tidings.composite.trace import Detection, EventKey
from tidings.composite.waiting import counts_from_start


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
            before = shard.frontier
            shard, new = detector.advance(shard, batch, watermark)
            check_known(new, before, shard)
            found += new
            batch = []
            shard = restored(shard)
    if scene.trace:
        before = shard.frontier
        shard, new = detector.advance(shard, batch, scene.watermarks[-1])
        check_known(new, before, shard)
        found += new
    before = shard.frontier
    shard, new = detector.finish(shard, [], scene.until)
    check_known(new, before, shard)
    found += new
    dropped = shard.dropped.get("c", 0)
    if not program.opens_early and not counts_from_start(scene.composite.tree):
        # What completes only now, by silence, may find no room either.
        detector.finish(shard, [], scene.until + 100 * scene.until + 10**12)
        assert (shard.entries, shard.due, shard.early) == ({}, {}, {})  # all is forgotten
    assert all(one.composite == "c" for one in found)
    return sorted((one.detection for one in found), key=_order), dropped


def check_known(new: list[Found], before: int | None, shard: Shard) -> None:
    """Each is known from its own time on, so another cut would have given it there."""
    assert shard.frontier is not None
    assert all((before is None or before < one.known) and one.known <= shard.frontier for one in new)


def restored(shard: Shard) -> Shard:
    """Written and read again, value by value."""
    return Shard(
        {
            load_key(dump_key(key)): load_entry(dump_entry(entry))._replace(forget=entry.forget)
            for key, entry in shard.entries.items()
        },
        {second: load_matches(text) for second, text in load_spans(dump_spans(dict(shard.early)))},
        {second: load_due(dump_due(due)) for second, due in shard.due.items()},
        shard.frontier,
        shard.dropped,
    )


def _order(one: Detection) -> tuple[object, ...]:
    return one.time, one.events, one.key, one.awaited


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


@settings(max_examples=40, deadline=None)
@given(scenes())
def test_matches_and_times_of_a_key_may_be_taken_one_by_one(scene: Scene) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tidings.composite.detector._AT_ONCE", 1)
        patch.setattr("tidings.composite.program._AT_ONCE", 1)
        check(scene)


@pytest.mark.slow
@settings(max_examples=1_500, deadline=None)
@given(scenes())
def test_detector_equals_oracle_often(scene: Scene) -> None:
    check(scene)


def test_what_is_due_before_the_rest_of_its_key_is_given_in_time() -> None:
    bound = composite_of("([A] before [B] within 20 s) unless [C] within 1 s")
    program = Program.of(bound.composite, at(1), LETTERS)
    detector, shard = Detector({"c": program}), Shard()
    given = []
    for one in trace_of(bound, "A1 B2 E2.5 E5"):
        shard, new = detector.advance(shard, matches(program, one), one.event.time)
        given.append([shown(found.detection) for found in new])
    assert given == [[], [], [], ["A1 B2 @3"]]


@pytest.mark.parametrize("pattern", ["absent([A]) within 1 s", "[every 1 s] before [A] within 366 day"])
def test_a_long_silence_is_taken_in_parts(pattern: str) -> None:
    program = Program.of(composite_of(pattern).composite, at(0), LETTERS)
    detector, shard = Detector({"c": program}), Shard()
    detector.open(shard, "c")
    (match,) = matches(program, trace_of(composite_of(pattern), "A9000.5")[0])
    parts = [len(found) for found in detector.finds(shard, [match], at(12_000))]
    assert sum(parts) == (11_999 if "absent" in pattern else 9_001)
    assert len(parts) >= 12
    assert max(parts) <= 1_000 or "every" in pattern


def test_a_state_of_a_later_version_is_refused() -> None:
    with pytest.raises(ForeignState, match="version 2"):
        load_entry("[2, null, null]")


def test_texts_of_matches_are_joined() -> None:
    some = [Match(f"e{number}", Key("c", (number, "x")), (0,), {"a": {"price": [1]}}) for number in range(4)]
    texts = [dump_matches(some[:1]), dump_matches([]), dump_matches(some[1:])]
    assert load_matches(joined_matches(texts)) == some
    assert joined_matches(texts[:1]) == texts[0]


events = st.builds(EventKey, st.integers(-(10**15), 10**15), st.text(max_size=3), st.text(max_size=3))


@given(events, events)
def test_references_are_ordered_as_events_are(one: EventKey, other: EventKey) -> None:
    assert event_of(reference(*one)) == one
    assert (reference(*one) < reference(*other)) == (one < other)
