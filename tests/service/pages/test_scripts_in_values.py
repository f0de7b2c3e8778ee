"""What others write is text: in events, filters, names of the schema, searches, addresses."""

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import growth
from tidings.schema.catalog import Attribute, AttributeUse, EventType
from tidings.schema.domain import Domain, Kind
from tidings.schema.hierarchy import Hierarchy
from tidings.store import Grow

pytestmark = on_sqlite
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
    answer = service.client.post("/events", json=event)
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
    ],
)
def test_what_stands_in_an_address_is_text_too(ann: Visitor, visitor: Visitor, address: str) -> None:
    from urllib.parse import quote

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
