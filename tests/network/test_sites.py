"""Real servers on this machine: whole processes, HTTP between them."""

import asyncio
import itertools
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tidings.torture.network import SCHEMA, offer, ring, run
from tidings.torture.sites import Site, Way, until

pytestmark = pytest.mark.slow


async def _linked(folder: Path, *names: str) -> list[Site]:
    """In a line; the first has the schema and is the home."""
    sites = [Site(name, folder) for name in names]
    try:
        await asyncio.gather(*(site.start() for site in sites))
        for path, body in SCHEMA:
            await sites[0].ask("POST", path, body)
        for left, right in itertools.pairwise(sites):
            await right.join(left)
        await _alive(sites)
    except BaseException:
        for site in sites:
            await site.stop()
        raise
    return sites


async def _alive(sites: list[Site]) -> None:
    async def all_reached() -> bool:
        found = [await site.network() for site in sites]
        return all(sum(one["reached"] for one in each["servers"]) == len(sites) for each in found)

    await until(all_reached, "all servers reach each other")


def test_three_servers_of_which_one_is_killed(tmp_path: Path) -> None:
    async def story() -> None:
        athens, berlin, cairo = sites = await _linked(tmp_path, "athens", "berlin", "cairo")
        try:
            assert (await athens.subscribe("price < 100"))["settled"] is True
            await cairo.publish([offer("1", 5), offer("2", 500)])
            await until(lambda: athens.journal() == {("s", "1"): 1}, "the first event")
            assert berlin.journal() == Counter()  # nobody asked for it there

            athens.kill()
            await cairo.publish([offer("3", 5)])
            await athens.start()
            await until(lambda: set(athens.journal()) == {("s", "1"), ("s", "3")}, "what it missed")

            berlin.kill()  # the only way between the other two
            await cairo.publish([offer("4", 5)])
            await berlin.start()
            await until(lambda: ("s", "4") in athens.journal(), "what came around a dead relay")
            assert set(athens.journal().values()) == {1}

            version = (await cairo.ask("POST", "/v1/schema/attributes", {"name": "weight", "domain": "money"}))[
                "version"
            ]
            assert version == 5
            for site in sites:
                await until(lambda site=site: _has_weight(site), f"the schema of {site.name} has grown")
        finally:
            for site in sites:
                await site.stop()

    asyncio.run(story())


async def _has_weight(site: Site) -> bool:
    return "weight" in str(await site.ask("GET", "/v1/schema"))


def test_strangers_and_wrong_names_are_refused(tmp_path: Path) -> None:
    async def story() -> None:
        athens, berlin = sites = await _linked(tmp_path, "athens", "berlin")
        twin = Site("athens", tmp_path / "elsewhere")
        await twin.start()
        try:
            link = (await athens.ask("POST", "/v1/network/invitations"))["token"]
            async with httpx.AsyncClient(trust_env=False) as http:
                for method, path in (("GET", "/v1/network"), ("DELETE", "/v1/tokens/current"), ("GET", "/v1/events")):
                    answer = await http.request(method, athens.url + path, headers={"authorization": f"Bearer {link}"})
                    assert answer.status_code == 403, path
                wrong = {"authorization": "Bearer tid_wrong", "content-type": "application/msgpack"}
                sent = await http.post(f"{athens.url}/v1/network/messages", content=b"\x90", headers=wrong)
                assert sent.status_code == 401
                unused = wrong | {"authorization": f"Bearer {link}"}
                sent = await http.post(f"{athens.url}/v1/network/messages", content=b"\x90", headers=unused)
                assert sent.status_code == 404
            await twin.until_up()
            with pytest.raises(httpx.HTTPStatusError, match="name of another server"):
                await twin.ask("POST", "/v1/network/links", {"url": athens.url, "token": link})
            with pytest.raises(httpx.HTTPStatusError, match="https"):
                await berlin.ask("POST", "/v1/network/links", {"url": "http://example.org", "token": link})
            assert [one["name"] for one in (await athens.ask("GET", "/v1/network/links"))["items"]] == ["berlin"]
            await athens.ask("DELETE", "/v1/network/links/berlin")
            assert (await athens.network())["links"] == []
        finally:
            for site in (*sites, twin):
                await site.stop()

    asyncio.run(story())


def test_a_cut_link_heals_and_nothing_is_lost(tmp_path: Path) -> None:
    async def story() -> None:
        athens, berlin = Site("athens", tmp_path), Site("berlin", tmp_path)
        way = Way(athens)
        await asyncio.gather(athens.start(), berlin.start(), way.start())
        try:
            for path, body in SCHEMA:
                await athens.ask("POST", path, body)
            await berlin.join(athens, way.url)
            await _alive([athens, berlin])
            await athens.subscribe("price < 100")
            way.cut()
            await berlin.publish([offer(str(number), 5) for number in range(50)])
            await asyncio.sleep(3)
            assert not athens.journal()
            way.heal()
            await until(lambda: len(athens.journal()) == 50, "what was published while the link was cut")
            assert set(athens.journal().values()) == {1}
        finally:
            await way.stop()
            await athens.stop()
            await berlin.stop()

    asyncio.run(story())


@pytest.mark.parametrize("victim", [0, 1])
def test_a_subscription_moves_though_a_server_is_killed_on_the_way(tmp_path: Path, victim: int) -> None:
    async def story() -> None:
        athens, berlin = sites = await _linked(tmp_path, "athens", "berlin")
        try:
            id = (await athens.subscribe("price < 100"))["id"]
            await athens.publish([offer("1", 5), offer("dear", 500)])
            await berlin.publish([offer("2", 5)])
            await until(lambda: ("s", "2") in athens.journal(), "the event of the other server")
            made = await berlin.ask("POST", "/v1/network/tickets")
            body = {"to": made["server"], "ticket": made["ticket"]}
            assert (await athens.ask("POST", "/v1/network/moves", body))["moving"] == [id]
            sites[victim].kill()
            await sites[1 - victim].publish([offer("3", 5)])
            await sites[victim].start()
            await _alive(sites)
            await until(lambda: _moved(athens, berlin, id), "the subscription has moved")
            told = (await berlin.ask("GET", "/v1/notifications"))["items"]
            first = sorted(one["event"]["id"] for one in told)
            assert first[:2] == ["1", "2"]
            assert set(first) <= {"1", "2", "3"}
            assert len({one["id"] for one in told}) == len(told)
            await athens.publish([offer("4", 5)])
            await until(lambda: {("s", "3"), ("s", "4")} <= set(berlin.journal()), "what came after it")
            assert ("s", "dear") not in berlin.journal()
            assert (await athens.ask("GET", "/v1/network/moves"))["items"] == []
        finally:
            for site in sites:
                await site.stop()

    asyncio.run(story())


async def _moved(old: Site, new: Site, id: str) -> bool:
    there = [one["id"] for one in (await new.ask("GET", "/v1/subscriptions"))["items"]]
    return there == [id] and not (await old.ask("GET", "/v1/subscriptions"))["items"]


def test_advertisements_bind_publishers_of_real_servers(tmp_path: Path) -> None:
    async def story() -> None:
        athens, berlin = sites = await _linked(tmp_path, "athens", "berlin")
        try:
            await athens.ask("POST", "/v1/network/orders", {"kind": "distribute", "value": "advertisements"})
            await until(lambda: _distributed(berlin), "the distribution")
            assert (await athens.subscribe("price < 100"))["settled"] is True
            with pytest.raises(httpx.HTTPStatusError, match="no advertisement of this server matches"):
                await berlin.publish([offer("early", 5)])
            made = await berlin.ask("POST", "/v1/network/advertisements", {"filter": "price < 50"})
            assert made["filter"] == "price < 50"
            await berlin.publish([offer("1", 5)])
            await until(lambda: athens.journal() == {("s", "1"): 1}, "the event")
            with pytest.raises(httpx.HTTPStatusError, match="nonsense"):
                await berlin.ask("POST", "/v1/network/advertisements", {"filter": "nonsense < 5"})
            await berlin.ask("DELETE", f"/v1/network/advertisements/{made['id']}")
            with pytest.raises(httpx.HTTPStatusError, match="no advertisement of this server matches"):
                await berlin.publish([offer("late", 5)])
        finally:
            for site in sites:
                await site.stop()

    asyncio.run(story())


async def _distributed(site: Site) -> bool:
    return bool((await site.network())["distribution"] == "advertisements")


def test_five_servers_killed_and_cut_at_random(tmp_path: Path) -> None:
    found = asyncio.run(run(tmp_path, minutes=0.7, seed=1, links=ring(5)))
    assert found.lost == found.doubled == found.phantoms == []
    assert found.accepted > 0
    assert found.owed > 0
    assert found.kills > 0
    assert found.cuts > 0
    assert found.schemas == 1
