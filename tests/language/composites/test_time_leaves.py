"""When time events happen."""

import re
from datetime import time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.composites import TIME_LEAVES
from tidings.language.composites.time_leaves import time_event_id, time_events, zone
from tidings.language.composites.tree import Every, EveryDay, TimeLeaf
from tidings.schema.values import UNITS, Instant, Span


def times(leaf: TimeLeaf, since: str, until: str) -> list[str]:
    return [str(at) for at in time_events(leaf, Instant.parse(since), Instant.parse(until))]


def test_every_five_minutes() -> None:
    assert times(Every(Span(5 * UNITS["min"])), "2026-05-01T09:58:00Z", "2026-05-01T10:10:00Z") == [
        "2026-05-01T10:00:00Z",
        "2026-05-01T10:05:00Z",
    ]


def test_the_first_time_belongs_to_the_interval_and_the_end_does_not() -> None:
    assert times(Every(Span(UNITS["h"])), "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z") == ["2026-05-01T09:00:00Z"]


def test_every_week_is_monday() -> None:
    assert times(Every(Span(UNITS["week"])), "2026-05-01", "2026-05-12") == [
        "2026-05-04T00:00:00Z",
        "2026-05-11T00:00:00Z",
    ]


def test_before_1970() -> None:
    assert times(Every(Span(UNITS["week"])), "1969-12-20", "1970-01-06") == [
        "1969-12-22T00:00:00Z",
        "1969-12-29T00:00:00Z",
        "1970-01-05T00:00:00Z",
    ]


def test_nine_in_athens_in_summer_and_in_winter() -> None:
    leaf = EveryDay(time(9), "Europe/Athens")
    assert times(leaf, "2026-07-01", "2026-07-02") == ["2026-07-01T06:00:00Z"]
    assert times(leaf, "2026-12-01", "2026-12-02") == ["2026-12-01T07:00:00Z"]


def test_a_time_that_the_clocks_skip_comes_an_hour_later_on_them() -> None:
    """On 2026-03-29 clocks in Athens go from 03:00 to 04:00, at 01:00 UTC."""
    leaf = EveryDay(time(3, 30), "Europe/Athens")
    assert times(leaf, "2026-03-28", "2026-03-31") == [
        "2026-03-28T01:30:00Z",  # 03:30
        "2026-03-29T01:30:00Z",  # 04:30
        "2026-03-30T00:30:00Z",  # 03:30
    ]


def test_a_time_that_the_clocks_show_twice_comes_the_first_time() -> None:
    """On 2026-10-25 clocks in Athens go from 04:00 back to 03:00, at 01:00 UTC."""
    leaf = EveryDay(time(3, 30), "Europe/Athens")
    assert times(leaf, "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z") == [
        "2026-10-25T00:30:00Z",
        "2026-10-26T01:30:00Z",
    ]


def test_a_day_that_a_zone_left_out_has_none() -> None:
    """Samoa had no 30 December 2011."""
    leaf = EveryDay(time(9), "Pacific/Apia")
    assert times(leaf, "2011-12-29", "2012-01-01") == [
        "2011-12-29T19:00:00Z",  # the 29th
        "2011-12-30T19:00:00Z",  # the 31st
        "2011-12-31T19:00:00Z",
    ]


@given(
    st.sampled_from(TIME_LEAVES[1:]),
    st.integers(0, 40 * 366 * 24).map(lambda hours: Instant(hours * UNITS["h"])),
    st.integers(0, 96),
    st.integers(0, 96),
)
def test_an_interval_cut_in_two_has_the_same_times(leaf: TimeLeaf, since: Instant, first: int, second: int) -> None:
    middle = Instant(since + first * UNITS["h"])
    until = Instant(middle + second * UNITS["h"])
    whole = list(time_events(leaf, since, until))
    assert whole == [*time_events(leaf, since, middle), *time_events(leaf, middle, until)]
    assert whole == sorted(set(whole))
    assert all(since <= at < until for at in whole)


def test_the_ends_of_time() -> None:
    leaf = EveryDay(time(0), "+14:00")
    assert times(leaf, "0001-01-01", "0001-01-02") == ["0001-01-01T10:00:00Z"]
    assert len(times(leaf, "9999-12-30", "9999-12-31T23:59:59Z")) == 1


def test_offsets_and_names() -> None:
    assert zone("+05:30").utcoffset(None) == timedelta(hours=5, minutes=30)
    assert zone("-02:00").utcoffset(None) == timedelta(hours=-2)
    for wrong in ("+25:00", "+05:75", "Europe", "../etc/passwd", "", "Europe/Sparta"):
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            zone(wrong)


def test_the_id_of_a_time_event() -> None:
    assert time_event_id(Every(Span(UNITS["min"])), Instant.parse("2026-05-01")) == "every 1 min, 2026-05-01T00:00:00Z"
