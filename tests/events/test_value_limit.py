"""An attribute has at most so many different values in one event: `unique` is the rule that more would break."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events.examples import EVERY_KIND
from tests.events.reading import line, places, read
from tests.events.test_columns import raw_events
from tidings.events import RefusedEvent, Sieve, read_events, validate
from tidings.events.files.json_lines import raw_columns
from tidings.events.validation import MOST_VALUES
from tidings.settings import Settings


def an_event(**attributes):
    return {"id": "e", "event_type": "all", "attributes": {"price": 1, **attributes}}


def test_the_default_is_that_of_the_settings():
    assert Settings().values_per_attribute == MOST_VALUES == 1_000


def test_a_thousand_values_are_allowed_and_not_one_more():
    assert len(dict(validate(an_event(sizes=list(range(1_000))), EVERY_KIND).attributes)["sizes"]) == 1_000
    with pytest.raises(RefusedEvent) as told:
        validate(an_event(sizes=list(range(1_001))), EVERY_KIND)
    (broken,) = told.value.errors
    assert (broken.rule, broken.attribute) == ("unique", "sizes")
    assert broken.message == "'sizes' has 1,001 different values; at most 1,000 are allowed"


def test_equal_values_count_once():
    validate(an_event(sizes=[number % 1_000 for number in range(3_000)]), EVERY_KIND)
    validate(an_event(sizes=[1, 1.0, 2, 2.0]), EVERY_KIND, most_values=2)


def test_the_limit_can_be_set_or_lifted():
    with pytest.raises(RefusedEvent, match="at most 2 are allowed"):
        validate(an_event(tags=["a", "b", "c"]), EVERY_KIND, most_values=2)
    validate(an_event(sizes=list(range(2_000))), EVERY_KIND, most_values=2_000)
    validate(an_event(sizes=list(range(2_000))), EVERY_KIND, most_values=None)


def test_a_unique_attribute_is_told_of_once():
    with pytest.raises(RefusedEvent) as told:
        validate(an_event(name=["a", "b", "c"]), EVERY_KIND, most_values=2)
    assert [one.message for one in told.value.errors] == ["'name' is unique but has 3 different values"]


def test_event_types_are_under_the_limit_too():
    raw = {"id": "e", "event_type": ["all", "free", "none"], "attributes": {"price": 1}}
    with pytest.raises(RefusedEvent) as told:
        validate(raw, EVERY_KIND, most_values=2)
    assert [(one.rule, one.attribute) for one in told.value.errors] == [("unique", "event_type")]
    validate(raw, EVERY_KIND, most_values=3)


@given(st.lists(raw_events, max_size=8), st.integers(1, 3))
def test_the_bulk_path_has_the_same_limit(raws, most):
    expected, refused = [], []
    for row, raw in enumerate(raws):
        try:
            expected.append(validate(raw, EVERY_KIND, most_values=most))
        except RefusedEvent as refusal:
            refused.append((row, refusal.as_json()))
    found = Sieve(EVERY_KIND, most_values=most).sift(raw_columns(raws, EVERY_KIND))
    assert list(found.batch) == expected
    assert [(row, refusal.as_json()) for row, refusal in found.refused] == refused


def test_files_have_the_limit():
    text = "\n".join((line("ok", sizes=list(range(1_000))), line("no", sizes=list(range(1_001)))))
    events, refused, _, _ = read(text)
    assert [event.id for event in events] == ["ok"]
    assert places(refused) == [(2, "no", [("unique", "sizes")])]
    (reading,) = read_events(io.BytesIO(text.encode()), EVERY_KIND, "jsonl", most_values=1_001)
    assert len(reading.batch) == 2


def test_xml_events_have_the_limit():
    values = "".join(f'<ATTR type="sizes">{number}</ATTR>' for number in range(1_001))
    text = (
        '<EVENTS><PUBLISH_EVENT id="e"><EVENT_TYPE><VALUE type="all"/></EVENT_TYPE>'
        f'<ATTRIBUTES><ATTR type="price">1</ATTR>{values}</ATTRIBUTES></PUBLISH_EVENT></EVENTS>'
    )
    events, refused, _, _ = read(text, "xml")
    assert (events, places(refused)) == ([], [(1, "e", [("unique", "sizes")])])
