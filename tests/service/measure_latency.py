"""How long from POST /v1/events to GET /v1/notifications on the embedded default, and how long a start takes.

    python -m tests.service.measure_latency [--events 200] [--rate 5]

Publisher and reader are in this process, the service in another, all on loopback. The clock starts before the request
is sent and stops when the answer with the notification is there.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

from tests.service.numbers import between, describe, register, sample
from tests.service.served import Served

_WARM_UP = 50  # events


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--events", type=int, default=200)
    arguments.add_argument("--rate", type=float, default=5.0, help="a second")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for word in ("first", "second"):
            started, stopped = measure_start(Path(folder))
            print(f"seconds to the first 200, {word} start: {started:.2f}; to stop: {stopped:.2f}")
        with Served(Path(folder)) as served:
            token = register(served, "ann")
            describe(served, token)
            assert served.ask("POST", "/v1/subscriptions", {"filter": between(0, 10)}, token)[0] == 201
            served.wait_until_running()
            print(f"seconds to a pipeline that runs: {time.monotonic() - served.began:.1f}")
            latencies = measure_latencies(served, token, chosen.events, chosen.rate)
            assert served.stop() == 0
    shown = ", ".join(f"p{part} {quantile(latencies, part / 100):.3f}" for part in (50, 90, 99))
    print(f"seconds from publish to notification, {len(latencies)} events at {chosen.rate:g}/s: {shown}")


def measure_start(data: Path) -> tuple[float, float]:
    """From the start of the process to the first 200, and from SIGTERM to its end; without a pipeline."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    served = Served(data, "--no-pipeline", "--port", str(port))
    served.port = port
    while True:
        try:
            if served.ask("GET", "/healthz")[0] == 200:
                break
        except ConnectionRefusedError:
            time.sleep(0.002)
        if served.process.poll() is not None:
            sys.exit(served.wait_for_errors())
    started = time.monotonic() - served.began
    asked = time.monotonic()
    assert served.stop() == 0
    return started, time.monotonic() - asked


def measure_latencies(served: Served, token: str, events: int, rate: float) -> list[float]:
    """Of a pipeline that is warm: Spark's first batches take seconds each, so the first events do not count."""
    sent: dict[str, float] = {}
    seen: dict[str, float] = {}
    reader = threading.Thread(target=_read, args=(served.port, token, 1 + _WARM_UP + events, seen))
    reader.start()
    _ask(HTTPConnection("127.0.0.1", served.port), "POST", "/v1/events", token, sample("first", 5))
    begin = time.monotonic()
    while not seen:
        time.sleep(0.05)
    print(f"seconds to the first notification of a new pipeline: {time.monotonic() - begin:.1f}")
    begin = time.monotonic()
    connection = HTTPConnection("127.0.0.1", served.port)
    for number in range(_WARM_UP + events):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        id = f"e{number}"
        sent[id] = time.monotonic()
        _ask(connection, "POST", "/v1/events", token, sample(id, 5))
    reader.join()
    counted = list(sent)[_WARM_UP:]
    return sorted(seen[id] - sent[id] for id in counted)


def _read(port: int, token: str, wanted: int, seen: dict[str, float]) -> None:
    connection, cursor = HTTPConnection("127.0.0.1", port), ""
    while len(seen) < wanted:
        page = _ask(connection, "GET", f"/v1/notifications?wait=10&after={cursor}", token)
        now = time.monotonic()
        for notification in page["items"]:
            seen[notification["event"]["id"]] = now
        cursor = page["next"]


def _ask(connection: HTTPConnection, method: str, path: str, token: str, body: object = None):  # type: ignore[no-untyped-def]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status in (200, 202), text
    return json.loads(text)


def quantile(ordered: list[float], part: float) -> float:
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


if __name__ == "__main__":
    main()
