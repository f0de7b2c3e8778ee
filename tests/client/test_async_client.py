"""The same calls from an event loop."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

import pytest

from tests.client.conftest import QUICK, calls_of
from tests.client.matched import match_all
from tests.service.conftest import Service, car
from tidings.client import AsyncClient, Client, NotFound, Patience, ServerRefused, ServerUnreachable


def run(service: Service, program: Callable[[AsyncClient], Awaitable[None]]) -> None:
    async def main() -> None:
        async with AsyncClient(service.address, patience=QUICK) as client:
            await client.register("ann", "correct horse battery")
            await program(client)

    asyncio.run(main())


def test_a_whole_round(service: Service) -> None:
    async def program(client: AsyncClient) -> None:
        made = await client.subscribe("year > 1990")
        assert (await client.publish(car("e1", year=1995))).duplicate is False
        done = await client.publish([car("e1", year=1995), car("e2", year=1980), car("e3", year=2000)])
        assert (done.accepted, done.duplicates) == (2, 1)
        await asyncio.to_thread(match_all, service.store)
        found = [one async for one in _first(client.follow(), 2)]
        assert found == ["e1", "e3"]
        assert [one.id async for one in client.subscriptions()] == [made.id]
        assert (await client.pause(made.id)).state == "paused"
        await client.unsubscribe(made.id)
        with pytest.raises(NotFound):
            await client.subscription(made.id)
        with pytest.raises(ServerRefused, match="did you mean 'year'"):
            await client.subscribe("yaer > 1")
        assert await client.healthy()
        assert (await client.ready())["ready"] is True

    async def _first(following: object, count: int) -> object:
        async for one in following:  # type: ignore[attr-defined]
            yield one.event["id"]
            count -= 1
            if not count:
                return

    run(service, program)


def test_the_schema_grows(service: Service) -> None:
    async def program(client: AsyncClient) -> None:
        before = (await client.schema()).version
        await client.create_domain("colour", "enumerated", values=["red"])
        await client.append_value("colour", "blue")
        await client.create_attribute("colour", "colour")
        await client.create_event_type("bike", ["colour"])
        assert await client.extend_event_type("bike", "price") == before + 5
        assert "bike" in (await client.schema()).event_type_names

    run(service, program)


def test_many_calls_at_once(service: Service) -> None:
    async def program(client: AsyncClient) -> None:
        published = await asyncio.gather(*(client.publish(car(f"e{number}")) for number in range(50)))
        assert len({one.position for one in published}) == 50

    run(service, program)


def test_nobody_there() -> None:
    async def main() -> None:
        async with AsyncClient("http://127.0.0.1:1", patience=Patience(retries=1, first=0.001)) as client:
            assert await client.healthy() is False
            with pytest.raises(ServerUnreachable):
                await client.schema()

    asyncio.run(main())


def test_both_clients_have_the_same_calls() -> None:
    names = calls_of(Client)
    assert len(names) > 60
    assert names == calls_of(AsyncClient)
    for name in names:
        ours, theirs = inspect.signature(getattr(Client, name)), inspect.signature(getattr(AsyncClient, name))
        assert ours.parameters == theirs.parameters, name
        assert getattr(AsyncClient, name).__doc__ == getattr(Client, name).__doc__, name
