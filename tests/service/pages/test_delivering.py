"""The channel of a subscription and what was sent by it, by the pages."""

from dataclasses import replace

import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.delivering import deliver, send
from tests.service.pages.visitor import Visitor
from tidings.schema import Instant
from tidings.settings import Settings
from tidings.store import Result
from tidings.store.clock import now

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
    assert "1 delivery will be sent again." in ann.text
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


def _delivered(service: Service, ann: Visitor, count: int) -> str:
    """The id of a subscription of whose deliveries the first half has failed for good and the rest is still due."""
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY)
    for number in range(count):
        position = service.client.post("/events", json=car(f"e{number}")).json()["position"]
        service.commit(service.store.committed() + 1, position, [(position, [id])])
        deliver(service)
    made = sorted(one.number for one in service.store.parcels_of(id, "ann"))
    moment = now()
    assert service.store.take_lease("test", Instant(moment + 10_000_000), moment)
    dead = [Result(number, 0, moment, 0.5, False, "POST …", 503, "no", "503") for number in made[: count // 2]]
    service.store.settle("test", dead, moment, lambda *_: "")
    assert service.store.take_lease("test", moment, moment)
    return id


def test_deliveries_are_shown_by_state(service: Service, ann: Visitor) -> None:
    id = _delivered(service, ann, 4)
    for state, count in (("", 4), ("dead", 2), ("due", 2), ("delivered", 0)):
        ann.get(f"{MINE}/{id}/deliveries", state=state)
        assert len(ann.tree.xpath("//ul[contains(@class, 'list')]/li")) == count, state
    assert "None of them." in ann.text
    ann.get(f"{MINE}/{id}/deliveries?state=dead")
    assert "503 after 0.50 s" in ann.text
    assert "POST …" in ann.text
    assert ann.tree.xpath("//nav[@aria-label='Which deliveries']/a[@aria-current]")[0].text == "Dead letters"


def test_one_all_failed_or_those_of_a_period_are_sent_again(service: Service, ann: Visitor) -> None:
    id = _delivered(service, ann, 6)
    page = f"{MINE}/{id}/deliveries"
    parcels = sorted(service.store.parcels_of(id, "ann"), key=lambda one: one.number)
    ann.get(page)
    ann.submit(page, act="replay", number=str(parcels[0].number))
    assert "1 delivery will be sent again." in ann.text
    assert service.store.parcel(parcels[0].number, "ann").state == "due"
    again = {"proof": ann.tree.find("body").get("data-proof"), "act": "replay"}
    period = {"from": str(parcels[1].created), "to": str(parcels[4].created)}
    answer = ann.client.post(page, data=again | period | {"failed": "1"})
    assert answer.headers["location"].endswith("count=2"), "the two of them that failed"
    assert [one.state for one in service.store.parcels_of(id, "ann")] == ["due"] * 6
    answer = ann.client.post(page, data=again | period)
    assert answer.headers["location"].endswith("count=4"), "all four"
    answer = ann.client.post(page, data=again | {"from": "", "to": str(parcels[2].created)})
    assert answer.headers["location"].endswith("count=3"), "from the beginning"
    answer = ann.client.post(page, data=again)
    assert answer.headers["location"].endswith("count=0"), "none that failed is left"
    ann.get(answer.headers["location"])
    assert "nothing to send again" in ann.text


@pytest.mark.parametrize(
    ("begin", "end", "field"),
    [("", "", "from"), ("yesterday", "", "from"), ("", "x", "to"), ("2030-01-02T00:00", "2030-01-01T00:00", "from")],
)
def test_a_wrong_period_is_told_at_its_field(service: Service, ann: Visitor, begin: str, end: str, field: str) -> None:
    id = _delivered(service, ann, 2)
    page = f"{MINE}/{id}/deliveries"
    ann.get(page)
    proof = ann.tree.find("body").get("data-proof")
    ann.page = ann.client.post(page, data={"proof": proof, "act": "replay", "from": begin, "to": end})
    assert ann.page.status_code == 422
    assert list(ann.errors()) == [field]
    assert [one.state for one in service.store.parcels_of(id, "ann")] == ["due", "dead"]


def test_a_new_secret_says_until_when_the_old_one_signs(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get("/pages/account")
    assert "None of your subscriptions goes to a webhook" in ann.text
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY)
    first = ann.tree.xpath("//code[@class='secret']")[0].text
    ann.get("/pages/account")
    assert first not in ann.page.text
    assert "brand = 'mini'" in ann.text
    ann.submit(f"{MINE}/{id}/deliveries")
    second = ann.tree.xpath("//code[@class='secret']")[0].text
    assert second != first
    assert "The one before signs beside it until" in ann.text
    channel = service.store.channel(id, "ann")
    assert channel is not None
    assert channel.secrets_at(now()) == [second, first]
    ann.get("/pages/account")
    assert "two; the older signs until" in ann.text
    ann.get(f"{MINE}/{id}/deliveries")
    assert "Two secrets sign what is sent" in ann.text


def test_the_list_of_subscriptions_shows_channel_and_rhythm(service: Service, ann: Visitor) -> None:
    plain, told = ann.subscribe("brand = opel"), ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{told}/channel")
    rhythm = {"digest_count": "10", "digest_seconds": "7200", "rate_count": "5", "rate_seconds": "60"}
    quiet = {"quiet_from": "22:00", "quiet_to": "07:00", "quiet_zone": "Europe/Athens"}
    ann.submit(f"{MINE}/{told}/channel", kind="webhook", url=NOBODY, **rhythm, **quiet)
    for page in (MINE, f"{MINE}/{told}", f"{MINE}/{told}/deliveries"):
        ann.get(page)
        for words in ("up to 10 in one, every 2 hours", "at most 5 a minute", "quiet 22:00 to 07:00 Europe/Athens"):
            assert words in ann.text, page
    service.store.change_channel(told, "ann", state="disabled", reason="gone")
    ann.get(MINE)
    assert "disabled" in ann.text
    assert f"{MINE}/{plain}/channel" in [link.get("href") for link in ann.tree.iter("a")]
