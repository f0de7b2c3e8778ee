"""The commands for a network of servers, in the order in which a newcomer needs them: two servers, one story."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.service.conftest import SETTINGS, Service
from tests.service.networked import networked, operator, until
from tidings.cli.main import app

CAR = {"event_type": "car", "attributes": {"brand": "mini", "year": 1990}}


class Site:
    """A server, and the commands as its operator gives them."""

    def __init__(self, service: Service) -> None:
        self.service, self.url = service, service.address
        self.token = operator(service).headers["Authorization"].removeprefix("Bearer ")

    def tried(self, *command: str) -> Result:
        return CliRunner().invoke(app, [*command, "--server", self.url, "--token", self.token])

    def run(self, *command: str) -> str:
        done = self.tried(*command)
        assert done.exit_code == 0, done.output
        return done.stdout

    def refused(self, *command: str) -> str:
        done = self.tried(*command)
        assert done.exit_code != 0
        return " ".join(done.stderr.split())

    def network(self) -> dict[str, Any]:
        return dict(json.loads(self.run("network", "--json")))


def publish(site: Site, id: str, folder: Path) -> str:
    """What the command says of it."""
    path = folder / "event.jsonl"
    path.write_text(json.dumps({"id": id, **CAR}) + "\n")
    done = site.tried("publish", str(path))
    assert done.exit_code == 0, done.output
    return " ".join(done.stderr.split())


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    """Athens and Berlin, not yet linked."""
    running = []
    try:
        for name in ("athens", "berlin"):
            url = str(tmp_path / f"{name}.db")
            running.append(Service(url, replace(SETTINGS, store=url, data=tmp_path)))
            running[-1].start()
        with networked(running[0], "athens"), networked(running[1], "berlin"):
            athens, berlin = map(Site, running)
            yield athens, berlin
    finally:
        for service in running:
            service.stop()


def linked(athens: Site, berlin: Site) -> None:
    invitation = athens.run("link", "invite").strip()
    assert json.loads(berlin.run("link", "join", athens.url, invitation, "--json")) == {"name": "athens"}
    for site in (athens, berlin):
        until(lambda site=site: [one["reached"] for one in site.network()["servers"]] == [True, True])  # type: ignore[misc]


def test_two_servers_are_linked_asked_and_parted(sites: tuple[Site, Site], tmp_path: Path) -> None:
    athens, berlin = sites
    linked(athens, berlin)
    (link,) = [json.loads(line) for line in athens.run("link", "list", "--json").splitlines()]
    assert (link["name"], link["url"]) == ("berlin", berlin.url)
    assert athens.url in berlin.run("link", "list")
    shown = berlin.run("network")
    assert "berlin (this one)" in shown
    assert "athens (home)" in shown
    assert "alive" in shown

    publish(athens, "a1", tmp_path)
    publish(berlin, "b1", tmp_path)
    found = [json.loads(line) for line in athens.run("query", "brand = mini", "--network", "--json").splitlines()]
    assert sorted((one["server"], one["event"]["id"]) for one in found) == [("athens", "a1"), ("berlin", "b1")]
    assert athens.run("query", "brand = mini", "--network", "--count").strip() == "2"
    assert "did you mean 'brand'" in athens.refused("query", "brnd = mini", "--network")

    assert json.loads(athens.run("link", "remove", "berlin", "--json")) == {"removed": "berlin"}
    assert athens.run("link", "list", "--json") == ""
    assert "there is no link to 'berlin'; `tidings link list` shows all" in athens.refused("link", "remove", "berlin")
    until(lambda: not berlin.network()["links"][0]["in_tree"])
    assert berlin.run("query", "brand = mini", "--network", "--count").strip() == "1"  # athens does not answer


def test_the_home_decides_for_both(sites: tuple[Site, Site], tmp_path: Path) -> None:
    athens, berlin = sites
    linked(athens, berlin)
    assert "valid values: events, subscriptions, advertisements" in athens.refused("network", "--distribution", "all")
    berlin.run("network", "--distribution", "advertisements")  # any server may ask
    until(lambda: athens.network()["distribution"] == "advertisements")
    assert "no advertisement of this server matches it" in publish(berlin, "early", tmp_path)
    id = berlin.run("advertise", "event_type = car").strip()
    publish(berlin, "b1", tmp_path)
    assert id in berlin.run("advertise", "--list")
    berlin.run("advertise", "--withdraw", id)
    athens.run("network", "--distribution", "subscriptions")

    athens.run("network", "--successor", "berlin")
    until(lambda: {site.network()["home"] for site in sites} == {"berlin"})
    assert athens.network()["term"] == 2
    athens.run("network", "--take-home")
    until(lambda: {site.network()["home"] for site in sites} == {"athens"})

    athens.run("network", "--strike-off", "berlin")
    until(lambda: [one["name"] for one in athens.network()["servers"]] == ["athens"])
