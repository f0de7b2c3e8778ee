"""Filters that compare the same two attributes and are tested together: once for an event and all of them, or number
by number without a branch. Any mix of operators, sides, several values and missing ones gives what naive gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.matching.filter_pool import LOW
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive import matches
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema import Catalog

NUMBERS = ("a", "b", "c", "d")
CATALOG = Catalog.from_dict(
    {
        "domains": [{"name": "n", "kind": "numeric"}, {"name": "s", "kind": "string"}],
        "attributes": [*({"name": name, "domain": "n"} for name in NUMBERS), {"name": "key", "domain": "s"}],
        "event_types": [{"name": "thing", "attributes": [{"name": name} for name in (*NUMBERS, "key")]}],
    }
)
# Each as boxes of 0, 1, 2 and 3 sides beside a key and without one.
SIDES = ("key = 'k{n}'", "key = 'k{n}' and c > {n}", "c > {n} and d < {m}", "key = 'k{n}' and c > {n} and d < {m}",
         "c >= {n} and d >= 0 and d <= {m} and a > 0", "c < {m}")  # fmt: skip
OPERATORS = ("<", "<=", "=", "!=", ">=", ">")
LOW_ALIKE = replace(LOW, fewest_alike=2, large_cluster=0, fewest_with_bitmaps=1 << 20, fewest_in_blocks=1 << 20)


def filters(compared: str) -> list[Filter]:
    texts = [
        f"{sides} and {compared}".format(
            n=number % 3,
            m=2 + number % 4,
            op=op,
            c=(0.5, 1, 2)[number % 3],
            o=("+ 1", "- 1", "+ 0.5", "- 2", "+ 0")[number],
        )
        for sides in SIDES
        for op in OPERATORS
        for number in range(5)
    ]
    return [Filter.parse(text, CATALOG) for text in texts]


def events(chance: Random, count: int) -> list[Event]:
    made = []
    for number in range(count):
        bound: list[tuple[str, tuple[int | float | str, ...]]] = []
        for name in NUMBERS:
            if chance.random() < 0.9:
                many = 2 if chance.random() < 0.1 else 1
                values = dict.fromkeys(chance.choice((0, 1, 2, 3, 4, 0.5, 2.5)) for _ in range(many))
                bound.append((name, tuple(values)))
        bound.append(("key", (f"k{chance.randrange(3)}",)))
        made.append(Event(f"e{number}", ("thing",), tuple(bound)))
    return made


@pytest.mark.parametrize(("compared", "sign"), [("a {op} b", -1), ("a {op} {c} * b {o}", 1)], ids=["plain", "linear"])
def test_tested_together_as_naive_says(compared: str, sign: int, tmp_path: Path) -> None:
    asked, given = filters(compared), events(Random(17), 80)
    matcher = BoxMatcher(CATALOG, 1, LOW_ALIKE)
    matcher.add_many([(Subscription(str(n), filter), 0) for n, filter in enumerate(asked)])
    matcher.merge()
    tests = [test for segment in matcher.settled_segments() for test in segment.index.cluster_test.tolist()]
    assert sum(test * sign > 0 for test in tests) > 20, "most clusters are tested together"
    expected = [
        [n for n, filter in enumerate(asked) if matches(filter.tree, event.bindings(), CATALOG)] for event in given
    ]
    assert 500 < sum(map(len, expected)) < len(asked) * len(given) // 2
    save_plan(matcher, tmp_path / "plan")
    for one in (matcher, open_plan(tmp_path / "plan", 1, LOW_ALIKE)):
        found = one.match(EventBatch.of(given, CATALOG))
        for row, event in enumerate(given):
            assert sorted(int(one.id(number)) for number in found.of(row).tolist()) == expected[row], event
    for row, event in enumerate(given[:20]):
        assert sorted(int(matcher.id(number)) for number in matcher.match_one(event)) == expected[row], event
