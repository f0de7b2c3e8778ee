"""Questions about filters and stored events, answered by the real service's processes."""

import asyncio

import pytest

from tests.client.conftest import QUICK
from tests.service.conftest import Service, car
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
