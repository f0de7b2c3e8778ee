"""The composites' query below Spark: what is stored is what the oracle says, wherever batches are cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from tests.composite.random_composites import Scene, scenes
from tests.pipeline.composite_batches import answers, run_all
from tests.pipeline.composite_world import A_THEN_B, START, SmallPace, World, event, times
from tidings.composite.oracle import Oracle
from tidings.errors import TidingsError
from tidings.language.composites import BoundComposite
from tidings.language.composites.printer import print_composite
from tidings.language.composites.tree import Composite, Leaf
from tidings.language.tree import Contains
from tidings.pipeline.composites.known import KnownComposites
from tidings.pipeline.stream.match_parts import Limits
from tidings.schema import Domain, Instant, Kind
from tidings.schema.growth import CreateDomain
from tidings.schema.values import Span
from tidings.store import (
    Edit,
    Gap,
    Grow,
    Pause,
    Resume,
    Subscribe,
    Withdraw,
)
from tidings.store.notifications.commits import Pace
from tidings.store.tables import early_matches


def with_leaves(node: Any, numbers: Any) -> Any:
    """The same tree, in which each leaf has a filter of its own: its place is among the values of `l`."""
    if isinstance(node, Leaf):
        return replace(node, filter=Contains("l", next(numbers)))
    if not hasattr(node, "left") and not hasattr(node, "term"):
        next(numbers)
        return node
    below = {
        name: with_leaves(getattr(node, name), numbers) for name in ("left", "right", "term") if hasattr(node, name)
    }
    if getattr(node, "without", None) is not None:
        below["without"] = replace(node.without, term=with_leaves(node.without.term, numbers))
    return replace(node, **below)


def shifted(composite: Composite) -> Composite:
    start = None if composite.start is None else Instant(composite.start + START)
    return replace(composite, tree=with_leaves(composite.tree, iter(range(1000))), start=start)


def started(composite: Composite) -> Composite:
    """As it counts from its place in the journal on."""
    if composite.start is None or composite.start >= START:
        return composite
    left = None if composite.span is None else Span(composite.start + composite.span - START)
    return replace(composite, start=START, span=left)


def lateness_of(scene: Scene) -> int:
    return max((one.event.time for one in scene.trace[:1]), default=0) - min(scene.watermarks[:1], default=0)


@given(scenes(), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.sampled_from([1, 4, 50_000]))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_what_is_stored_is_what_the_oracle_says(scene: Scene, stretches: list[int], most: int) -> None:
    """Also where tasks stop early, and detections are stored a few at a time."""
    lateness = lateness_of(scene)
    composite = shifted(scene.composite)
    trace = [one._replace(event=one.event._replace(time=one.event.time + START)) for one in scene.trace]
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            text = BoundComposite.parse(print_composite(composite), world.catalog).text
        except TidingsError:
            assume(False)
        world.put(Subscribe("c", composite=text))
        cuts = [world.publish(one) for one, cut in zip(trace, scene.cuts, strict=True) if [cut]]
        until = scene.until + START
        world.tick(until + lateness + 1)
        oracle = Oracle(started(composite), world.catalog, START, until)
        right = sorted(("c", one.key, one.events, one.time) for one in oracle.detections(trace))
        ends = [position for position, cut in zip(cuts, scene.cuts, strict=True) if cut]
        run_all(world.store, lateness, ends, stretches[0], Limits(staged=most), SmallPace() if most == 4 else Pace())
        assert world.found() == right
        assert run_all(world.store, lateness) == 0  # nothing is left to do
        world.store.close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_notification_has_the_position_of_its_last_constituent(world: World) -> None:
    span = world.put(Subscribe("c", composite=A_THEN_B))
    world.publish(event(1, 0))
    last = world.publish(event(2, 1))
    world.put(Subscribe("none", composite="absent([l contains 7]) within 1 s"))
    world.tick(START + 2_500_000)
    assert run_all(world.store, 0) == 3
    told = world.store.notifications()
    places = sorted((one.subscription, one.position) for one in told)
    assert places == [("c", last), ("none", last + 1), ("none", last + 1)]
    (found,) = [found for found in world.store.detections(one.detection for one in told).values() if found.events]
    assert [one.position for one in found.events] == [span + 1, last]
    assert world.store.events_at([last + 1]) == {}


def test_a_batch_that_is_given_again_adds_nothing(world: World) -> None:
    world.put(Subscribe("c", composite=A_THEN_B))
    world.publish(event(1, 0))
    world.publish(event(2, 1))
    world.tick(START + 3_000_000)
    store, known = world.store, KnownComposites(world.store)
    store.begin_composites()
    first, last = store.committed("composites") + 1, store.tail()
    done = answers(store, known, 0, first, last)
    assert done.stored_in(store) == 1
    assert done.stored_in(store) == 0
    assert answers(store, known, 0, first, last).stored_in(store) == 0
    with pytest.raises(Gap):
        answers(store, known, 0, last + 2, world.tick(0) + 1).stored_in(store)


def test_lost_states_are_made_again_and_nothing_is_stored_twice(world: World) -> None:
    world.put(Subscribe("c", composite=A_THEN_B))
    world.publish(event(1, 0))
    world.publish(event(2, 1))
    world.tick(START + 3_000_000)
    run_all(world.store, 0)
    before = world.found()
    world.store.restart_composites()
    world.publish(event(5, 1))
    world.tick(START + 6_000_000)
    assert run_all(world.store, 0) == 1
    assert set(before) < set(world.found())


def test_what_waits_is_read_again_only_when_its_tenth_of_a_second_has_come(world: World) -> None:
    world.put(Subscribe("c", composite=A_THEN_B))
    for tenth in range(10):
        world.publish(event(5 + tenth / 10 + 0.05, 0, f"e{tenth}"))
    first = world.publish(event(6.3, 0))
    run_all(world.store, 1_000_000)
    world.publish(event(6.32, 0))
    run_all(world.store, 1_000_000)
    with world.store.database.reading() as connection:
        kept = connection.execute(select(early_matches.c.second, early_matches.c.position)).all()
    begun = START // 100_000
    assert {second - begun for second, position in kept if position > first} == {53, 63}
    assert {second - begun for second, position in kept if position == first} == {54, 55, 56, 57, 58, 59, 63}
    world.publish(event(7, 1, "last"))
    world.tick(START + 9_000_000)
    assert run_all(world.store, 1_000_000) == 12


def test_a_worker_that_goes_on_knows_what_had_ended_before_composites_began_again(world: World) -> None:
    store, worker = world.store, KnownComposites(world.store)
    span = world.put(Subscribe("c", composite=A_THEN_B))
    world.put(Withdraw("c"))
    run_all(store, 0)
    worker.learn(store.tail())
    assert not worker.spans
    store.restart_composites()
    worker.learn(store.tail())
    assert list(worker.spans) == [str(span)]


@pytest.mark.parametrize("cut", [True, False])
def test_a_composite_counts_in_its_spans_alone(world: World, cut: bool) -> None:
    """A pair across a pause, an edit or the end of a subscription is no pair."""
    ends = [
        world.put(Subscribe("c", composite=A_THEN_B)),
        world.publish(event(1, 0)),
        world.put(Pause("c")),
        world.publish(event(2, 1)),
        world.put(Resume("c")),
        world.publish(event(3, 1)),
        world.publish(event(4, 0)),
        world.publish(event(5, 1)),
        world.publish(event(5.5, 9)),  # by which e5 is known
        world.put(Edit("c", composite="[l contains 0] before [l contains 2] within 10 s")),
        world.publish(event(6, 1)),
        world.publish(event(7, 0)),
        world.publish(event(8, 2)),
        world.put(Withdraw("c")),
        world.publish(event(9, 2)),
        world.tick(START + 30_000_000),
    ]
    run_all(world.store, 0, ends if cut else [])
    assert times(world) == [("c", ["e4", "e5"], 5.0)]


def test_what_is_not_known_when_a_composite_ends_is_not_reported(world: World) -> None:
    """Wherever batches are cut: e2 is known when the tick has come, and the frame of `unless` has not passed."""
    world.put(Subscribe("pair", composite=A_THEN_B), Subscribe("late", composite=A_THEN_B))
    world.put(Subscribe("not", composite="[l contains 0] unless [l contains 1] within 20 s"))
    world.publish(event(1, 0))
    world.publish(event(2, 1))
    world.put(Withdraw("late"))
    world.tick(START + 12_500_000)
    world.put(Withdraw("pair"), Withdraw("not"))
    world.tick(START + 60_000_000)
    run_all(world.store, 10_000_000)
    assert times(world) == [("pair", ["e1", "e2"], 2.0)]


def test_equal_numbers_are_one_key(world: World) -> None:
    world.put(Subscribe("c", composite=A_THEN_B + " by k"))
    world.publish(event(1, 0, k=1))
    world.publish(event(1.5, 0, k=1.5))
    world.publish(event(2, 1, k=1.0))
    world.tick(START + 3_000_000)
    run_all(world.store, 0, [world.store.tail() - 2])
    assert times(world) == [("c", ["e1", "e2"], 2.0)]


def test_late_events_take_no_part_and_are_listed(world: World) -> None:
    world.put(Subscribe("c", composite=A_THEN_B))
    world.publish(event(20, 0))
    late = world.publish(event(9, 0))
    in_time = world.publish(event(10, 0))
    world.publish(event(19, 1))
    world.tick(START + 40_000_000)
    run_all(world.store, 10_000_000)
    assert times(world) == [("c", ["e10", "e19"], 19.0)]
    assert [(one.position, one.late_by) for one in world.store.late_events()] == [(late, 1_000_000)]
    assert in_time == late + 1


def test_without_composites_there_is_no_progress(world: World) -> None:
    store = world.store
    store.commit(1, store.tail(), [])
    assert not store.begin_composites()
    assert store.least_committed() == store.tail()
    span = world.put(Subscribe("c", composite=A_THEN_B))
    store.commit(span, span, [])
    assert store.least_committed() == span - 1  # events from there on are needed
    assert store.begin_composites()
    world.put(Withdraw("c"))
    assert store.begin_composites()
    run_all(store, 0)
    store.commit(span + 1, store.tail(), [])
    for _ in range(2):
        assert not store.begin_composites()
        assert store.least_committed() == store.tail()
        assert store.composite_progress() is None
    world.put(Subscribe("d", composite=A_THEN_B))
    world.put(Withdraw("d"))  # while no pipeline ran
    assert store.begin_composites()
    assert run_all(store, 0) == 0


def test_ticks_come_while_something_waits(world: World) -> None:
    def waits(seconds: float) -> bool:
        world.clock.time = Instant(START + int(seconds * 1_000_000))
        return world.store.waits_for_time(10_000_000)

    world.put(Subscribe("c", composite="[l contains 0] unless [l contains 1] within 20 s"))
    assert not waits(5)
    world.publish(event(5, 0))
    run_all(world.store, 10_000_000)
    assert not waits(5.5)  # something was accepted just now
    assert waits(7)  # to know that nothing else happened before
    world.tick(START + 16_000_000)
    run_all(world.store, 10_000_000)
    assert not waits(20)  # nothing can be said before the frame has passed
    assert waits(36)
    world.tick(START + 36_000_000)
    run_all(world.store, 10_000_000)
    assert not waits(60)
    assert times(world) == [("c", ["e5"], 25.0)]


def test_the_schema_may_grow(world: World) -> None:
    text = "[l contains 0] as a before [l contains 1] as b within 10 s where b.v > a.v"
    world.put(Subscribe("c", composite=text))
    known = KnownComposites(world.store)
    world.store.begin_composites()
    world.publish(event(1, 0, v=1))
    first = world.store.committed("composites") + 1
    answers(world.store, known, 0, first, world.store.tail()).stored_in(world.store)
    world.put(Grow(CreateDomain(Domain("more", Kind.STRING))))
    world.publish(event(2, 1, v=2))
    world.tick(START + 3_000_000)
    first = world.store.committed("composites") + 1
    answers(world.store, known, 0, first, world.store.tail()).stored_in(world.store)
    assert times(world) == [("c", ["e1", "e2"], 2.0)]


def test_what_can_only_expire_is_dropped_unread(world: World) -> None:
    """A count that never ends is kept, though what it counts expires."""
    world.put(Subscribe("c", composite=A_THEN_B + " by k"))
    world.put(Subscribe("n", composite=f"nth({A_THEN_B}, 2)"))
    for second in (1, 100):
        world.publish(event(second, 0, k=second))
        world.publish(event(second + 1, 1, k=second))
        run_all(world.store, 0)
    world.tick(START + 150_000_000)
    assert not world.store.waits_for_time(0)
    run_all(world.store, 0)
    assert [name for name, _, _ in times(world)] == ["c", "c", "n"]
    span = world.store.tail() - 6
    assert [world.store.composite_states(at, 10) for at in (span, span + 1)] == [[], ["[1,null,null,null,null,2]"]]
