"""Every algorithm equals the naive one: generated catalogs, filters with negation and disjunction, multi-valued
events."""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.filter_pool import LOW
from tests.strategies.filters import POOLS, catalogs, events, filter_texts
from tidings.events import EventBatch
from tidings.language import Filter, Subscription
from tidings.matching import Algorithm
from tidings.matching.algorithms import ALGORITHMS, make_matcher
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema import Kind

OTHERS = [name for name in ALGORITHMS if name != "naive"]


def answers(matcher: Algorithm, batch: EventBatch) -> list[list[str]]:
    """By event the ids that matched; a subscription reported twice would stand here twice."""
    result = matcher.match(batch)
    return [sorted(matcher.id(number) for number in result.of(row).tolist()) for row in range(len(batch))]


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_equals_naive(name: str, data: st.DataObject) -> None:
    catalog = data.draw(catalogs())
    texts = data.draw(st.lists(filter_texts(catalog), min_size=1, max_size=8))
    made = data.draw(st.lists(events(catalog), min_size=1, max_size=5))
    positions = data.draw(st.lists(st.integers(0, 6), min_size=len(made), max_size=len(made)))
    naive = make_matcher("naive", catalog)
    # So few filters would all be one group without keys; the contract's suite runs with the usual thresholds.
    other = BoxMatcher(catalog, 1, LOW) if name == "default" else make_matcher(name, catalog)
    for number, text in enumerate(texts):
        subscription = Subscription(f"s{number}", Filter.parse(text, catalog))
        start = data.draw(st.integers(0, 3))
        for matcher in (naive, other):
            matcher.add(subscription, start)
        if data.draw(st.integers(0, 3)) == 0:
            stop = data.draw(st.integers(start, 6))
            for matcher in (naive, other):
                matcher.withdraw(subscription.id, stop)
    batch = EventBatch.of(made, catalog, positions)
    if data.draw(st.booleans()):  # else `now` is the time of the event itself
        times = st.lists(st.sampled_from(POOLS[Kind.TIME]).map(int), min_size=len(made), max_size=len(made))
        batch = replace(batch, accepted=pa.array(data.draw(times), pa.int64()))
    assert answers(other, batch) == answers(naive, batch)
