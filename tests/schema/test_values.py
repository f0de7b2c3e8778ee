from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.schema.moments import moment
from tidings.schema.values import LARGEST_INTEGER, Instant, is_text, number


def test_equal_numbers_become_one():
    assert number(1.0) == number(1) == 1
    assert type(number(1.0)) is int
    assert repr(number(-0.0)) == "0"
    assert number(0.5) == 0.5


def test_the_largest_integers_are_kept_and_the_next_ones_refused():
    assert number(LARGEST_INTEGER) == number(float(LARGEST_INTEGER)) == 2**53
    for beyond in (LARGEST_INTEGER + 1, -LARGEST_INTEGER - 1):
        with pytest.raises(ValueError, match="2\\^53"):
            number(beyond)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinities_are_no_numbers(value):
    with pytest.raises(ValueError, match="NaN and infinities"):
        number(value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [(True, "Boolean"), ("7", "without quotes"), (None, "expected a number"), ([1], "expected a number")],
)
def test_what_only_looks_like_a_number_is_refused(value, reason):
    with pytest.raises(ValueError, match=reason):
        number(value)


@given(st.integers(-LARGEST_INTEGER, LARGEST_INTEGER) | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_value_and_are_canonical_at_once(value):
    assert number(value) == value
    assert number(number(value)) == number(value)


def test_a_time_without_a_zone_is_utc():
    assert Instant.parse("2026-05-01T10:00:00") == Instant.parse("2026-05-01T10:00:00Z")
    assert Instant.parse("2026-05-01T12:00:00+02:00") == Instant.parse("2026-05-01T10:00:00Z")
    assert Instant.of(datetime(1970, 1, 1)) == 0


def test_a_time_prints_as_it_is_read():
    assert str(Instant.parse("2026-05-01T12:00:00.25+02:00")) == "2026-05-01T10:00:00.250000Z"
    assert repr(Instant(0)) == "Instant('1970-01-01T00:00:00Z')"
    assert f"{Instant(1)}" == "1970-01-01T00:00:00.000001Z"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30T00:00:00Z"])
def test_what_is_no_time_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="2026-05-01T10:00:00Z"):
        Instant.parse(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_zone_that_leads_out_of_the_calendar_is_refused(text):
    with pytest.raises(ValueError, match="years 1 to 9999"):
        Instant.parse(text)


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])))
def test_every_instant_survives_printing_and_pickling(moment):
    try:
        instant = Instant.of(moment)
    except ValueError:
        assert moment.year in (1, 9999)
        return
    assert Instant.parse(str(instant)) == instant
    copy = pickle.loads(pickle.dumps(instant))
    assert (type(copy), copy) == (Instant, instant)


def test_half_a_surrogate_pair_is_no_text():
    assert is_text("plain")
    assert is_text("名前 😀")
    assert not is_text("a\ud800")


@pytest.mark.parametrize(
    ("text", "meant"),
    [("7d", "2026-04-24T10:00:00Z"), ("1.5 h", "2026-05-01T08:30:00Z"), ("2026-04-30", "2026-04-30T00:00:00Z")],
)
def test_moments_as_people_write_them(text, meant):
    assert moment(text, Instant.parse("2026-05-01T10:00:00Z")) == Instant.parse(meant)


@pytest.mark.parametrize("text", ["", "yesterday", "7", "7 days", "999999999999d", "-1d"])
def test_what_is_no_moment(text):
    with pytest.raises(ValueError):  # noqa: PT011  (whoever asks says it in his own words)
        moment(text, Instant.parse("2026-05-01T10:00:00Z"))
