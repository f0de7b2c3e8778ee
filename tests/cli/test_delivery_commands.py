"""Channels and deliveries from the command line, with a running server, a real outbox and a real receiver."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import CAR, Tidings, lines
from tests.client.matched import match_all
from tests.service.conftest import SETTINGS, Service
from tests.service.delivering import send
from tests.service.receiver import Receiver, receiver
from tidings.settings import Settings

FILTER = "brand = 'mini'"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(SETTINGS, data=tmp_path, allow_loopback_webhooks=True)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


def test_from_a_webhook_to_its_replay(server: Service, tidings: Tidings, hook: Receiver, tmp_path: Path) -> None:
    made = tidings("subscribe", FILTER, "--webhook", hook.url)
    id = made.stdout.strip()
    assert id.startswith("s-")
    assert "whsec_" in made.stderr
    (tmp_path / "event.jsonl").write_text(json.dumps(CAR) + "\n")
    assert tidings("publish", "event.jsonl").exit_code == 0
    match_all(server.store)
    send(server)
    hook.wait(1)
    shown = tidings("deliveries", id)
    assert "delivered" in shown.stdout
    assert "the webhook channel is active" in shown.stderr
    (listed,) = lines(tidings("deliveries", id, "--json").stdout)
    assert (listed["state"], listed["sequences"]) == ("delivered", [1])
    one = tidings("deliveries", id, "--number", str(listed["number"]))
    assert f"POST {hook.url}" in one.stdout
    assert "attempt 1" in one.stdout
    assert tidings("deliveries", id, "--state", "dead").stdout == ""
    assert json.loads(tidings("replay-deliveries", id, "--failed", "--json").stdout) == {"replayed": 0}
    assert "1 delivery due again" in tidings("replay-deliveries", id, str(listed["number"])).stderr
    assert "1 delivery due again" in tidings("replay-deliveries", id, "--from", "1", "--to", "5").stderr
    send(server)
    assert len(hook.wait(2)) == 2
    assert "webhook" in tidings("subscriptions").stdout


def test_a_rhythm_by_options(server: Service, tidings: Tidings, hook: Receiver) -> None:
    options = ["--digest-count", "5", "--digest-seconds", "60", "--rate", "10/60"]
    options += ["--quiet", "22:00-07:00 Europe/Athens", "--json"]
    made = tidings("subscribe", FILTER, "--webhook", hook.url, *options)
    assert json.loads(made.stdout)["channel"] == {
        "kind": "webhook",
        "url": hook.url,
        "digest": {"count": 5, "seconds": 60},
        "rate": {"count": 10, "seconds": 60},
        "quiet": {"from": "22:00", "to": "07:00", "zone": "Europe/Athens"},
    }


def test_one_that_is_not_confirmed_is_told(server: Service, tidings: Tidings, hook: Receiver) -> None:
    hook.consents = ""
    made = tidings("subscribe", FILTER, "--webhook", hook.url)
    assert made.exit_code == 0
    assert "WebHook-Allowed-Origin" in made.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--webhook", "https://example.org", "--email", "a@example.org"],
        ["--rate", "10/60"],
        ["--webhook", "https://example.org", "--rate", "10 a minute"],
        ["--webhook", "https://example.org", "--quiet", "at night"],
    ],
)
def test_options_that_do_not_go_together_are_usage(tidings: Tidings, options: list[str]) -> None:
    assert tidings("subscribe", FILTER, *options).exit_code == 2


@pytest.mark.parametrize("options", [[], ["3", "--failed"], ["--failed", "--from", "1"]])
def test_a_replay_of_nothing_or_of_two_things_is_usage(tidings: Tidings, options: list[str]) -> None:
    assert tidings("replay-deliveries", "s-1", *options).exit_code == 2


def test_what_is_refused_is_told_plainly(server: Service, tidings: Tidings) -> None:
    refused = tidings("subscribe", FILTER, "--email", "ann@example.org")
    assert refused.exit_code == 1
    assert "sends no mail" in refused.stderr
    assert tidings("deliveries", "s-nobody").exit_code == 1


def test_a_channel_that_was_disabled_is_noticed(
    server: Service,
    tidings: Tidings,
    hook: Receiver,
    tmp_path: Path,
) -> None:
    hook.status = 410
    id = tidings("subscribe", FILTER, "--webhook", hook.url).stdout.strip()
    assert "0 notices" in tidings("notices").stderr
    (tmp_path / "event.jsonl").write_text(json.dumps(CAR) + "\n")
    assert tidings("publish", "event.jsonl").exit_code == 0
    match_all(server.store)
    send(server)
    (notice,) = lines(tidings("notices", "--json").stdout)
    assert (notice["subscription"], notice["seen"]) == (id, False)
    shown = tidings("notices", "--new", "--seen")
    assert f"{id}  Sending by webhook was stopped: it answered 410" in shown.stdout
    assert "1 notice" in shown.stderr
    assert tidings("notices", "--new").stdout == ""
    assert lines(tidings("notices", "--json").stdout) == [notice | {"seen": True}]
    assert tidings("notices", "--after", str(notice["number"]), "--json").stdout == ""
    withdrawn = json.loads(tidings("unsubscribe", id, "--json").stdout)
    assert withdrawn == {"withdrawn": id, "position": server.store.tail()}
