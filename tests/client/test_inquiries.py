"""Questions about filters and stored events, answered by the real service's processes."""

import asyncio

import pytest

from tests.client.conftest import QUICK
from tests.service.conftest import Service, car
from tests.store.detected import T1, T2, three_detections
from tidings.client import AsyncClient, Client, NotFound, ServerRefused


@pytest.fixture
def stored(ann: Client) -> Client:
    """Cars of the years 1900 to 2149."""
    ann.publish([car(f"e{year}", year=year) for year in range(1900, 2150)])
    return ann


def test_queries_come_page_by_page(stored: Client) -> None:
    everything = list(stored.query())
    assert [one.event["attributes"]["year"] for one in everything] == list(range(1900, 2150))
    assert [one.event["id"] for one in stored.query("year < 1903")] == ["e1900", "e1901", "e1902"]
    assert len(list(stored.query("year >= 1900", limit=130))) == 130
    assert list(stored.query(since="2099-01-01")) == []
    with pytest.raises(ServerRefused, match="did you mean 'year'"):
        next(stored.query("yaer > 1"))


def test_queries_from_an_event_loop(stored: Client) -> None:
    async def main() -> list[str]:
        async with AsyncClient(stored.url, stored.token, patience=QUICK) as client:
            return [one.event["id"] async for one in client.query("year < 1902")]

    assert asyncio.run(main()) == ["e1900", "e1901"]


def test_one_stored_event(stored: Client) -> None:
    first = next(stored.query())
    assert stored.event(first.position) == first
    with pytest.raises(NotFound):
        stored.event(10_000)


def test_trying_a_filter(stored: Client) -> None:
    found = stored.test("year < 1950", since="1d", limit=2)
    assert found["matched"] == 50
    assert [one["event"]["id"] for one in found["newest"]] == ["e1949", "e1948"]
    assert found["never_matches"] is False


def test_trying_a_composite_and_what_one_waits_for(stored: Client) -> None:
    """Events without a time happen when they are accepted: one after another."""
    found = stored.test_composite("nth([year >= 1950], 3)", since="1d")
    assert (found["detected"], [one["id"] for one in found["newest"][0]["events"]]) == (1, ["e1952"])
    made = stored.subscribe(composite="times([year < 1950], 3) within 1 h", name="Three")
    assert (made.filter, made.composite) == (None, "times([year < 1950], 3) within 1 h")
    stored.publish([car("new", year=1940)])

    async def main() -> tuple[dict[str, object], int]:
        async with AsyncClient(stored.url, stored.token, patience=QUICK) as client:
            tried = await client.test_composite("nth([year >= 1950], 3)", since="1d")
            return await client.waiting(made.id), tried["detected"]

    waiting, detected = asyncio.run(main())
    assert waiting == stored.waiting(made.id) | {"as_of": waiting["as_of"], "waiting": waiting["waiting"]}
    (wait,) = stored.waiting(made.id)["waiting"]
    assert (wait["missing"], wait["partial"], detected) == (2, 1, 1)


def test_a_notification_of_a_composite_has_its_constituents(service: Service, stored: Client) -> None:
    made = stored.subscribe(composite="[year = 1900] before [year = 1901] within 1 h")
    three_detections(service.store, made.id, "ann", "e1900", "e1901")
    listed = stored.notifications().items
    assert [one.detection for one in listed] == [
        {
            "key": ["mini", 5],
            "time": str(T2),
            "events": [{"source": "", "id": "e1900", "time": str(T1)}, {"source": "", "id": "e1901", "time": str(T2)}],
        },
        {"key": [], "time": "2026-05-01T10:00:02.000001Z", "events": []},
        {
            "key": [],
            "time": "2026-05-01T10:00:02.000002Z",
            "events": [{"source": "", "id": "e1900", "time": str(T1)}],
            "expired": "[year > 0]",
        },
    ]
    streamed = stored.follow()
    assert [next(streamed) for _ in listed] == list(listed)


def test_explaining_an_event_sent_along_stored_or_named(stored: Client) -> None:
    assert stored.explain("year < 1950", car(year=1940))["matches"] is True
    first = next(stored.query())
    found = stored.explain("year < 1950 and brand = opel", position=first.position)
    assert found["matches"] is False
    assert [one["holds"] for one in found["alternatives"][0]["predicates"]] == [True, False]
    assert stored.explain("year < 1950", id="e2000")["matches"] is False


@pytest.mark.slow
def test_a_large_query_as_a_job(service: Service, stored: Client) -> None:
    id = stored.start_query("year < 1910")
    assert [one.event["id"] for one in stored.query_events(id)] == [f"e{year}" for year in range(1900, 1910)]
    assert stored.query_state(id)["state"] == "done"
    assert [one["id"] for one in stored.queries()] == [id]
    stored.drop_query(id)
    with pytest.raises(NotFound):
        stored.query_state(id)
