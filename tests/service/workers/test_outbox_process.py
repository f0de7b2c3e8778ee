"""The outbox as a process: a child of the service that is started again, or one by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.service.numbers import between, describe, register, sample
from tests.service.receiver import Receiver, receiver
from tests.service.served import PATIENCE, Served, alive, descendants
from tests.store.batches import commit_batch
from tidings.store import Store

LOOPBACK = {"TIDINGS_ALLOW_LOOPBACK_WEBHOOKS": "true"}


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


def found(data: Path, served: Served, token: str, subscription: str, name: str) -> None:
    """One event is published, and matched as the pipeline would."""
    status, answer = served.ask("POST", "/v1/events", sample(name, 5), token)
    assert status == 202
    position = answer["position"]
    schema = pa.schema({"position": pa.int64(), "subscriptions": pa.list_(pa.string())})
    with Store.open(data / "tidings.db") as store:
        matches = pa.table([[position], [[subscription]]], schema=schema)
        commit_batch(store, store.committed() + 1, position, matches)


def subscribe(served: Served, token: str, hook: Receiver) -> str:
    body = {"filter": between(0, 10), "channel": {"kind": "webhook", "url": hook.url}}
    status, made = served.ask("POST", "/v1/subscriptions", body, token)
    assert status == 201, made
    return str(made["id"])


def outbox_of(served: Served, state: str = "running") -> dict[str, object]:
    deadline = time.monotonic() + PATIENCE
    while True:
        _, body = served.ask("GET", "/readyz")
        seen: dict[str, object] = body["outbox"]
        if seen["state"] == state:
            return seen
        assert time.monotonic() < deadline, body
        time.sleep(0.05)


def test_the_service_sends_and_starts_its_outbox_again(tmp_path: Path, hook: Receiver) -> None:
    with Served(tmp_path, "--no-pipeline", **LOOPBACK) as served:
        token = register(served, "ann")
        describe(served, token)
        id = subscribe(served, token, hook)
        assert outbox_of(served)["restarts"] == 0
        found(tmp_path, served, token, id, "e1")
        hook.wait(1)
        (child,) = descendants(served.process.pid)
        os.kill(child.id, signal.SIGKILL)
        found(tmp_path, served, token, id, "e2")
        deadline = time.monotonic() + PATIENCE
        while {one.json["event"]["id"] for one in tuple(hook.received)} != {"e1", "e2"}:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert len({one.headers["ce-id"] for one in hook.received}) == 2  # what came twice has one id
        assert outbox_of(served)["restarts"] == 1
        children = descendants(served.process.pid)
        assert served.stop() == 0
        assert alive(children) == {}
    (line,) = served.errors.splitlines()
    assert "WARNING gateway: outbox: restarted; ended by SIGKILL" in line


@pytest.mark.slow
def test_its_outbox_ends_with_a_service_that_was_killed(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline") as served:
        outbox_of(served)
        children = descendants(served.process.pid)
        assert children
        served.kill()
        deadline = time.monotonic() + PATIENCE
        while left := alive(children):
            assert time.monotonic() < deadline, left
            time.sleep(0.05)


def test_settings_that_no_channel_can_be_made_of_are_refused_at_the_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tidings.cli.main", "serve", "--data", str(tmp_path), "--no-pipeline"]
    environment = os.environ | {"TIDINGS_SMTP_HOST": "localhost", "TIDINGS_MAIL_FROM": "nobody"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    assert done.returncode == 1
    assert "mail_from" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_one_by_itself_beside_a_service_without(tmp_path: Path, hook: Receiver) -> None:
    with Served(tmp_path, "--no-pipeline", "--no-outbox", **LOOPBACK) as served:
        token = register(served, "ann")
        describe(served, token)
        id = subscribe(served, token, hook)
        assert outbox_of(served, "elsewhere")["restarts"] == 0
        found(tmp_path, served, token, id, "e1")
        command = [sys.executable, "-m", "tidings.cli.main", "outbox", "--data", str(tmp_path), "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | LOOPBACK) as outbox:
            try:
                assert outbox.stdout is not None
                assert outbox.stdout.readline().startswith('{"leading":')
                hook.wait(1)
                outbox.send_signal(signal.SIGTERM)
                assert outbox.wait(PATIENCE) == 0
            finally:
                outbox.kill()
        assert served.stop() == 0
