"""What others write is text: in events, filters, names of the schema, addresses, webhooks' answers, notices."""

from dataclasses import replace
from urllib.parse import quote

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tests.service.delivering import send
from tests.service.pages.answering import answering
from tests.service.pages.visitor import Visitor
from tidings.events import BrokenRule
from tidings.schema import growth
from tidings.schema.catalog import Attribute, AttributeUse, EventType
from tidings.schema.domain import Domain, Kind
from tidings.schema.hierarchy import Hierarchy
from tidings.service.workers.status import ChildStatus
from tidings.store import DeadLetter, Grow, StoredChannel
from tidings.store.tables import notices

pytestmark = on_sqlite
MINE = "/pages/subscriptions"
EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"


def _grown(service: Service) -> None:
    """A schema whose every name is an attack."""
    steps: list[growth.Change] = [
        growth.CreateDomain(Domain(f"d{EVIL}", Kind.ENUMERATED, values=(EVIL, "plain"))),
        growth.CreateDomain(Domain(f"t{EVIL}", Kind.HIERARCHICAL, hierarchy=Hierarchy((EVIL, f"b{EVIL}"), (-1, 0)))),
        growth.CreateAttribute(Attribute(f"a{EVIL}", f"d{EVIL}")),
        growth.CreateAttribute(Attribute(f"h{EVIL}", f"t{EVIL}")),
        growth.CreateEventType(
            EventType(
                f"e{EVIL}",
                (
                    AttributeUse(f"a{EVIL}"),
                    AttributeUse(f"h{EVIL}"),
                    AttributeUse("title"),
                    AttributeUse("paint", False, False),
                ),
            )
        ),
    ]
    service.store.append([Grow(step) for step in steps])


def _harmless(visitor: Visitor) -> None:
    text = visitor.page.text
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "alert(2)&gt;49" not in text, "a template ran"
    for node in visitor.tree.iter():
        if isinstance(node.tag, str):
            assert node.tag != "img"
            assert not any(name.startswith("on") for name in node.attrib), node.attrib


def test_every_page_shows_it_as_text(service: Service, ann: Visitor) -> None:
    _grown(service)
    quoted = EVIL.replace("'", "''")
    id = ann.subscribe(f"title = '{quoted}'")
    _harmless(ann)
    assert EVIL.split("'")[1][:20] in ann.text
    event = {
        "id": EVIL,
        "source": EVIL,
        "contact": EVIL,
        "event_type": f"e{EVIL}",
        "attributes": {f"a{EVIL}": EVIL, f"h{EVIL}": EVIL, "title": EVIL, "paint": [EVIL, "red"]},
    }
    answer = service.client.post("/v1/events", json=event)
    assert answer.status_code == 202, answer.text
    position = answer.json()["position"]
    service.commit(1, position, [(position, [id])])
    pages = ["/", "/pages/now", "/pages/schema", "/pages/schema/history", "/pages/subscriptions", "/pages/publish"]
    pages += [f"/pages/subscriptions/{id}", f"/pages/subscriptions/{id}/newer", f"/pages/subscriptions/{id}/edit"]
    pages += [f"/pages/subscriptions/{id}/why/{position}", f"/pages/events/{position}"]
    for page in pages:
        assert ann.get(page).status_code == 200, page
        _harmless(ann)
        assert "alert(1)" in ann.page.text, page
    ann.get("/pages/publish", type=f"e{EVIL}")
    _harmless(ann)
    ann.submit("/pages/publish", **{f"value:a{EVIL}": "none", "value:title": EVIL})
    assert ann.page.status_code == 422
    _harmless(ann)
    for way in ("attribute", "event-type", "extension", "value"):
        ann.get(f"/pages/schema/grow/{way}")
        _harmless(ann)


def test_guests_see_events_and_examples_as_text(service: Service, visitor: Visitor) -> None:
    _grown(service)
    event = {
        "id": "e1",
        "event_type": f"e{EVIL}",
        "attributes": {f"a{EVIL}": EVIL, f"h{EVIL}": f"b{EVIL}", "title": EVIL},
    }
    assert service.client.post("/v1/events", json=event).status_code == 202
    for page in ("/", "/pages/now"):
        visitor.get(page)
        _harmless(visitor)
        assert visitor.page.text.count("alert(1)") > 3, "events and examples"


def test_what_a_webhook_answers_and_what_is_told_of_it_is_text(service: Service, ann: Visitor) -> None:
    service.gateway.settings = replace(service.settings, allow_loopback_webhooks=True, webhook_handshake="none")
    id = ann.subscribe("brand = mini")
    with answering(410, EVIL) as receiver:
        ann.get(f"{MINE}/{id}/channel")
        ann.submit(f"{MINE}/{id}/channel", kind="webhook", url=f"{receiver.url}?{quote(EVIL)}&a='{{{{7*7}}}}'")
        assert service.store.channel(id, "ann") is not None, ann.text
        ann.submit(f"{MINE}/{id}/test-delivery")
        assert "alert(1)" in ann.tree.get_element_by_id("tested").text_content()
        _harmless(ann)
        position = service.client.post("/v1/events", json=car()).json()["position"]
        service.commit(1, position, [(position, [id])])
        send(replace_settings(service))
    with service.store.database.writing("outbox") as connection:
        connection.execute(notices.insert().values((99, "ann", id, f"told: {EVIL}", 1, 0)))
    service.store.change_channel(id, "ann", reason=EVIL, settings={"url": EVIL, "quiet": _quiet()})
    for page in (f"{MINE}/{id}/deliveries", f"{MINE}/{id}/channel", "/pages/notices", "/pages/account", MINE):
        assert ann.get(page).status_code == 200, page
        assert "alert(1)" in ann.page.text, page
        _harmless(ann)
    assert "410" in ann.get(f"{MINE}/{id}/deliveries?state=").text


def _quiet() -> dict[str, str]:
    return {"from": EVIL, "to": EVIL, "zone": EVIL}


def replace_settings(service: Service) -> Service:
    """The outbox has the settings that the gateway has by now."""
    service.settings = service.gateway.settings
    return service


def test_what_operators_see_is_text(service: Service, ann: Visitor) -> None:
    service.store.change_account("ann", None, frozenset({"publish", "subscribe", "operate"}))
    service.gateway.callers.forget()
    rule = BrokenRule(EVIL, EVIL, EVIL, EVIL)
    service.store.bury([DeadLetter(EVIL, EVIL, EVIL, EVIL, (rule,))])
    service.gateway.outbox = ChildStatus("failed", EVIL)
    (service.settings.data / "outbox.log").write_text(f"{EVIL}\n")
    broken = StoredChannel("s-1", "ann", "webhook", {"url": f"https://{EVIL}"}, "disabled", EVIL)
    service.store.set_channel(broken)
    ann = Visitor(service).log_in("ann")
    for page in ("/pages/operator", "/pages/operator/now"):
        assert ann.get(page).status_code == 200
        assert ann.page.text.count("alert(1)") > 1
        _harmless(ann)


@pytest.mark.parametrize(
    "address",
    [
        "/pages/subscriptions?q={}",
        "/pages/schema?added={}",
        "/pages/login?next={}",
        "/pages/subscriptions/new?filter={}",
        "/pages/subscriptions/{}",
        "/pages/schema/grow/{}",
        "/pages/events/{}",
        "/pages/{}",
        "/pages/account?done={}",
        "/pages/account?webhooks={}",
        "/pages/notices?done={}",
        "/pages/subscriptions/s-1/deliveries?state={}",
    ],
)
def test_what_stands_in_an_address_is_text_too(ann: Visitor, visitor: Visitor, address: str) -> None:
    for who in (ann, visitor):
        who.get(address.format(quote(EVIL, safe="")))
        assert who.page.status_code in (200, 404)
        _harmless(who)


def test_what_was_typed_comes_back_as_text(ann: Visitor, visitor: Visitor) -> None:
    ann.get("/pages/subscriptions/new")
    ann.submit("/pages/subscriptions/new", text=EVIL, expiry=EVIL)
    assert ann.page.status_code == 422
    _harmless(ann)
    ann.get("/pages/schema/grow/domain")
    ann.submit("/pages/schema/grow/domain", name="", tree=EVIL, values=EVIL)
    _harmless(ann)
    ann.get("/pages/account")
    ann.submit("/pages/account/tokens", name=EVIL, password="wrong wrong")
    _harmless(ann)
    visitor.get("/pages/register")
    visitor.submit("/pages/register", username=EVIL, password="12345678", again="12345678")
    assert visitor.page.status_code == 422
    _harmless(visitor)
    visitor.log_in(EVIL)
    _harmless(visitor)
