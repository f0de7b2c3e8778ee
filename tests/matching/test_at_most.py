"""A limit of matches: a batch that has more is refused before they are all in memory; one event never is."""

import pytest

from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.segment import TooManyMatches
from tidings.matching.index.thresholds import Thresholds
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind

CATALOG = Catalog(
    domains=(Domain("money", Kind.NUMERIC),),
    attributes=(Attribute("price", "money"),),
    event_types=(EventType("sale", (AttributeUse("price"),)),),
)


def batch(events: int) -> EventBatch:
    raws = ({"id": str(number), "event_type": "sale", "attributes": {"price": number}} for number in range(events))
    return EventBatch.of([validate(raw, CATALOG) for raw in raws], CATALOG)


@pytest.fixture
def matcher() -> BoxMatcher:
    made = BoxMatcher(CATALOG, threads=1, thresholds=Thresholds(room=16))
    made.add_many((Subscription(f"s{number}", Filter.parse("price >= 0", CATALOG)), 0) for number in range(100))
    return made


def test_more_than_the_limit_is_refused_with_how_many_events_fit(matcher: BoxMatcher) -> None:
    with pytest.raises(TooManyMatches, match="more than 1,000 matches") as refused:
        matcher.match_at_most(batch(500), 1_000)
    assert 10 <= refused.value.events <= 100
    assert len(matcher.match_at_most(batch(5), 1_000)) == 500
    assert len(matcher.match(batch(500))) == 50_000, "the limit was for one call"


def test_one_event_is_matched_whatever_it_takes(matcher: BoxMatcher) -> None:
    assert len(matcher.match_at_most(batch(1), 10)) == 100
