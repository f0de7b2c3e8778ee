"""The page of a network, and its drawing."""

import httpx
import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.networked import networked, operator
from tests.service.pages.network_seen import NAMES, seen
from tidings.network.local_door import NetworkAway
from tidings.service.network import Network
from tidings.service.pages.network_pages import drawn


def page(client: httpx.Client) -> str:
    answer = client.get("/pages/network")
    assert answer.status_code == 200
    return answer.text


@on_sqlite
def test_a_server_alone_and_one_that_has_just_got_a_name(service: Service) -> None:
    client = operator(service)
    assert "not part of a network" in page(client)
    with networked(service, "athens"):
        text = page(client)
        assert "1 servers, 0 links" in text
        assert "No links yet" in text
        assert "did not arrive" not in text


@on_sqlite
def test_everything_that_a_network_has_is_shown(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    found, client = seen(), operator(service)

    async def describe(_: Network) -> dict[str, object]:
        return found

    async def away(_: Network) -> dict[str, object]:
        raise NetworkAway

    monkeypatch.setattr(Network, "describe", describe)
    with networked(service, "athens"):
        text = page(client)
        assert all(name in text for name in NAMES)
        assert "5 servers, 4 links, 3 of them in the tree" in text
        assert "503: &lt;b&gt;away&lt;/b&gt;" in text
        assert "price &lt; 5000 and brand = mini" in text
        assert "12.5 / 3.0 a second" in text
        assert text.count('data-name="Through event"') == 20
        assert "The last 20 of 120" in text
        found |= {"problem": "it was struck off", "links": [], "gaps": [], "advertisements": []}
        text = page(client)
        assert "it was struck off" in text
        assert "every event that is published here is refused" in text
        monkeypatch.setattr(Network, "describe", away)
        assert "is not running" in page(client)


def test_servers_and_links_are_drawn() -> None:
    names = ("athens", "berlin", "cairo")
    drawing = drawn(
        {
            "name": "berlin",
            "servers": [{"name": name, "reached": name != "cairo"} for name in names],
            "tree": [["athens", "berlin"]],
            "mutual": [
                {"servers": list(servers), "weight": 1.0}
                for servers in (("athens", "berlin"), ("berlin", "cairo"), ("cairo", "nowhere"))
            ],
        }
    )
    assert [(dot.name, dot.kind) for dot in drawing.dots] == [
        ("berlin", "own"),
        ("athens", "reached"),
        ("cairo", "lost"),
    ]
    assert [line.in_tree for line in drawing.lines] == [True, False]
    assert all(0 < dot.x < drawing.width and 0 < dot.y < drawing.height for dot in drawing.dots)
    assert len({(dot.x, dot.y) for dot in drawing.dots}) == 3
    assert drawing.summary == "3 servers, 2 links, 1 of them in the tree"
