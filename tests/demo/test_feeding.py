"""The parts of the feeding process, against a real server."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.demo.shown import until
from tidings.client import Client, NotAllowed, Patience
from tidings.demo.feeding import grow
from tidings.demo.flying import fly
from tidings.demo.people import PASSWORDS, prepare
from tidings.schema import Instant
from tidings.store import Store

END = Instant.parse("2013-12-31T23:00:00Z")


def test_the_schema_is_grown_once(ann: Client) -> None:
    told: list[dict[str, Any]] = []
    assert grow(ann, told.append) == {"cars", "flights", "bids"}
    version = ann.schema().version
    assert grow(ann, told.append) == {"cars", "flights", "bids"}
    assert ann.schema().version == version
    assert told == []


def test_a_feed_that_the_schema_contradicts_is_left_out(ann: Client) -> None:
    ann.create_domain("prose", "text")
    ann.create_attribute("asked", "prose")
    told: list[dict[str, Any]] = []
    assert grow(ann, told.append) == {"flights", "bids"}
    assert "without cars: attribute 'asked' is text in the schema and numeric" in told[0]["say"]


def test_the_year_of_flights_begins_again(ann: Client) -> None:
    grow(ann, lambda said: None)
    stop = threading.Event()
    flying = threading.Thread(target=fly, args=(ann, 20_000.0, stop, print), kwargs={"start": END})
    flying.start()

    def seen() -> set[str]:
        return {one.event["id"].split("/")[2] for one in ann.query("event_type contains flight", limit=1_000)}

    until(lambda: {"12-31", "1-1"} <= seen())
    stop.set()
    flying.join()


def test_a_server_that_is_away_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    stop = threading.Event()
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            stop.set()

    with Client(f"http://127.0.0.1:{port}", "tid_x", patience=Patience(retries=0)) as client:
        fly(client, 100_000.0, stop, tell, start=END)
    assert all(line.startswith("flights: no answer from") for line in said)


def test_who_may_not_publish_is_not_tried_again(ann: Client) -> None:
    ann.token = "tid_" + "x" * 43
    with pytest.raises(NotAllowed):
        fly(ann, 100_000.0, threading.Event(), print, start=END)


def test_accounts_are_made_once(tmp_path: Path) -> None:
    scopes = frozenset({"publish", "subscribe"})
    with Store.open(tmp_path / "tidings.db") as store:
        first, second = prepare(store, scopes), prepare(store, scopes)
        assert set(first.tokens) == set(second.tokens) == set(PASSWORDS)
        assert first.publisher != second.publisher
        for name in PASSWORDS:
            assert len(store.tokens_of(name)) == 1  # that of the first start is taken back
        assert second.others == ()
        assert "tid_" not in repr(second)
