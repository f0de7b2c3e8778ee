"""When stored events happened, and how many in which part of the time."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.events.occurrence import occurred, read_envelope, time_bars
from tidings.schema import Instant


def at(text: str) -> int:
    return int(Instant.parse(text))


def test_an_event_without_a_time_happened_when_it_was_accepted() -> None:
    assert occurred('{"id":"e","event_type":"car","time":"2001-02-03T04:05:06Z"}', 7) == at("2001-02-03T04:05:06Z")
    assert occurred('{"id":"e","event_type":"car"}', 7) == 7


def test_types_are_read_without_the_rest() -> None:
    one = read_envelope('{"event_type":["car","antique"],"attributes":{"event_type":"x"}}')
    assert one is not None
    assert one.event_types == ("car", "antique")
    assert read_envelope('{"event_type":') is None


@pytest.mark.parametrize(
    ("times", "starts", "counts"),
    [
        (["2026-05-01T10:00:00Z", "2026-05-01T10:00:01Z"], ["2026-05-01T10:00:00Z", "2026-05-01T10:00:01Z"], [1, 1]),
        (["2026-05-01T10:30:00Z", "2026-05-01T12:10:00Z"], [f"2026-05-01T{h}:00:00Z" for h in (10, 11, 12)], [1, 0, 1]),
        (["2001-11-30", "2002-01-02", "2002-01-31"], ["2001-11-01", "2001-12-01", "2002-01-01"], [1, 0, 2]),
        (["1998-02-01", "2001-03-01"], [f"{year}-01-01" for year in range(1998, 2002)], [1, 0, 0, 1]),
    ],
)
def test_the_smallest_unit_that_fits(times: list[str], starts: list[str], counts: list[int]) -> None:
    bars = time_bars([at(time) for time in times], most=4)
    assert [int(bar.start) for bar in bars] == [at(start) for start in starts]
    assert [bar.count for bar in bars] == counts


def test_no_times_no_bars() -> None:
    assert time_bars([]) == ()


ANY_TIME = st.integers(int(Instant.parse("0001-01-01")), int(Instant.parse("9999-12-31T23:59:59.999999")))


@given(st.lists(ANY_TIME, min_size=1, max_size=20), st.integers(2, 70))
def test_bars_stand_side_by_side_and_count_every_time_once(times: list[int], most: int) -> None:
    bars = time_bars(times, most)
    assert len(bars) <= most
    assert all(left.end == right.start for left, right in pairwise(bars))
    assert [sum(bar.start <= time < bar.end for time in times) for bar in bars[:-1]] == [b.count for b in bars[:-1]]
    assert sum(bar.count for bar in bars) == len(times)
    assert bars == time_bars(Counter(times), most)
    assert bars[0].count
    assert bars[-1].count
