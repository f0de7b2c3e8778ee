"""Events with several values and filters that compare attributes with each other: every algorithm decides them as the
specification does, and in bounded time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.test_choice import NAMES, RELATED, related_bindings, related_texts
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching import naive
from tidings.matching.algorithms import make_matcher
from tidings.matching.boxes.second_look import relation_of, supported
from tidings.matching.explain import explain


def batch_of(*events: dict[str, tuple[Any, ...]]) -> EventBatch:
    made = [Event(f"e{n}", ("any",), tuple(sorted(event.items()))) for n, event in enumerate(events)]
    return EventBatch.of(made, RELATED)


@pytest.mark.parametrize("name", ["default", "counting", "typed-tree"])
@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(related_texts(), min_size=1, max_size=6, unique=True),
    events=st.lists(related_bindings(), min_size=1, max_size=4),
)
def test_comparisons_between_attributes(name: str, texts: list[str], events: list[dict[str, tuple[Any, ...]]]) -> None:
    matcher = make_matcher(name, RELATED)
    filters = [Filter.parse(text, RELATED) for text in texts]
    for number, filter in enumerate(filters):
        matcher.add(Subscription(f"s{number}", filter))
    result = matcher.match(batch_of(*events))
    for row, event in enumerate(events):
        expected = [n for n, filter in enumerate(filters) if naive.matches(filter.tree, event, RELATED)]
        assert sorted(result.of(row).tolist()) == expected


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8), st.randoms(use_true_random=False), st.booleans())
def test_support_is_one_related_value(parents: list[int], random: Any, partial: bool) -> None:
    """The nodes of a tree in pre-order, some of which are the others: counting them finds what trying each finds."""
    children = [[n for n, parent in enumerate(parents, 1) if min(parent, n - 1) == node] for node in range(9)]
    ends = [0] * (len(parents) + 1)
    order: list[int] = []

    def visit(node: int) -> None:
        rank = len(order)
        order.append(node)
        for child in children[node]:
            visit(child)
        ends[rank] = len(order)

    visit(0)
    others = sorted(random.sample(range(len(order)), random.randint(0, len(order))))
    starts, stops = np.array(others, np.int64), np.sort(np.array([ends[rank] for rank in others], np.int64))
    for rank, end in enumerate(ends):
        for bits in range(16):
            related = any(relation_of(rank, end, other, ends[other], partial) & bits for other in others)
            assert bool(supported(rank, end, bits, partial, starts, stops)) == related


@pytest.mark.parametrize("name", ["default", "scan"])
def test_large_sets_equal_all_pairs(name: str) -> None:
    """At the sizes where a quadratic search would hurt, against numpy's all pairs."""
    random = np.random.default_rng(5)
    texts = [f"p {sign} q" for sign in ("=", "!=", "<", "<=", ">", ">=")] + [
        "p < q and p > 400 and q < 410",
        "p = q and p between 100 and 200 and not (q between 120 and 140)",
    ]
    matcher = make_matcher(name, RELATED)
    for number, text in enumerate(texts):
        matcher.add(Subscription(f"s{number}", Filter.parse(text, RELATED)))
    for spread in (40, 400, 4000):
        p, q = (np.unique(random.integers(0, spread, 300) + shift) for shift in (0, int(random.integers(-500, 500))))
        a, b = np.meshgrid(p, q)
        signs = [a == b, a != b, a < b, a <= b, a > b, a >= b]
        inside = (a == b) & (a >= 100) & (a <= 200) & ~((b >= 120) & (b <= 140))
        expected = [bool(one.any()) for one in [*signs, (a < b) & (a > 400) & (b < 410), inside]]
        found = matcher.match(batch_of({"p": tuple(p.tolist()), "q": tuple(q.tolist())})).of(0).tolist()
        assert [number in found for number in range(len(texts))] == expected


def test_a_hostile_event_takes_no_more_than_its_values() -> None:
    """Twelve values in six attributes are three million combinations, 1,000 in three 10^9: neither is tried."""
    matcher = make_matcher("default", RELATED)
    texts = ["p < q and " + " and ".join(f"{name} >= 0" for name in NAMES[2:]), "p < q", "p < q and q < r and r < p"]
    for number, text in enumerate(texts):
        matcher.add(Subscription(f"s{number}", Filter.parse(text, RELATED)))
    wide = {name: tuple(range(1000)) for name in NAMES} | {"p": tuple(range(2000, 3000))}
    (event,) = batch_of(wide)
    assert matcher.match(batch_of(wide)).of(0).tolist() == []
    assert not any(explain(Filter.parse(text, RELATED), event, RELATED).matches for text in texts)
    found = matcher.match(batch_of(wide | {"q": tuple(range(1500, 2500))})).of(0)
    assert sorted(found.tolist()) == [0, 1]


def test_several_words_must_be_in_one_value() -> None:  # semantics section 6
    from tests.strategies.filters import RICH

    matcher = make_matcher("default", RICH)
    for id, text in (("all", "names contains all 'red mini'"), ("none", "not (names contains all 'red mini')")):
        matcher.add(Subscription(id, Filter.parse(text, RICH)))
    values = [("red", "mini"), ("red", "a red mini"), ("mini", "blue"), ("red mini",)]
    events = [Event(f"e{n}", ("antique",), (("names", names),)) for n, names in enumerate(values)]
    result = matcher.match(EventBatch.of(events, RICH))
    assert [[matcher.id(n) for n in result.of(row).tolist()] for row in range(4)] == [
        ["none"],
        ["all"],
        ["none"],
        ["all"],
    ]
