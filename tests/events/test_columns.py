"""The bulk path accepts what `validate` accepts, as the same events, and says the same of all others."""

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.events.examples import EVERY_KIND
from tidings.events import RefusedEvent, Sieve, validate
from tidings.events.files.json_lines import raw_columns
from tidings.events.instants import from_timestamps, parse_texts
from tidings.schema import Instant

TIMES = (
    "2026-05-01T10:00:00Z",
    "2026-05-01T12:00:00+02:00",
    "2026-05-01T10:00:00",
    "2026-05-01",
    "20260501T100000Z",
    "2026-05-01T10:00:00.1234567Z",
    "2026-02-30",
    "0000-01-01",
    "0001-01-01T00:00:00+05:00",
    "9999-12-31T23:59:59-05:00",
    "9999-12-31",
    "1969-12-31T23:59:59.999999",
    "2026-W18-5",
    "",
    "soon",
)
NUMBERS = (0, 1, 1.0, -0.0, 2.5, 2**53, 2**53 + 1, -(2**60), 10**25, 1e300, math.nan, math.inf)
WORDS = ("opel", "mini", "a", "b", "x", "", "é", "\ud800", "900")
NAMES = ("price", "sizes", "name", "tags", "story", "brand", "brands", "category", "when", "whens", "unused")

scalars = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(WORDS), st.sampled_from(TIMES), st.booleans(), st.none())
odd = st.one_of(scalars, st.lists(scalars, max_size=3), st.just([[1]]), st.just({"a": 1}))


def usual(name):
    """Values that mostly are in the attribute's domain, so that whole events are valid now and then."""
    one = {
        "price": st.sampled_from(NUMBERS[:6]),
        "sizes": st.sampled_from(NUMBERS[:6]),
        "brand": st.sampled_from(("opel", "mini")),
        "brands": st.sampled_from(("opel", "mini")),
        "category": st.sampled_from("abc"),
        "when": st.sampled_from(TIMES[:6]),
        "whens": st.sampled_from(TIMES[:6]),
    }.get(name, st.sampled_from(WORDS[:7]))
    several = st.lists(one, min_size=1, max_size=4)
    return st.one_of(one, one, several if name in ("sizes", "tags", "brands", "whens") else one)


attributes = st.one_of(
    st.fixed_dictionaries({"price": usual("price")}, optional={name: usual(name) for name in NAMES[1:-1]}),
    st.fixed_dictionaries({"price": usual("price")}, optional=dict.fromkeys(NAMES[1:], odd)),
    st.dictionaries(st.sampled_from((*NAMES, "nosuch", "event_type", "event.id")), odd, max_size=4),
    st.sampled_from((None, [], 5, {})),
)
types = st.sampled_from(
    ("all", ["all"], ["free", "all"], ["all", "all"], "free", "none", "nosuch", ["all", 5], [], None)
)
envelopes = st.fixed_dictionaries(
    {"id": st.one_of(st.text(min_size=1, max_size=3), st.sampled_from(("e", "x" * 1001, "", None, 5, "\ud800")))},
    optional={
        "source": st.sampled_from(("s", "", None, 5, "\ud800")),
        "time": st.sampled_from((*TIMES, None, 5, ["2026-05-01"])),
        "contact": st.sampled_from(("me", None, [])),
    },
)
raw_events = st.one_of(
    st.builds(lambda a, t, e: e | {"event_type": t, "attributes": a}, attributes, types, envelopes),
    st.builds(lambda a: {"id": "e", "event_type": ["all"], "attributes": a}, attributes),
    st.sampled_from((5, [], {}, {"id": "e", "event_type": "none"}, {"id": "e", "event_type": "none", "more": 1})),
)


def one_by_one(raws, catalog=EVERY_KIND, accepted=None):
    """What `validate` says: the events, their rows, and the refusals by row."""
    events, rows, refused = [], [], []
    for row, raw in enumerate(raws):
        try:
            events.append(validate(raw, catalog, accepted))
            rows.append(row)
        except RefusedEvent as refusal:
            refused.append((row, refusal.id, refusal.as_json()))
    return events, rows, refused


def sifted(raws, catalog=EVERY_KIND, accepted=None):
    found = Sieve(catalog, accepted).sift(raw_columns(raws, catalog))
    refused = [(row, refusal.id, refusal.as_json()) for row, refusal in found.refused]
    return list(found.batch), found.rows.to_pylist(), refused


@settings(max_examples=400, deadline=None)
@given(st.lists(raw_events, max_size=8))
def test_bulk_equals_one_by_one(raws):
    assert sifted(raws) == one_by_one(raws)


@settings(max_examples=50, deadline=None)
@given(st.lists(raw_events, max_size=5))
def test_bulk_equals_one_by_one_with_a_time_of_acceptance(raws):
    accepted = Instant.parse("2026-04-30T00:00:00Z")
    assert sifted(raws, accepted=accepted) == one_by_one(raws, accepted=accepted)


def test_a_doubted_row_that_is_valid_keeps_its_place():
    raws = [
        {"id": "1", "event_type": "all", "attributes": {"price": 1}},
        {"id": "2", "event_type": "all", "attributes": {"price": 2, "nosuch": None}},
        {"id": "3", "event_type": "all", "attributes": {}},
        {"id": "4", "event_type": "all", "attributes": {"price": 4, "tags": ["a", "a", "b"]}},
    ]
    events, rows, refused = sifted(raws)
    assert [event.id for event in events] == ["1", "2", "4"]
    assert rows == [0, 1, 3]
    assert [row for row, *_ in refused] == [2]


def test_no_rows():
    assert sifted([]) == ([], [], [])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(TIMES),
            st.none(),
            st.datetimes().map(lambda moment: moment.isoformat()),
            st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()),
            st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2})?)?", fullmatch=True),
        ),
        max_size=100,
    )
)
def test_times_are_read_as_instant_reads_them(texts):
    def alone(text):
        try:
            return None if text is None else Instant.parse(text)
        except (ValueError, OverflowError):
            return None

    made = parse_texts(pa.array(texts, pa.string())).cast(pa.int64()).to_pylist()
    assert made == [alone(text) for text in texts]


@pytest.mark.parametrize(
    ("ticks", "unit", "microseconds"),
    [
        (-1, "ns", -1),
        (-1000, "ns", -1),
        (1999, "ns", 1),
        (5, "us", 5),
        (5, "ms", 5_000),
        (-5, "s", -5_000_000),
        (2**62, "s", None),
        (253_402_300_799, "s", 253_402_300_799_000_000),  # the last second of 9999
        (253_402_300_800, "s", None),
        (-62_135_596_800_000, "ms", -62_135_596_800_000_000),  # the first of the year 1
        (-62_135_596_800_001, "ms", None),
        (-(2**62), "ms", None),
    ],
)
def test_timestamps_of_any_unit(ticks, unit, microseconds):
    stamps = pa.array([ticks, None], pa.int64()).cast(pa.timestamp(unit))
    assert from_timestamps(stamps).cast(pa.int64()).to_pylist() == [microseconds, None]


def test_an_event_with_thousands_of_wrong_values_or_names_is_told_as_validate_tells_it():
    wrong = ({"brands": [f"min{number}" for number in range(3_000)]}, {f"pric{number}": 1 for number in range(3_000)})
    raws = [{"id": f"e{row}", "event_type": "all", "attributes": one} for row, one in enumerate(wrong)]
    assert sifted(raws) == one_by_one(raws)
    assert [len(told["errors"]) for _, _, told in sifted(raws)[2]] == [101, 101]
