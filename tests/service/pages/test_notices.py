"""Notices: their number on every page, a line where subscriptions are, a page of all, marked as read one by one or
together."""

from dataclasses import replace

import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.delivering import send
from tests.service.pages.answering import answering
from tests.service.pages.visitor import Visitor
from tidings.settings import Settings
from tidings.store.pages import notices
from tidings.store.tables import notices as table

NOTICES = "/pages/notices"
MINE = "/pages/subscriptions"
STOPPED = "of your channels has stopped"


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, allow_loopback_webhooks=True, webhook_handshake="none")


def _told(service: Service, owner: str, count: int) -> None:
    """As the outbox does it when it disables a channel."""
    rows = [(number, owner, f"s-{number}", f"notice {number} of {owner}", number, 0) for number in range(1, count + 1)]
    with service.store.database.writing("outbox") as connection:
        for row in rows:
            connection.execute(table.insert().values(row))


def _in_bar(ann: Visitor) -> str:
    """The link to the notices, beside the name."""
    (link,) = ann.tree.xpath(f"//header//a[@href='{NOTICES}']")
    return " ".join(link.text_content().split())


def test_a_channel_that_is_gone_is_told_until_it_is_read(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    ann.get("/")
    assert STOPPED not in ann.text
    assert _in_bar(ann) == "Notices"
    with answering(410, "gone") as receiver:
        ann.get(f"{MINE}/{id}/channel")
        ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=receiver.url)
        position = service.client.post("/v1/events", json=car()).json()["position"]
        service.commit(1, position, [(position, [id])])
        send(service)
    for page, told in (
        ("/", True), (MINE, True), (f"{MINE}/{id}", True), ("/pages/schema", False), ("/pages/publish", False),
        ("/pages/account", False), ("/pages/nowhere", False),
    ):  # fmt: skip
        ann.get(page)
        assert _in_bar(ann) == "Notices 1 new", page
        assert (f"Sending to one {STOPPED}" in ann.text) == told, page
    ann.get(MINE)
    assert "webhook: disabled" in ann.text
    link = next(one.get("href") for one in ann.tree.iter("a") if one.text == "See what happened")
    ann.get(link)
    assert ann.page.url.path == NOTICES
    assert STOPPED not in ann.text
    stopped = (
        "Sending by webhook was stopped: it answered 410: it wants nothing any more. "
        "Pending deliveries are kept; resume to send them."
    )
    assert stopped in ann.text
    links = {one.text_content(): one.get("href") for one in ann.tree.find(".//main").iter("a")}
    assert links["brand = mini"] == f"{MINE}/{id}", "named by its filter"
    assert id not in ann.text
    assert links["See deliveries and resume"] == f"{MINE}/{id}/deliveries"
    ann.submit(NOTICES, number="1")
    assert "Marked as read" in ann.text
    assert stopped in ann.text, "what was read stays"
    assert "new" not in [node.text for node in ann.tree.iter("span")]
    ann.get("/")
    assert STOPPED not in ann.text
    assert _in_bar(ann) == "Notices"
    assert [one["seen"] for one in _api(ann, "/v1/notices")["items"]] == [True]


def _disabled(service: Service, ann: Visitor, filter: str, number: int, times: int = 1) -> str:
    """The id of a subscription whose channel the outbox has disabled, with so many notices of it from `number` on."""
    id = ann.subscribe(filter)
    ann.get(f"{MINE}/{id}/channel")
    ann.submit(f"{MINE}/{id}/channel", kind="webhook", url="http://127.0.0.1:9/hook")
    service.store.change_channel(id, "ann", state="disabled", reason="gone")
    with service.store.database.writing("outbox") as connection:
        for one in range(number, number + times):
            connection.execute(table.insert().values((one, "ann", id, "it was stopped", one, 0)))
    return id


def test_the_line_counts_channels_that_stand_still_now(service: Service, ann: Visitor) -> None:
    _told(service, "ann", 2)
    ann.get("/")
    assert STOPPED not in ann.text, "there are notices, but no channel that stands still"
    first = _disabled(service, ann, "brand = mini", 10, times=3)
    ann.get(MINE)
    assert f"Sending to one {STOPPED}" in ann.text, "one, however often it was told"
    second = _disabled(service, ann, "brand = opel", 20)
    ann.get("/")
    assert f"Sending to some {STOPPED}" in ann.text
    ann.get(f"{MINE}/{first}/deliveries")
    ann.submit(f"{MINE}/{first}/deliveries", act="resume")
    assert f"Sending to one {STOPPED}" in ann.text
    ann.get(f"{MINE}/{second}/deliveries")
    ann.submit(f"{MINE}/{second}/deliveries", act="resume")
    assert "Resumed." in ann.text
    assert STOPPED not in ann.text
    assert _in_bar(ann) == "Notices 6 new", "what happened is still to be read"
    assert notices.stopped(service.store, "ann", 9) == 0


@on_sqlite
def test_anothers_channels_are_not_counted(service: Service, ann: Visitor) -> None:
    _disabled(service, ann, "brand = mini", 1)
    assert (notices.stopped(service.store, "ann", 2), notices.stopped(service.store, "tester", 2)) == (1, 0)


@on_sqlite
def test_older_texts_and_withdrawn_subscriptions_are_shown_as_well(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    old = "the webhook channel of subscription {!r} was disabled: gone. What it is owed is kept; resume the channel"
    with service.store.database.writing("outbox") as connection:
        for number, one in ((1, id), (2, "s-gone")):
            connection.execute(table.insert().values((number, "ann", one, old.format(one), number, 0)))
    ann.get(NOTICES)
    told = [" ".join(node.text_content().split()) for node in ann.tree.xpath("//ul/li//p")]
    text = "The webhook channel was disabled: gone. What it is owed is kept; resume the channel."
    assert told == ["new A withdrawn subscription", text, "new brand = mini", text]
    assert "See deliveries and resume" not in ann.text, "it is not disabled now"
    assert [one.get("href") for one in ann.tree.iter("a") if one.text == "See deliveries"] == [
        f"{MINE}/{id}/deliveries"
    ]


def _api(visitor: Visitor, path: str) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = visitor.client.get(path).json()
    return found


def test_pages_newest_first_and_all_read_leaves_what_came_since(service: Service, ann: Visitor) -> None:
    _told(service, "ann", 45)
    ann.get(NOTICES)
    shown = [int(node.text.split()[1]) for node in ann.tree.iter("p") if (node.text or "").startswith("Notice ")]
    assert shown == list(range(45, 25, -1))
    fields = next(form for form in ann.tree.iter("form") if b"upto" in _bytes(form))
    upto = dict(fields.form_values())["upto"]
    ann.get(next(link.get("href") for link in ann.tree.iter("a") if link.get("rel") == "next"))
    assert "Notice 25 of ann." in ann.text
    ann.submit(NOTICES, number="25")
    assert "Notice 25 of ann." in ann.text, "the same page again"
    assert notices.unread(service.store, "ann") == 44
    with service.store.database.writing("outbox") as connection:
        connection.execute(table.insert().values((46, "ann", "s-46", "notice 46 of ann", 46, 0)))
    ann.get(NOTICES)
    proof = ann.tree.find("body").get("data-proof")
    ann.client.post(NOTICES, data={"proof": proof, "upto": upto})
    assert notices.unread(service.store, "ann") == 1
    ann.get("/")
    assert _in_bar(ann) == "Notices 1 new"


def _bytes(node: object) -> bytes:
    from lxml import html

    return bytes(html.tostring(node))


@on_sqlite
def test_anothers_notices_are_neither_shown_nor_marked(service: Service, ann: Visitor) -> None:
    _told(service, "tester", 3)
    ann.get(NOTICES)
    assert "No notices" in ann.text
    proof = ann.tree.find("body").get("data-proof")
    for data in ({"number": "2"}, {"upto": "3"}):
        assert ann.client.post(NOTICES, data={"proof": proof, **data}).status_code == 303
    assert notices.unread(service.store, "tester") == 3
    assert ann.client.post(NOTICES, data={"proof": proof, "number": "two"}).status_code == 422


@on_sqlite
def test_guests_have_none(service: Service, visitor: Visitor) -> None:
    visitor.get(NOTICES)
    assert visitor.page.url.path == "/pages/login"
    visitor.get("/")
    assert "Notices" not in visitor.text


def test_a_delivery_that_failed_is_told_with_the_way_to_send_it_again(service: Service, ann: Visitor) -> None:
    id = ann.subscribe("brand = mini")
    with answering(500, "no") as receiver:
        ann.get(f"{MINE}/{id}/channel")
        ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=receiver.url)
        for number in range(2):
            first = service.store.committed() + 1
            position = service.client.post("/v1/events", json=car(f"e{number}")).json()["position"]
            service.commit(first, position, [(position, [id])])
        send(service, waits=())
    ann.get(NOTICES)
    assert _in_bar(ann) == "Notices 1 new"
    assert "2 deliveries by webhook failed: it answered 500. Send them again once this is fixed." in ann.text
    links = {one.text_content(): one.get("href") for one in ann.tree.find(".//main").iter("a")}
    assert links["See them and send again"] == f"{MINE}/{id}/deliveries?state=dead"
    ann.get(links["See them and send again"])
    assert ann.text.count("Send again") == 2
    (told,) = _api(ann, "/v1/notices")["items"]
    assert (told["cause"], told["count"], told["link"]) == ("it answered 500", 2, f"{MINE}/{id}/deliveries?state=dead")
