"""Stored events searched by when they happened, and filters tried on the events that they can match."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tests.services.sqlite import new_store
from tidings.errors import LanguageError
from tidings.schema import Catalog, Instant
from tidings.schema.growth import changes_to_make
from tidings.service.workers import event_search, filter_trial, history_scan, questions
from tidings.service.workers.event_search import Sought, Wanted, sought
from tidings.store import Accepted, Grow, Publish, Store

SCHEMA = {
    "domains": [{"name": "number", "kind": "numeric"}],
    "attributes": [{"name": "price", "domain": "number"}, {"name": "amount", "domain": "number"}],
    "event_types": [
        {"name": "car", "attributes": [{"name": "price"}]},
        {"name": "bid", "attributes": [{"name": "amount"}]},
    ],
}
CARS, BIDS = 20, 50
LATER = Instant.parse("2001-01-01")


def _car(number: int) -> dict[str, Any]:
    """Cars are from the past, a month apart, and stored in another order than they happened."""
    month = (number * 7) % CARS
    time = f"{1990 + month // 12}-{month % 12 + 1:02}-01T00:00:00Z"
    return {"id": f"c{number}", "event_type": "car", "attributes": {"price": number}, "time": time}


def _bid(number: int) -> dict[str, Any]:
    return {"id": f"b{number}", "event_type": "bid", "attributes": {"amount": number}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("searched")
    with Store.open(new_store(folder / "tidings.db")) as made:
        made.append([Grow(change) for change in changes_to_make(Catalog.from_dict(SCHEMA))])
        drafts = [*map(_car, range(CARS)), *map(_bid, range(BIDS))]
        assert all(isinstance(one, Accepted) for one in made.append([Publish(draft) for draft in drafts]))
        yield made


def _ids(found: Sought) -> list[str]:
    return [one.stored.payload.partition('"id":"')[2].partition('"')[0] for one in found.events]


def _by_time(count: int = CARS) -> list[str]:
    cars = sorted(map(_car, range(CARS)), key=lambda one: one["time"], reverse=True)
    return [one["id"] for one in cars][:count]


def test_a_filter_is_tried_on_the_last_events_of_the_types_it_can_match(store: Store) -> None:
    tried = filter_trial.tried(store, "price < 15", 10)
    assert (tried.matched, tried.scanned) == (5, 10), "all of the newest 10 events are bids"
    assert tried.event_types == ("car",)
    assert [one.position for one in tried.newest] == sorted((one.position for one in tried.newest), reverse=True)
    everything = filter_trial.tried(store, "event.id exists", 10)
    assert (everything.matched, everything.scanned, everything.event_types) == (10, 10, None)
    assert filter_trial.tried(store, "price < 0 and amount < 0", 10).scanned == 0


def test_its_bars_are_over_the_time_in_which_they_happened(store: Store) -> None:
    bars = filter_trial.tried(store, "price >= 0", 100).bars
    assert (str(bars[0].start)[:7], len(bars), {bar.count for bar in bars}) == ("1990-01", CARS, {1})
    tried = questions.test(store, "ann", "price >= 0", Instant(0), store.clock.now(), 3)
    assert len(tried.per_day) == CARS
    assert tried.per_day[0] == ("1990-01-01", 1)


def test_a_trial_that_did_not_look_at_everything_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_scan, "_STRETCH", 10)
    scan = history_scan.HistoryScan(store, questions.Filter.parse("price >= 0", store.catalog()))
    scan.run(*questions.scope(store, None, None), most_tried=1_000, most_events=30)
    assert (scan.tried, scan.looked, scan.reached) == (0, 30, store.tail() - 30)
    late = history_scan.HistoryScan(store, None).run(0, store.tail(), seconds=-1)
    assert (late.looked, late.reached) == (10, store.tail() - 10)


def test_the_latest_that_happened_comes_first_page_by_page(store: Store) -> None:
    found, seen = sought(store, Wanted("price >= 0", limit=8)), []
    assert found.matched == CARS
    assert sum(bar.count for bar in found.bars) == CARS
    while True:
        seen += _ids(found)
        assert found.matched == CARS, "every page counts all"
        if found.next is None:
            break
        found = sought(store, Wanted("price >= 0", before=found.next, upto=found.upto, limit=8))
    assert seen == _by_time()


def test_by_type_and_time(store: Store) -> None:
    assert sought(store, Wanted(event_type="bid")).matched == BIDS
    assert sought(store, Wanted()).matched == CARS + BIDS
    cars = sought(store, Wanted("price >= 10", "car"))
    assert (cars.matched, cars.filter) == (10, "event_type contains 'car' and price >= 10")
    either = sought(store, Wanted("price >= 10 or price < 3", "car"))
    assert (either.matched, either.filter) == (13, "event_type contains 'car' and (price >= 10 or price < 3)")
    begin, end = Instant.parse("1990-03-01"), Instant.parse("1990-06-01")
    assert sought(store, Wanted(event_type="car", begin=begin, end=end)).matched == 3
    since = sought(store, Wanted(begin=LATER))
    assert (since.matched, since.looked) == (BIDS, CARS + BIDS)
    tomorrow = Instant(store.clock.now() + 86_400_000_000)
    assert sought(store, Wanted(begin=tomorrow)).looked == 0, "what was accepted before cannot have happened then"


def test_a_search_of_a_part_says_how_far_it_came(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_scan, "_STRETCH", 10)
    monkeypatch.setattr(history_scan.HistoryScan.run, "__defaults__", (None, 60, 8.0))
    part = sought(store, Wanted("price >= 0"))
    assert (part.matched, part.looked, part.reached) == (10, 60, store.tail() - 60)
    rest = sought(store, Wanted("price >= 0", upto=part.reached))
    assert (rest.matched, rest.reached) == (10, None)


def test_damaged_events_are_counted_and_passed_over(tmp_path: Path) -> None:
    from sqlalchemy import update

    from tidings.store.tables import journal

    with Store.open(new_store(tmp_path / "tidings.db")) as made:
        made.append([Grow(change) for change in changes_to_make(Catalog.from_dict(SCHEMA))])
        made.append([Publish(_car(number)) for number in range(3)])
        with made.database.writing() as connection:
            for position, body in (
                (made.tail(), "{"),
                (made.tail() - 1, '{"id":"c","event_type":"car","attributes":3}'),
            ):
                connection.execute(update(journal).where(journal.c.position == position).values(body=body))
        found = sought(made, Wanted("price >= 0"))
        assert (found.matched, found.unreadable) == (1, 2)


def test_what_is_wrong_is_told_of_the_text_that_was_written(store: Store) -> None:
    with pytest.raises(LanguageError) as refused:
        sought(store, Wanted("price >= >", "car"))
    assert (refused.value.line, refused.value.column) == (1, 10)


def test_an_answer_is_not_larger_than_a_page_can_be(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_search, "_MOST_BYTES", 300)
    found = sought(store, Wanted("price >= 0"))
    assert 0 < len(found.events) < 5
    rest = sought(store, Wanted("price >= 0", before=found.next))
    assert _ids(found) + _ids(rest)[:1] == _by_time(len(found.events) + 1)


@on_sqlite
def test_over_http(service: Service) -> None:
    for year in (2001, 2003, 2002):
        raw = car(f"e{year}", year=year) | {"time": f"{year}-05-01T10:00:00Z"}
        assert service.client.post("/v1/events", json=raw).status_code == 202
    query = {"filter": "brand = mini", "type": "car", "limit": 2}
    first = service.client.get("/v1/events/search", params=query)
    assert first.status_code == 200, first.text
    told = first.json()
    assert [one["occurred"] for one in told["items"]] == ["2003-05-01T10:00:00Z", "2002-05-01T10:00:00Z"]
    assert (told["matched"], told["scanned"], told["reached"]) == (3, 3, None)
    assert [bar["count"] for bar in told["bars"]].count(1) == 3
    second = service.client.get(first.links["next"]["url"]).json()
    assert ([one["event"]["id"] for one in second["items"]], second["next"]) == (["e2001"], None)
    period = {"occurred_since": "2002-01-01", "occurred_until": "2003-01-01"}
    assert service.client.get("/v1/events/search", params=period).json()["matched"] == 1
    for wrong in ({"filter": "brand ="}, {"occurred_since": "soon"}, {"after": "1:2"}, {"type": "none"}):
        assert service.client.get("/v1/events/search", params=wrong).status_code == 422, wrong
