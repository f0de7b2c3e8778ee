"""A test of a channel by a button: the outcome is shown in place, and as a page where there is no script."""

from dataclasses import replace

import httpx
import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.pages.answering import answering
from tests.service.pages.visitor import Visitor
from tidings.settings import Settings

pytestmark = on_sqlite
MINE = "/pages/subscriptions"


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True, webhook_handshake="none")


def _with_webhook(ann: Visitor, url: str) -> str:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    assert "Send a test" not in ann.text, "there is nothing to test yet"
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=url)
    return id


def _piece(ann: Visitor, id: str) -> httpx.Response:
    proof = ann.tree.find("body").get("data-proof")
    return ann.client.post(f"{MINE}/{id}/test-delivery", data={"proof": proof, "piece": "1"})


def test_status_duration_answer_and_what_was_sent(service: Service, ann: Visitor) -> None:
    with answering(200, "well received") as receiver:
        id = _with_webhook(ann, receiver.url)
        position = service.client.post("/v1/events", json=car(year=1971)).json()["position"]
        service.commit(1, position, [(position, [id])])
        for page in ("channel", "deliveries"):
            ann.get(f"{MINE}/{id}/{page}")
            ann.submit(f"{MINE}/{id}/test-delivery")
            assert ann.page.status_code == 200
            told = " ".join(ann.tree.get_element_by_id("tested").text_content().split())
            assert told.startswith("200 after 0."), told
            assert "well received" in told
            assert b"1971" in receiver.bodies[-1], "the values of the newest match"
            assert receiver.url in told, "what was sent"
        piece = _piece(ann, id)
        assert (piece.status_code, "<html" in piece.text) == (200, False)
        assert "well received" in piece.text
    assert service.store.deliveries_of(id, "ann") == [], "a test is no delivery"


def test_what_went_wrong_is_told_in_place(ann: Visitor) -> None:
    with answering(500, "I am broken") as receiver:
        id = _with_webhook(ann, receiver.url)
        ann.submit(f"{MINE}/{id}/test-delivery")
        assert "500 after" in ann.text
        assert "I am broken" in ann.text
    ann.submit(f"{MINE}/{id}/test-delivery")
    told = " ".join(ann.tree.get_element_by_id("tested").text_content().split())
    assert told.startswith("Failed after"), told


def test_a_channel_that_cannot_be_tested_says_why(service: Service, ann: Visitor) -> None:
    with answering(200, "ok") as receiver:
        id = _with_webhook(ann, receiver.url)
        service.store.change_channel(id, "ann", state="unconfirmed", reason="not asked yet")
        piece = _piece(ann, id)
        assert piece.status_code == 409
        assert "is not confirmed yet" in piece.text
        service.store.change_channel(id, "ann", state="active")
        codes = [_piece(ann, id).status_code for _ in range(15)]
    assert 429 in codes, "so many at once, and no more"


def test_anothers_channel_is_not_tested(service: Service, ann: Visitor) -> None:
    with answering(200, "ok") as receiver:
        made = {"filter": "brand = mini", "channel": {"kind": "webhook", "url": receiver.url}}
        id = service.client.post("/v1/subscriptions", json=made).json()["id"]
        ann.get("/")
        assert _piece(ann, id).status_code == 404
