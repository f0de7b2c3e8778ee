"""`tidings demo` with its pipeline: events become matches and deliveries, and its children outlive blows."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.demo.shown import Shown, Visitor, until
from tests.service.served import alive, descendants

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    with Shown(tmp_path_factory.mktemp("demo")) as running:
        running.wait_for("The first match came after")
        yield running


def told(shown: Shown, token: str, hook: str) -> list[dict[str, Any]]:
    """The deliveries of a subscription whose webhook goes there."""
    ids = [one["id"] for one in shown.subscriptions(token) if one["channel"].get("url", "").rpartition("/")[2] == hook]
    return [
        delivery
        for id in ids
        for delivery in shown.ask("GET", f"/v1/subscriptions/{id}/deliveries", token=token)[1]["items"]
    ]


def test_it_comes_to_life(shown: Shown) -> None:
    shown.wait_for("The pipeline runs")
    token = shown.log_in()
    status, page = shown.ask("GET", "/v1/notifications?limit=10", token=token)
    assert status == 200
    assert page["items"]
    with Visitor(shown) as visitor:
        assert "found by" in visitor.text("/")


def test_the_story_of_the_saleroom_is_told(shown: Shown) -> None:
    token = shown.log_in()
    story = [one for one in shown.subscriptions(token) if one.get("composite")]
    assert sorted(one["name"][:24] for one in story) == [
        "No bid in the last ten s",
        "Outbid within a minute",
        "Three bids by one bidder",
    ]
    for one in story:
        address = f"/v1/subscriptions/{one['id']}/notifications"
        until(lambda address=address: shown.ask("GET", address, token=token)[1]["items"])  # type: ignore[misc]
        found = shown.ask("GET", address, token=token)[1]["items"][0]
        assert len(found["detection"]["events"]) in (2, 3)


def test_deliveries_of_every_outcome(shown: Shown) -> None:
    token = shown.log_in()
    until(lambda: any(one["state"] == "delivered" for one in told(shown, token, "inbox")))
    until(lambda: any(len(one["notifications"]) > 1 for one in told(shown, token, "inbox")))  # a digest
    until(lambda: any(one["attempts"] > 1 and one["state"] == "delivered" for one in told(shown, token, "flaky")))
    until(lambda: shown.ask("GET", "/v1/notices", token=token)[1]["items"])
    (notice,) = shown.ask("GET", "/v1/notices", token=token)[1]["items"]
    assert "410" in str(notice)
    (gone,) = [one for one in shown.subscriptions(token) if one["channel"].get("url", "").endswith("/gone")]
    assert gone["channel_state"] == "disabled"


def test_feeds_that_are_killed_come_back_and_matches_go_on(shown: Shown) -> None:
    assert shown.feeds().kill()
    matches = shown.figure("notifications_total")
    until(lambda: shown.figure("notifications_total") > matches + 30)


def test_at_the_end_nobody_is_left(shown: Shown) -> None:
    family = descendants(shown.process.pid)
    assert len(family) >= 4  # pipeline, its Java, outbox, feeds
    assert shown.stop(signal.SIGINT) == 0
    until(lambda: not alive(family))
    told = shown.errors.splitlines()  # of the feeds that the test before killed
    assert [line for line in told if "WARNING gateway: feeds: restarted; ended by SIGKILL" not in line] == []


def test_killed_with_its_pipeline_it_leaves_nobody(tmp_path: Path) -> None:
    with Shown(tmp_path) as shown:
        shown.wait_until_running()
        family = descendants(shown.process.pid)
        shown.kill()
        shown.wait()
        until(lambda: not alive(family))
