"""The whole service under a clock that jumps: gateway, pipeline and outbox as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.numbers import between, describe, register, sample
from tests.service.receiver import Receiver, receiver
from tests.service.served import PATIENCE, Served
from tests.service.workers.test_outbox_process import LOOPBACK, found, outbox_of, subscribe
from tidings.store import Store
from tidings.store.clock.clock import OFFSET_FILE

DAY = 86_400
JUMPS = [600, -600, 40 * DAY, -40 * DAY, 365 * DAY, -365 * DAY]


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


class Offset:
    """The clock of all processes that are started under `environment`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.environment = {OFFSET_FILE: str(path)}

    def set(self, seconds: int) -> None:
        aside = self._path.with_suffix(".new")
        aside.write_text(str(seconds))
        aside.replace(self._path)


@pytest.fixture
def offset(tmp_path: Path) -> Offset:
    return Offset(tmp_path / "offset")


def until_ready(served: Served, status: int, reason: str = "") -> dict[str, Any]:
    """For this reason, perhaps among others: an outbox that has just begun has no lease yet."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answered, body = served.ask("GET", "/readyz")
        if answered == status and (not reason or any(reason in one for one in body["reasons"])):
            return dict(body)
        assert time.monotonic() < deadline, body
        time.sleep(0.05)


@pytest.mark.slow
def test_a_service_under_jumps(tmp_path: Path, hook: Receiver, offset: Offset) -> None:
    """Nothing is deleted, expired, given up or sent late, and when the clock is right all goes on at once."""
    settings = LOOPBACK | offset.environment | {"TIDINGS_KEEP_EVENTS_DAYS": "30"}
    data = tmp_path / "data"
    with Served(data, "--no-pipeline", **settings) as served:
        token = register(served, "ann")
        describe(served, token)
        id = subscribe(served, token, hook)
        expiry = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30 * DAY))
        status, asleep = served.ask(
            "POST", "/v1/subscriptions",
            {"filter": between(0, 10), "expiry": expiry, "channel": {"kind": "webhook", "url": hook.url}}, token,
        )  # fmt: skip
        assert status == 201, asleep
        assert served.ask("POST", f"/v1/subscriptions/{asleep['id']}/channel/pause", None, token)[0] == 200
        outbox_of(served)
        found(data, served, token, asleep["id"], "held")
        for number, jump in enumerate(JUMPS):
            found(data, served, token, id, f"before-{number}")
            offset.set(jump)
            until_ready(served, 503, "the clock jumped")
            status, refused = served.ask("POST", "/v1/events", sample(f"during-{number}", 5), token)
            assert (status, refused["type"]) == (503, "/problems/clock-jumped")
            hook.wait(number + 1)  # what was accepted before is sent all the same
            time.sleep(1.5)
            offset.set(0)
            until_ready(served, 200)
            assert served.ask("POST", "/v1/events", sample(f"during-{number}", 5), token)[0] == 202
        _, one = served.ask("GET", f"/v1/subscriptions/{asleep['id']}", token=token)
        assert one["state"] == "active"
        _, page = served.ask("GET", f"/v1/subscriptions/{asleep['id']}/deliveries", token=token)
        assert [delivery["state"] for delivery in page["items"]] == ["due"]
        with Store.open(data / "tidings.db") as store:
            assert store.figures().events == 1 + 2 * len(JUMPS)
            accepted = [entry.accepted for entry in store.entries()]
            assert max(accepted) <= store.clock.now()
        assert served.stop() == 0


def confirm(data: Path, offset: Offset) -> None:
    command = [sys.executable, "-m", "tidings.cli.main", "clock", "confirm", "--data", str(data)]
    done = subprocess.run(command, env=os.environ | offset.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "confirmed: it is" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("jump", [365 * DAY, -365 * DAY, 40 * DAY, -600])
def test_a_jump_for_good_is_confirmed(tmp_path: Path, hook: Receiver, offset: Offset, jump: int) -> None:
    data = tmp_path / "data"
    settings = LOOPBACK | offset.environment
    with Served(data, "--no-pipeline", **settings) as served:
        token = register(served, "ann")
        describe(served, token)
        id = subscribe(served, token, hook)
        found(data, served, token, id, "e1")
        hook.wait(1)
        offset.set(jump)
        until_ready(served, 503)
        assert served.stop() == 0
    with Served(data, "--no-pipeline", **settings) as served:
        until_ready(served, 503)  # who starts meanwhile knows it too
        confirm(data, offset)
        until_ready(served, 200)
        found(data, served, token, id, "e2")
        hook.wait(2)
        assert served.stop() == 0


@pytest.mark.slow
def test_the_pipeline_matches_on(tmp_path: Path, offset: Offset) -> None:
    """With Spark: what was accepted is matched during the jump, and what comes after one for good, once it is
    confirmed."""
    data = tmp_path / "data"
    with Served(data, **offset.environment) as served:
        token = register(served, "ann")
        describe(served, token)
        assert served.ask("POST", "/v1/subscriptions", {"filter": between(0, 10)}, token)[0] == 201
        served.wait_until_running()
        for number, jump in enumerate((365 * DAY, -DAY)):
            assert served.ask("POST", "/v1/events", sample(f"e{number}", 5), token)[0] == 202
            offset.set(jump)
            until_ready(served, 503)
            matched(served, token, number + 1)
            offset.set(0)
            until_ready(served, 200)
        for number, jump in enumerate((40 * DAY, -40 * DAY), start=2):
            offset.set(jump)
            until_ready(served, 503)
            confirm(data, offset)
            until_ready(served, 200)
            assert served.ask("POST", "/v1/events", sample(f"e{number}", 5), token)[0] == 202
            matched(served, token, number + 1)
        assert served.stop() == 0


def matched(served: Served, token: str, many: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(served.ask("GET", "/v1/notifications", token=token)[1]["items"]) < many:
        assert time.monotonic() < deadline
        time.sleep(0.1)
