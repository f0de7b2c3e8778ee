"""What is evidently valid is what `validate` finds valid, made into the same event."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.conftest import car
from tests.service.example_store import SCHEMA
from tidings.events import RefusedEvent, validate
from tidings.schema import json_form
from tidings.service.publishing.quick_validation import QuickValidation

CATALOG = json_form.read(SCHEMA.read_bytes())
AUCTION = {"title": "desk", "price": 3.0, "category": "desk", "ends": "2030-01-01T10:00:00+02:00"}

values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**54), 2**54),
    st.floats(),
    st.sampled_from(["mini", "desk", "good", "red", "", "ü", "\ud800", "2030-01-01", "0000-01-01", "12"]),
    st.lists(st.sampled_from(["red", "mini", 3]), max_size=2),
)
names = st.sampled_from([attribute.name for attribute in CATALOG.attributes] + ["event_type", "event.id", "nope"])
types = st.sampled_from(["car", "auction", ["car"], ["auction", "car"], ["car", "car"], [], "nope", None, 3, [["car"]]])
attributes = st.builds(
    lambda base, more: base | more,
    st.sampled_from([{}, AUCTION, {"brand": "mini", "year": 1990}, AUCTION | {"brand": "mini", "year": 1990}]),
    st.dictionaries(names, values, max_size=2),
)
raws = st.fixed_dictionaries(
    {"id": st.sampled_from(["e1", "", None, 3, "x" * 1001, "ü"]), "event_type": types, "attributes": attributes},
    optional={
        "source": st.sampled_from(["here", "", None, 5, "ü"]),
        "time": st.sampled_from([None, "2020-01-01", "soon"]),
        "contact": st.sampled_from([None, "me"]),
        "more": st.just(1),
    },
)


@given(raws)
def test_what_is_evident_is_what_validate_says(raw: dict[str, Any]) -> None:
    quick = QuickValidation(CATALOG).event(raw)
    try:
        found = validate(raw, CATALOG)
    except RefusedEvent:
        assert quick is None
        return
    if quick is not None:
        assert quick == found
        assert repr(quick) == repr(found)  # 1 and 1.0 are equal but not the same


def test_several_types_are_evident_only_within_the_limit() -> None:
    raw = {"id": "e1", "event_type": ["car", "auction"], "attributes": AUCTION | {"brand": "mini", "year": 1990}}
    assert QuickValidation(CATALOG, most_values=2).event(raw) == validate(raw, CATALOG)
    assert QuickValidation(CATALOG, most_values=1).event(raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        car("e1"),
        car("e1", paint="red"),
        {**car("e1"), "event_type": ["car"], "source": "s"},
        {**car("e1"), "time": "2020-01-01T10:00:00+02:00"},
        {"id": "e1", "event_type": "auction", "attributes": AUCTION | {"title": "Schreibtisch, für zwei"}},
    ],
)
def test_the_common_event_is_evident(raw: dict[str, Any]) -> None:
    assert QuickValidation(CATALOG).event(raw) == validate(raw, CATALOG)
