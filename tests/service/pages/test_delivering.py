"""The channel of a subscription and what was sent by it, by the pages."""

from dataclasses import replace

import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.delivering import deliver, send
from tests.service.pages.visitor import Visitor
from tidings.settings import Settings
from tidings.store import AttemptResult
from tidings.store.clock.clock import now

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
    assert "shown only once:whsec_" in ann.text
    channel = service.store.channel(id, "ann")
    assert channel is not None
    assert (channel.kind, channel.settings["url"], channel.settings["rate"]) == (
        "webhook",
        NOBODY,
        {"count": 5, "seconds": 60},
    )
    assert service.store.subscription(id).delivery == "webhook"
    position = service.client.post("/v1/events", json=car()).json()["position"]
    service.commit(1, position, [(position, [id])])
    send(service)
    ann.get(f"{MINE}/{id}/deliveries")
    assert "whsec_" not in ann.page.text
    assert "1 match, 1 attempt" in ann.text
    ann.submit(f"{MINE}/{id}/deliveries", act="pause")
    assert "Paused. Deliveries wait" in ann.text
    assert service.store.channel(id, "ann").state == "paused"  # type: ignore[union-attr]
    ann.submit(f"{MINE}/{id}/deliveries", act="resume")
    assert service.store.channel(id, "ann").state == "active"  # type: ignore[union-attr]
    ann.submit(f"{MINE}/{id}/deliveries", act="rotate")
    assert "shown only once:whsec_" in ann.text
    number = service.store.deliveries_of(id, "ann")[0].number
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
        ({"kind": "webhook", "url": NOBODY, "rate_count": "x", "rate_seconds": "1"}, "rate_count"),
        ({"kind": "webhook", "url": NOBODY, "rate_count": "3"}, "rate_seconds"),
        ({"kind": "webhook", "url": NOBODY, "digest_count": "1"}, "digest_count"),
        ({"kind": "webhook", "url": NOBODY, "quiet_from": "22:00"}, "quiet_to"),
        (
            {"kind": "webhook", "url": NOBODY, "quiet_from": "22:00", "quiet_to": "06:00", "quiet_zone": "Nowhere"},
            "quiet_zone",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_place(service: Service, ann: Visitor, filled: dict[str, str], place: str) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", **filled)
    assert ann.page.status_code == 422
    assert list(ann.errors()) == [place], "and a screen reader says it at its field"
    assert ann.errors()[place].endswith("."), "a sentence"
    assert service.store.channel(id, "ann") is None
    assert ann.form(f"{MINE}/{id}/channel")["kind"] == [filled["kind"]]


def test_what_was_typed_for_another_kind_is_not_read(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY)
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="stored", digest_count="x", rate_seconds="y", quiet_from="z")
    assert ann.page.status_code == 200
    assert service.store.subscription(id).delivery == ""


def test_an_unknown_act_changes_nothing(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY)
    service.store.change_channel(id, "ann", state="paused")
    proof = ann.tree.find("body").get("data-proof")
    for act in ("", "remove"):
        assert ann.client.post(f"{MINE}/{id}/deliveries", data={"proof": proof, "act": act}).status_code == 422
    channel = service.store.channel(id, "ann")
    assert channel is not None
    assert channel.state == "paused"


def test_anothers_channel_and_deliveries_are_not_there(service: Service, ann: Visitor) -> None:
    made = {"filter": "brand = mini", "channel": {"kind": "webhook", "url": NOBODY}}
    id = service.client.post("/v1/subscriptions", json=made).json()["id"]
    position = service.client.post("/v1/events", json=car()).json()["position"]
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
        position = service.client.post("/v1/events", json=car(f"e{number}")).json()["position"]
        service.commit(service.store.committed() + 1, position, [(position, [id])])
        deliver(service)
    made = sorted(one.number for one in service.store.deliveries_of(id, "ann"))
    moment = now()
    assert service.store.take_lease("test", 10)
    dead = [AttemptResult(number, 0, moment, 0.5, False, "POST …", 503, "no", "503") for number in made[: count // 2]]
    service.store.record_results("test", dead, moment, lambda *_: "")
    assert service.store.take_lease("test", 0)
    return id


def test_deliveries_are_shown_by_state(service: Service, ann: Visitor) -> None:
    id = _delivered(service, ann, 4)
    for state, count in (("", 4), ("dead", 2), ("due", 2), ("delivered", 0)):
        ann.get(f"{MINE}/{id}/deliveries", state=state)
        assert len(ann.tree.xpath("//ul[contains(@class, 'list')]/li")) == count, state
    assert "None." in ann.text
    ann.get(f"{MINE}/{id}/deliveries?state=dead")
    assert "· 503 · 0.50 s" in ann.text
    assert "POST …" in ann.text
    assert ann.tree.xpath("//nav[@aria-label='Which deliveries']/a[@aria-current]")[0].text == "Failed"
    ann.get(f"{MINE}/{id}/deliveries")
    assert _states(ann) == ["waiting", "waiting", "failed", "failed"], "in the words of the tabs"
    service.store.change_channel(id, "ann", state="paused")
    ann.get(f"{MINE}/{id}/deliveries")
    assert _states(ann) == ["on hold", "on hold", "failed", "failed"]


def _states(ann: Visitor) -> list[str]:
    return [node.text for node in ann.tree.xpath("//summary/span[contains(@class, 'state')]")]


def test_one_all_failed_or_those_of_a_period_are_sent_again(service: Service, ann: Visitor) -> None:
    id = _delivered(service, ann, 6)
    page = f"{MINE}/{id}/deliveries"
    deliveries = sorted(service.store.deliveries_of(id, "ann"), key=lambda one: one.number)
    ann.get(page)
    ann.submit(page, act="replay", number=str(deliveries[0].number))
    assert "1 delivery will be sent again." in ann.text
    assert service.store.delivery(deliveries[0].number, "ann").state == "due"
    again = {"proof": ann.tree.find("body").get("data-proof"), "act": "replay"}
    period = {"from": str(deliveries[1].created), "to": str(deliveries[4].created)}
    answer = ann.client.post(page, data=again | period | {"failed": "1"})
    assert answer.headers["location"].endswith("count=2"), "the two of them that failed"
    assert [one.state for one in service.store.deliveries_of(id, "ann")] == ["due"] * 6
    answer = ann.client.post(page, data=again | period)
    assert answer.headers["location"].endswith("count=4"), "all four"
    answer = ann.client.post(page, data=again | {"from": "", "to": str(deliveries[2].created)})
    assert answer.headers["location"].endswith("count=3"), "from the beginning"
    answer = ann.client.post(page, data=again)
    assert answer.headers["location"].endswith("count=0"), "none that failed is left"
    ann.get(answer.headers["location"])
    assert "Nothing to send again" in ann.text


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
    assert [one.state for one in service.store.deliveries_of(id, "ann")] == ["due", "dead"]


def test_a_new_secret_says_until_when_the_old_one_signs(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get("/pages/account")
    assert "You have no webhooks" in ann.text
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY)
    first = ann.tree.xpath("//code[@class='secret']")[0].text
    ann.get("/pages/account")
    assert first not in ann.page.text
    assert "brand = mini" in ann.text
    assert _asking(ann) == ["rotate"]
    ann.submit(f"{MINE}/{id}/deliveries")
    second = ann.tree.xpath("//code[@class='secret']")[0].text
    assert second != first
    assert "The previous secret stays valid until" in ann.text
    channel = service.store.channel(id, "ann")
    assert channel is not None
    assert channel.secrets_at(now()) == [second, first]
    ann.get("/pages/account")
    assert "two; the older one is valid until" in ann.text
    ann.get(f"{MINE}/{id}/deliveries")
    assert "Two secrets are valid" in ann.text


def test_the_list_of_subscriptions_shows_channel_and_rhythm(service: Service, ann: Visitor) -> None:
    plain, told = ann.subscribe("brand = opel"), ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{told}/channel")
    rhythm = {"digest_count": "10", "digest_seconds": "7200", "rate_count": "5", "rate_seconds": "60"}
    quiet = {"quiet_from": "22:00", "quiet_to": "07:00", "quiet_zone": "Europe/Athens"}
    ann.submit(f"{MINE}/{told}/channel", kind="webhook", url=NOBODY, **rhythm, **quiet)
    for page in (MINE, f"{MINE}/{told}", f"{MINE}/{told}/deliveries"):
        ann.get(page)
        for words in ("up to 10 in one, every 2 hours", "at most 5 a minute", "quiet 22:00 to 07:00 Europe/Athens"):
            assert words.lower() in ann.text.lower(), page
    service.store.change_channel(told, "ann", state="disabled", reason="gone")
    ann.get(MINE)
    assert "webhook: disabled" in ann.text
    assert f"{MINE}/{plain}/channel" in [link.get("href") for link in ann.tree.iter("a")]


def _asking(ann: Visitor) -> list[str]:
    """What is done only after a second word."""
    return [one.get("value") for one in ann.tree.xpath("//details[@class='sure']//input[@name='act']")]


def test_what_cannot_be_undone_asks_first(service: Service, ann: Visitor) -> None:
    id = _delivered(service, ann, 2)
    ann.get(f"{MINE}/{id}/deliveries")
    assert _asking(ann) == ["rotate", "replay"]
    others = ann.tree.xpath("//input[@name='act'][not(ancestor::details)]")
    assert [one.get("value") for one in others] == ["pause"]


def _channel(ann: Visitor) -> tuple[str, list[str], str]:
    """Its one state, the buttons, and all that is said."""
    (card,) = ann.tree.xpath("//section[@aria-label='Channel']")
    (state,) = card.xpath(".//span[starts-with(@class, 'state')]")
    buttons = [one.text for one in card.xpath(".//div[contains(@class, 'acts')]/form/button")]
    return state.text, buttons, " ".join(card.text_content().split())


def test_the_state_of_a_channel_is_told_once_and_with_the_way_on(service: Service, ann: Visitor) -> None:
    id = _delivered(service, ann, 2)
    page = f"{MINE}/{id}/deliveries"
    ann.get(page)
    state, buttons, told = _channel(ann)
    assert (state, buttons) == ("failing", ["Pause sending"])
    assert "Failing since just now. 503." in told
    assert "active" not in told
    service.store.change_channel(id, "ann", state="disabled", reason="it answered 410")
    ann.get(page)
    state, buttons, told = _channel(ann)
    assert (state, buttons, told.count("it answered 410")) == ("disabled", ["Resume"], 1)
    assert "Sending was stopped: it answered 410. Pending deliveries are kept" in told
    assert ann.tree.xpath("//button[text()='Resume']")[0].get("class") == "small", "the first thing to do"
    service.store.change_channel(id, "ann", state="unconfirmed", reason="not asked yet")
    ann.get(page)
    state, buttons, told = _channel(ann)
    assert (state, buttons) == ("unconfirmed", ["Ask again"])
    assert "then “Ask again”." in told
    assert "POST" not in told
    api = ann.client.get(f"/v1/subscriptions/{id}/channel").json()
    assert f"POST /v1/subscriptions/{id}/channel/resume" in str(api), "programs are told their way"


def test_asking_again_in_vain_is_no_success(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    page = f"{MINE}/{id}/deliveries"
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY)
    service.store.change_channel(id, "ann", state="unconfirmed", reason="not asked yet")
    service.gateway.settings = replace(service.gateway.settings, webhook_handshake="ask")
    ann.get(page)
    ann.submit(page, act="resume")
    assert ann.page.status_code == 200
    assert "done" not in ann.page.url.params
    assert "Resumed." not in ann.text
    state, buttons, told = _channel(ann)
    assert (state, buttons) == ("unconfirmed", ["Ask again"])
    assert "not asked yet" not in told, "what went wrong this time"
    service.gateway.settings = replace(service.gateway.settings, webhook_handshake="none")
    ann.submit(page, act="resume")
    assert "Resumed." in ann.text


def test_email_is_not_offered_where_no_mail_is_sent(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")

    def offered() -> tuple[bool, str]:
        ann.get(f"{MINE}/{id}/channel")
        (option,) = ann.tree.xpath("//select[@name='kind']/option[@value='email']")
        return option.get("disabled") is None, option.text

    assert offered() == (False, "By email: this service sends no mail")
    service.gateway.settings = replace(service.gateway.settings, smtp_host="127.0.0.1")
    assert offered() == (True, "By email")


def test_quiet_hours_that_end_as_they_begin_are_told_by_the_label(ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY, quiet_from="22:00", quiet_to="22:00")
    assert ann.errors() == {"quiet_to": "This must be another time than “From”."}


def test_addresses_of_forms_lead_to_their_pages(ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    for path, page in (
        ("test-delivery", "/deliveries"), ("pause", ""), ("resume", ""), ("delete", ""),
    ):  # fmt: skip
        answer = ann.client.get(f"{MINE}/{id}/{path}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{MINE}/{id}{page}")
    assert ann.client.get(f"{MINE}/a%3Fb/pause").headers["location"] == f"{MINE}/a%3Fb"
    assert ann.client.get("/pages/logout").headers["location"] == "/"


def test_many_events_of_a_digest_are_not_all_linked(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=NOBODY, digest_count="8")
    for number in range(8):
        position = service.client.post("/v1/events", json=car(f"e{number}")).json()["position"]
        service.commit(service.store.committed() + 1, position, [(position, [id])])
    send(service)
    ann.get(f"{MINE}/{id}/deliveries")
    assert "8 matches, 1 attempt" in ann.text
    assert len([one for one in ann.tree.iter("a") if one.get("href").startswith("/pages/events/")]) == 5
    assert "and 3 more" in ann.text


@pytest.mark.parametrize(
    ("filled", "place"),
    [
        ({"kind": "webhook", "url": "ftp://example.org"}, "url"),
        ({"kind": "email", "address": "nobody"}, "address"),
        ({"kind": "webhook", "url": NOBODY, "rate_count": "x", "rate_seconds": "1"}, "rate_count"),
        ({"kind": "webhook", "url": NOBODY, "digest_count": "1"}, "digest_count"),
        ({"kind": "webhook", "url": NOBODY, "quiet_from": "22:00"}, "quiet_to"),
        ({"kind": "pigeon"}, "kind"),
    ],
)
def test_a_wrong_channel_saves_nothing(service: Service, ann: Visitor, filled: dict[str, str], place: str) -> None:
    ann.get(f"{MINE}/new")
    ann.submit(f"{MINE}/new", text="brand = mini", expiry="2099-01-01T10:00:00", **filled)
    assert ann.page.status_code == 422
    assert list(ann.errors()) == [place]
    kept = ann.form(f"{MINE}/new")
    assert (kept["text"][0].strip(), kept["expiry"]) == ("brand = mini", ["2099-01-01T10:00:00"])
    assert all(kept[name] == [value] for name, value in filled.items() if name != "kind" or value != "pigeon")
    assert service.store.subscriptions("ann") == []


def test_a_form_sent_again_with_another_address_makes_another_one(service: Service, ann: Visitor) -> None:
    ann.get(f"{MINE}/new")
    fields = ann.form(f"{MINE}/new") | {"text": ["brand = mini"], "kind": ["webhook"], "url": [NOBODY]}
    first = ann.client.post(f"{MINE}/new", data=fields)
    assert "whsec_" in first.text
    again = ann.client.post(f"{MINE}/new", data=fields)
    assert "whsec_" in again.text, "the first answer may have been lost"
    assert ann.client.post(f"{MINE}/new", data=fields | {"url": [f"{NOBODY}/other"]}).status_code == 409
    (standing,) = service.store.subscriptions("ann")
    assert service.store.channel(standing.id, "ann").settings["url"] == NOBODY  # type: ignore[union-attr]
