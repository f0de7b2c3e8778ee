"""From registering to reading the notification, over HTTP, with the pipeline on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.numbers import between, describe, register, sample
from tests.service.served import Served

pytestmark = pytest.mark.slow


def test_register_subscribe_publish_read(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        token = register(served, "ann")
        other = register(served, "bob")
        describe(served, token)
        status, subscription = served.ask("POST", "/v1/subscriptions", {"filter": between(10, 20)}, token)
        assert status == 201
        for id, n in (("below", 9), ("first", 10), ("last", 19), ("above", 20)):
            status, answer = served.ask("POST", "/v1/events", sample(id, n), token)
            assert status == 202, answer
            assert answer["duplicate"] is False
        # All of it was accepted before Spark was up; now it is matched.
        served.wait_until_running()
        page = {"items": [], "next": ""}
        found = []
        while len(found) < 2:
            status, page = served.ask("GET", f"/v1/notifications?wait=10&after={page['next']}", token=token)
            assert status == 200
            found += page["items"]
        assert [(one["subscription"], one["event"]["id"]) for one in found] == [
            (subscription["id"], "first"),
            (subscription["id"], "last"),
        ]
        assert served.ask("GET", "/v1/notifications", token=other)[1]["items"] == []
        assert served.stop() == 0
        assert served.errors == ""
