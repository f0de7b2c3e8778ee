"""The channel of a subscription and what was sent by it, by the pages."""

from dataclasses import replace

import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.delivering import deliver, send
from tests.service.pages.visitor import Visitor
from tidings.settings import Settings

pytestmark = on_sqlite
MINE = "/pages/subscriptions"
NOBODY = "http://127.0.0.1:9/hook"  # nothing listens there


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True, webhook_handshake="none")


def test_a_webhook_is_chosen_used_paused_and_taken_away(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/deliveries")
    assert "only kept here" in ann.text
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY, rate_count="5", rate_seconds="60")
    assert "shown this once:whsec_" in ann.text
    channel = service.store.channel(id, "ann")
    assert channel is not None
    assert (channel.kind, channel.settings["url"], channel.settings["rate"]) == (
        "webhook",
        NOBODY,
        {"count": 5, "seconds": 60},
    )
    assert service.store.subscription(id).delivery == "webhook"
    position = service.client.post("/events", json=car()).json()["position"]
    service.commit(1, position, [(position, [id])])
    send(service)
    ann.get(f"{MINE}/{id}/deliveries")
    assert "whsec_" not in ann.page.text
    assert "1 match, 1 attempt" in ann.text
    ann.submit(f"{MINE}/{id}/deliveries", act="pause")
    assert "Nothing is sent for now" in ann.text
    assert service.store.channel(id, "ann").state == "paused"  # type: ignore[union-attr]
    ann.submit(f"{MINE}/{id}/deliveries", act="resume")
    assert service.store.channel(id, "ann").state == "active"  # type: ignore[union-attr]
    ann.submit(f"{MINE}/{id}/deliveries", act="rotate")
    assert "shown this once:whsec_" in ann.text
    number = service.store.parcels_of(id, "ann")[0].number
    ann.submit(f"{MINE}/{id}/deliveries", act="replay", number=str(number))
    assert "It is sent again" in ann.text
    ann.get(f"{MINE}/{id}/channel")
    fields = ann.form(f"{MINE}/{id}/channel")
    assert (fields["kind"], fields["url"], fields["rate_count"]) == (["webhook"], [NOBODY], ["5"])
    ann.submit(f"{MINE}/{id}/channel", kind="stored", rate_count="", rate_seconds="")
    assert service.store.subscription(id).delivery == ""


@pytest.mark.parametrize(
    ("filled", "place"),
    [
        ({"kind": "webhook", "url": "ftp://example.org"}, "url"),
        ({"kind": "webhook", "url": ""}, "url"),
        ({"kind": "email", "address": "nobody"}, "address"),
        ({"kind": "webhook", "url": NOBODY, "rate_count": "x", "rate_seconds": "1"}, "rate"),
        ({"kind": "webhook", "url": NOBODY, "digest_count": "1"}, "digest"),
        (
            {"kind": "webhook", "url": NOBODY, "quiet_from": "22:00", "quiet_to": "06:00", "quiet_zone": "Nowhere"},
            "quiet",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_place(service: Service, ann: Visitor, filled: dict[str, str], place: str) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", **filled)
    assert ann.page.status_code == 422
    assert ann.tree.get_element_by_id(f"wrong-{place}").text_content()
    assert service.store.channel(id, "ann") is None
    assert ann.form(f"{MINE}/{id}/channel")["kind"] == [filled["kind"]]


def test_anothers_channel_and_deliveries_are_not_there(service: Service, ann: Visitor) -> None:
    made = {"filter": "brand = mini", "channel": {"kind": "webhook", "url": NOBODY}}
    id = service.client.post("/subscriptions", json=made).json()["id"]
    position = service.client.post("/events", json=car()).json()["position"]
    service.commit(1, position, [(position, [id])])
    deliver(service)
    ann.get("/")
    proof = ann.tree.find("body").get("data-proof")
    for page in ("channel", "deliveries"):
        assert ann.client.get(f"{MINE}/{id}/{page}").status_code == 404
        data = {"proof": proof, "kind": "stored", "act": "pause"}
        assert ann.client.post(f"{MINE}/{id}/{page}", data=data).status_code == 404
    channel = service.store.channel(id, "tester")
    assert channel is not None
    assert channel.state == "active"
