"""SIGKILL of `serve` and of its pipeline, and graceful stops, under load: what was acknowledged is matched exactly
once, and nobody is left behind.

Publishers and subscribers go on trying until they have an answer, and keep a record of their own; who must be told
of what follows from the numbers in it alone.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.service.numbers import between, describe, register, sample
from tests.service.served import PATIENCE, Process, Served, alive, descendants
from tidings.pipeline.folder import DataFolder, locked

pytestmark = pytest.mark.slow
NUMBERS = 1_000
PUBLISHERS = 3
SUBSCRIPTIONS = 100


@dataclass
class Load:
    """Threads that use the service at one port, whatever becomes of it, and what they were told."""

    port: int
    token: str
    ended: threading.Event = field(default_factory=threading.Event)
    abandoned: threading.Event = field(default_factory=threading.Event)  # the test has failed; nobody comes back
    published: dict[str, tuple[int, int]] = field(default_factory=dict)  # id: number, position
    subscribed: dict[str, tuple[int, int, int]] = field(default_factory=dict)  # id: low, high, since
    read: list[tuple[str, str]] = field(default_factory=list)  # event, subscription
    repeated: int = 0  # publishings that had come through before their answer was lost
    problems: list[str] = field(default_factory=list)

    def __enter__(self) -> Load:
        self._works = [threading.Thread(target=self._publish, args=(number,)) for number in range(PUBLISHERS)]
        self._works += [threading.Thread(target=self._subscribe), threading.Thread(target=self._read)]
        for work in self._works:
            work.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.abandoned.set()
        self.ended.set()
        for work in self._works:
            work.join()

    def wait_for_more(self) -> None:
        """Until events that were published from now on have been matched and read."""
        looked, known = len(self.read), set(self.published)
        deadline = time.monotonic() + 4 * PATIENCE
        while True:
            upto = len(self.read)
            if any(event not in known for event, _ in self.read[looked:upto]):
                return
            looked = upto
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def _publish(self, number: int) -> None:
        draw, count = random.Random(number), 0
        while not self.ended.is_set():
            id, n = f"p{number}-{count}", draw.randrange(NUMBERS)
            answer = self._persist("POST", "/v1/events", sample(id, n), 202)
            self.published[id] = n, answer["position"]
            self.repeated += answer["duplicate"]
            count += 1
            time.sleep(0.05)

    def _subscribe(self) -> None:
        """Now and then one more, while events come."""
        draw, count = random.Random(99), 0
        while not self.ended.is_set() and count < SUBSCRIPTIONS:
            low = draw.randrange(NUMBERS)
            high = low + draw.randrange(1, NUMBERS // 5)
            answer = self._persist("POST", "/v1/subscriptions", {"filter": between(low, high)}, 201, f"key-{count}")
            self.subscribed[answer["id"]] = low, high, answer["since"]
            count += 1
            self.ended.wait(1)

    def _read(self) -> None:
        cursor = ""
        while not self.ended.is_set():
            page = self._persist("GET", f"/v1/notifications?wait=1&limit=1000&after={cursor}", None, 200)
            self.read += [(one["event"]["id"], one["subscription"]) for one in page["items"]]
            cursor = page["next"]

    def _persist(self, method: str, path: str, body: object, wanted: int, key: str = "") -> dict[str, Any]:
        """The answer, however often it must be asked for."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        headers |= {"Idempotency-Key": key} if key else {}
        while True:
            connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            try:
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, HTTPException):  # killed, or not yet there again
                if self.abandoned.is_set():
                    raise
                time.sleep(0.05)
                continue
            finally:
                connection.close()
            if answer.status == wanted:
                found: dict[str, Any] = json.loads(text)
                return found
            if answer.status != 503:
                self.problems.append(f"{method} {path}: {answer.status} {text!r}")
            time.sleep(0.05)

    def owed(self) -> list[tuple[str, str]]:
        """Who must have been told of what."""
        return sorted(
            (event, subscription)
            for event, (n, position) in self.published.items()
            for subscription, (low, high, since) in self.subscribed.items()
            if low <= n < high and position > since
        )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def pipeline_of(served: Served) -> int | None:
    """The process of the pipeline, not its JVM or workers."""
    return next(
        (
            process.id
            for process, command in alive(descendants(served.process.pid)).items()
            if "tidings.cli.main pipeline" in command
        ),
        None,
    )


def check_all_gone(processes: set[Process], data: Path) -> None:
    """Soon none of them is left, and the folder is free."""
    deadline = time.monotonic() + 60
    while left := alive(processes):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    folder = DataFolder(data)
    folder.lock()
    folder.unlock()
    locked(data / "serve.lock", lambda holder: AssertionError(holder)).close()


def wait_until_done(served: Served) -> None:
    deadline = time.monotonic() + 2 * PATIENCE
    while True:
        status, seen = served.ask("GET", "/readyz")
        if status == 200 and seen["lag"] == 0 and seen["pipeline"]["state"] == "running":
            return
        assert time.monotonic() < deadline, seen
        time.sleep(0.2)


def all_notifications(served: Served, token: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    cursor = ""
    while True:
        _, page = served.ask("GET", f"/v1/notifications?limit=1000&after={cursor}", token=token)
        if not page["items"]:
            return found
        found += [(one["event"]["id"], one["subscription"]) for one in page["items"]]
        cursor = page["next"]


@pytest.mark.parametrize("seed", [1])
def test_whatever_is_killed_every_acknowledged_event_is_matched_once(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    blows = ["pipeline", "serve", "stop", "pipeline", "serve", "serve at once"]
    draw.shuffle(blows)
    options = ("--port", str(free_port()))
    data = tmp_path / "data"
    families: set[Process] = set()
    with ExitStack() as all_served:
        served = all_served.enter_context(Served(data, *options))
        token = register(served, "ann")
        describe(served, token)
        with Load(served.port, token) as load:
            for blow in blows:
                if draw.random() < 0.7:  # in the midst of its work, else while Spark starts
                    load.wait_for_more()
                time.sleep(draw.random() * 3)
                families |= (family := descendants(served.process.pid))
                if blow == "pipeline":
                    if (victim := pipeline_of(served)) is not None:
                        os.kill(victim, signal.SIGKILL)
                    continue
                if blow == "stop":
                    assert served.stop() == 0
                    assert alive(family) == {}
                else:
                    served.kill()
                    served.wait()
                    if blow == "serve":
                        check_all_gone(families, data)  # also of one that was killed and followed at once
                served = all_served.enter_context(Served(data, *options))
            load.wait_for_more()
        wait_until_done(served)
        assert load.problems == []
        found = all_notifications(served, token)
        assert sorted(found) == load.owed()
        assert load.read == found[: len(load.read)]  # who read on through all of it has the same, in the same order
        families |= descendants(served.process.pid)
        served.kill()
        served.wait()
    check_all_gone(families, data)
