"""The default algorithm with thresholds so low that a few dozen filters reach every access path: any part of the
pool, in any segments, gives what naive gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.filter_pool import LOW, computed_texts, events, filters, truth
from tests.strategies.filters import CATEGORIES, RICH
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.boxes.box_table import (
    BOX,
    CIRCLE,
    HAS_ALL,
    HAS_ANY,
    IN_RANGES,
    LINEAR,
    PATTERN,
    RELATED,
    SHIFTED,
    SINGLE,
    UNBOUND_AXIS,
    VERIFY,
)
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.index.access import ALL, MIXED, PREFIX, ROWS, SUFFIX
from tidings.matching.index.blocks import blocked
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.segment import Segment
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.naive import matches

EVERY = range(len(filters()))
ANSWERS = {ALL: "all", PREFIX: "prefix", SUFFIX: "suffix", ROWS: "rows", MIXED: "mixed"}
RESIDUALS = {IN_RANGES: "ranges", HAS_ANY: "any", HAS_ALL: "all", RELATED: "related", UNBOUND_AXIS: "unbound"}
COMPUTED = {
    VERIFY: "verify", LINEAR: "linear", SHIFTED: "shifted", CIRCLE: "circle", BOX: "box", SINGLE: "single",
    PATTERN: "pattern",
}  # fmt: skip


def filled(chosen: Sequence[int], thresholds: Thresholds, parts: int = 1, threads: int = 1) -> BoxMatcher:
    """A matcher with these filters of the pool, added in so many parts, some singly."""
    matcher = BoxMatcher(RICH, threads, thresholds)
    for part in range(parts):
        many = [(Subscription(f"s{n}", filters()[number]), 0) for n, number in list(enumerate(chosen))[part::parts]]
        if len(many) < 8:
            for one, at in many:
                matcher.add(one, at)
        else:
            matcher.add_many(many)
    return matcher


def check(matcher: BoxMatcher, chosen: Sequence[int], rows: Sequence[int], at: int = 0) -> None:
    """Each event's matches, every one once, are what the specification says."""
    found = matcher.match(EventBatch.of([events()[row] for row in rows], RICH, [at] * len(rows)))
    for place, row in enumerate(rows):
        answer = sorted(int(matcher.id(number)[1:]) for number in found.of(place).tolist())
        active = [n for n in range(len(chosen)) if matcher.is_active(f"s{n}")]
        assert answer == [n for n in active if truth()[row, chosen[n]]], (row, events()[row])


@st.composite
def thresholds(draw: st.DrawFn) -> Thresholds:
    """`LOW`, and what lies around it: which boxes share a group, and which clusters have bitmaps, differs."""
    number = st.integers
    return Thresholds(
        few=0, fewest_alike=draw(number(1, 12)), large_cluster=draw(number(0, 4)), longest_key=draw(number(1, 3)),
        most_groups=draw(st.sampled_from((3, 1024))), fewest_with_bitmaps=draw(number(1, 12)),
        fewest_in_blocks=draw(st.sampled_from((1, 20, 1 << 14))), block=draw(number(1, 2)),
        most_combinations=draw(number(1, 8)), most_waiting=draw(number(1, 40)), large_merge=draw(number(5, 500)),
        alike=draw(number(1, 4)), room=draw(st.sampled_from((1, 1 << 10))),
        fewest_for_threads=draw(number(1, 10)),
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(EVERY), min_size=50, max_size=180, unique=True), thresholds(), st.integers(1, 4),
    st.integers(1, 2), st.booleans(), st.data(),
)  # fmt: skip
def test_any_part_of_the_pool_equals_naive(
    chosen: list[int], low: Thresholds, parts: int, threads: int, merge: bool, data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(events()) - 1), min_size=1, max_size=25, unique=True))
    matcher = filled(chosen, low, parts, threads)
    check(matcher, chosen, rows)
    for number in data.draw(st.lists(st.integers(0, len(chosen) - 1), max_size=20, unique=True)):
        matcher.withdraw(f"s{number}", 5)
    check(matcher, chosen, rows, at=5)
    if merge:
        matcher.merge(data.draw(st.none() | st.just(4)))
        check(matcher, chosen, rows, at=5)


def test_the_whole_pool_equals_naive_and_reaches_every_path() -> None:
    chosen = list(EVERY)
    matcher = filled(chosen, LOW)
    check(matcher, chosen, range(len(events())))
    reached = paths(matcher.settled_segments())
    assert {f"answer {name}" for name in ANSWERS.values()} <= set(reached)
    for found in ("with a key", "without a key", "in blocks"):
        assert reached[f"bitmaps {found}"], found
    for name in RESIDUALS.values():
        assert any(reached[f"residual {name} {where}"] for where in ("rows", "mixed")), name
        assert reached[f"residual {name} in blocks"], name
    assert reached["residual related rows"]
    assert reached["several values in a key"] > 20
    assert reached["more keys than are looked up"] > 20
    assert reached["several values in blocks"] > 20


def test_parts_of_the_pool_reach_every_path_often() -> None:
    """What the property above draws: with a third of the pool, most paths are there most of the time."""
    random = np.random.default_rng(5)
    often: Counter[str] = Counter()
    for _ in range(8):
        chosen = random.choice(len(EVERY), 120, replace=False).tolist()
        matcher = filled(chosen, LOW, parts=2)
        check(matcher, chosen, range(0, len(events()), 4))
        matcher.merge()
        check(matcher, chosen, range(0, len(events()), 7))
        often.update(set(paths(matcher.settled_segments())))
    wanted = [f"answer {name}" for name in ANSWERS.values()]
    wanted += ["bitmaps with a key", "bitmaps without a key", "bitmaps in blocks"]
    wanted += ["several values in a key", "more keys than are looked up", "several values in blocks"]
    assert {name: often[name] for name in wanted if often[name] < 4} == {}


def paths(segments: Sequence[Segment]) -> Counter[str]:
    """How often each access path is there, and how often an event of the pool takes it with several values."""
    reached: Counter[str] = Counter()
    batch = EventBatch.of(list(events()), RICH)
    for segment in segments:
        index, in_blocks = (
            segment.index,
            dict(blocked(segment.index, segment.bitmaps, segment.thresholds.fewest_in_blocks)),
        )
        table = EventTable.of(batch, segment.dimensions, segment.relations)
        values = np.where(table.least < 0, 0, 1)
        if len(table.sets):
            values = np.maximum(values, table.set_stops - table.set_starts)
        for group, answer in enumerate(index.answer.tolist()):
            where = "in blocks" if group in in_blocks else ANSWERS[answer]
            reached[f"answer {ANSWERS[answer]}"] += 1
            boxes = slice(index.first_box[group], index.first_box[group + 1])
            if len(index.residual_set):
                for one in np.unique(index.residual_set[boxes]).tolist():
                    for row in index.residuals[index.set_offsets[one] : index.set_offsets[one + 1]]:
                        reached[f"residual {(RESIDUALS | COMPUTED)[int(row[0])]} {where}"] += 1
            access = index.access[index.access_offsets[group] : index.access_offsets[group + 1]]
            keys = values[:, access].prod(axis=1) if len(access) else np.ones(len(values), np.int64)
            reached["several values in a key"] += int(
                ((keys > 1) & (keys <= segment.thresholds.most_combinations)).sum()
            )
            reached["more keys than are looked up"] += int((keys > segment.thresholds.most_combinations).sum())
        for place, cluster in enumerate(segment.bitmaps.cluster.tolist()):
            group = int(np.searchsorted(index.first_cluster, cluster, side="right")) - 1
            keyed = index.access_offsets[group] < index.access_offsets[group + 1]
            if group in in_blocks:
                dimensions = slice(*segment.bitmaps.first_dimension[place : place + 2].tolist())
                asked = values[:, segment.bitmaps.dimension[dimensions]]
                reached["several values in blocks"] += int((asked > 1).any(axis=1).sum())
                reached["bitmaps in blocks"] += 1
            else:
                reached[f"bitmaps {'with' if keyed else 'without'} a key"] += 1
    return +reached


def equals_naive(texts: Sequence[str], made: Sequence[Event], low: Thresholds = LOW) -> BoxMatcher:
    """A matcher that was compared with the specification."""
    matcher, parsed = BoxMatcher(RICH, 1, low), [Filter.parse(text, RICH) for text in texts]
    matcher.add_many([(Subscription(str(n), filter), 0) for n, filter in enumerate(parsed)])
    found = matcher.match(EventBatch.of(list(made), RICH))
    for row, event in enumerate(made):
        expected = [n for n, filter in enumerate(parsed) if matches(filter.tree, event.bindings(), RICH)]
        assert sorted(int(matcher.id(number)) for number in found.of(row).tolist()) == expected, event
    return matcher


@pytest.mark.parametrize("key", ["paint = 'red' and ", ""])  # without a key they are looked at in blocks
def test_more_bounds_than_buckets(key: str) -> None:
    """A bucket of a bitmap then holds ordinals that a side allows and others that it does not."""
    random = np.random.default_rng(3)
    forms = ("price >= {} and budget < {} and prices between {} and {}",
             "price < {} and budget >= {} and prices not between {} and {}")  # fmt: skip
    bounds = [(*random.integers(0, 300, 2), *np.sort(random.integers(0, 300, 2))) for _ in range(300)]
    texts = [key + forms[n % 2].format(*four) for n, four in enumerate(bounds)]
    made = [
        Event(f"e{n}", ("offer",), (("budget", (b,)), ("paint", ("red",)), ("price", (p,)), ("prices", tuple(several))))
        for n, (p, b, *several) in enumerate(random.integers(0, 300, (60, 4)).tolist())
    ]
    matcher = equals_naive(texts, made, replace(LOW, large_cluster=1000))
    matcher.merge()
    (segment,) = matcher.settled_segments()
    assert 50 < np.diff(segment.bitmaps.first_edge).max() < 100  # of some 300 bounds
    assert (segment.bitmaps.first_plain[0] >= 0) == bool(key)


def test_what_is_computed_on_every_path() -> None:
    """Arithmetic, times from now, places, parts of strings and patterns."""
    matcher = equals_naive(computed_texts(4), events()[::4])
    reached = paths(matcher.settled_segments())
    for name in ("linear", "shifted", "circle", "box", "pattern"):
        assert reached[f"residual {name} rows"] + reached[f"residual {name} mixed"] > 0, name
        assert reached[f"residual {name} in blocks"], name
    matcher.merge()
    batch = EventBatch.of(list(events()), RICH)
    found = matcher.match(batch)
    for row, event in enumerate(events()[:20]):
        assert sorted(matcher.match_one(event).tolist()) == sorted(found.of(row).tolist())


def test_two_bounds_in_a_slice() -> None:
    numbers = list(product(range(4), repeat=2))
    texts = [
        f"price {a} {i} and budget {b} {j}" for a, b in ((">=", "<"), (">", ">="), ("<", "<=")) for i, j in numbers
    ]
    equals_naive(texts, [Event("e", ("offer",), (("budget", (i,)), ("price", (j,)))) for i, j in numbers])


def test_every_comparison_of_nodes() -> None:
    texts = [f"category {sign} '{node}'" for sign in ("=", "!=", "<", "<=", ">", ">=") for node in CATEGORIES.nodes]
    equals_naive(texts, [Event("e", ("offer",), (("category", (node,)),)) for node in CATEGORIES.nodes])


def test_a_second_look_knows_the_key() -> None:
    """The attribute of a cluster's key is compared with another one, and the event has several values of it; so has
    it of one that must lie outside an interval."""
    texts = [f"prices {sign} {n} and prices < price" for sign in ("=", "!=") for n in range(10)]
    texts += [f"prices in ({n}, 9) and prices < price" for n in range(5)]
    made = [Event("e", ("offer",), (("price", (5,)), ("prices", several))) for several in ((2, 4, 7), (2, 7))]
    matcher = equals_naive(texts, made)
    index = matcher.settled_segments()[0].index
    assert len(index.access)


def test_spans_of_one_segment() -> None:
    """Numbers of one segment begin and end at different positions; an end is outside its span."""
    matcher, filter = BoxMatcher(RICH, 1, LOW), Filter.parse("price exists", RICH)
    starts, stops = {}, {}

    def check_spans(first: int = 0) -> None:
        positions = list(range(first, 25))
        event = Event("e", ("offer",), (("price", (1,)),))
        found = matcher.match(EventBatch.of([event] * len(positions), RICH, positions))
        for row, at in enumerate(positions):
            expected = sorted(n for n, start in starts.items() if start <= at < stops.get(n, 25))
            assert sorted(found.of(row).tolist()) == expected, at

    for first, start in ((0, 0), (10, 12)):
        starts.update({first + n: start + n for n in range(10)})
        matcher.add_many([(Subscription(f"s{n}", filter), starts[n]) for n in range(first, first + 10)])
        check_spans()
    matcher.merge()
    check_spans(first=12)  # all of the first part have begun
    check_spans()
    for number in (19, 3):
        stops[number] = starts[number] + 2
        matcher.withdraw(f"s{number}", stops[number])
        check_spans(first=22)  # all have begun: only ends are looked at
        check_spans()


def test_residuals_that_differ_in_their_negation_only() -> None:
    forms = [f"{negation}contains {words} 'a b'" for words in ("all", "any") for negation in ("", "not ")]
    texts = [f"paint = 'red' and body {form}" for form in forms * 4]
    bodies = ("a b", "a", "?", "b c a")
    equals_naive(texts, [Event("e", ("offer",), (("body", (one,)), ("paint", ("red",)))) for one in bodies])


def test_lists_of_values() -> None:
    """The ordinals of some of them begin at the first and leave out the last: not all but an interval."""
    sizes = ("S", "M", "L", "XL")
    texts = [f"size in ('{one}', '{other}')" for one, other in combinations(sizes, 2)] * 2
    equals_naive(texts, [Event("e", ("offer",), (("size", (size,)),)) for size in sizes])
