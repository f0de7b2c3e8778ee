"""Documents on the pages: folded on an event's page, marked where it says why, names offered to the builder."""

from __future__ import annotations

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import growth
from tidings.schema.catalog import Attribute, AttributeUse, EventType
from tidings.schema.domain import Domain, Kind
from tidings.store import Grow

pytestmark = on_sqlite
EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"
ESCAPED = EVIL.replace("<", "&lt;").replace('"', "&quot;")
ARTICLE = f'<news><head code="{ESCAPED}"><title>A storm is coming</title></head><note>{ESCAPED}</note></news>'


def grow(service: Service) -> None:
    service.store.append(
        [
            Grow(growth.CreateDomain(Domain("news", Kind.DOCUMENT))),
            Grow(growth.CreateAttribute(Attribute("article", "news"))),
            Grow(growth.CreateEventType(EventType("story", (AttributeUse("article"),)))),
        ]
    )


def published(service: Service, document: str, id: str = "a1") -> int:
    answer = service.client.post(
        f"/v1/documents/story?id={id}", content=document.encode(), headers={"Content-Type": "application/xml"}
    )
    assert answer.status_code == 202, answer.text
    return int(answer.json()["position"])


def test_a_document_is_a_tree_whose_selected_nodes_are_marked(service: Service, ann: Visitor) -> None:
    grow(service)
    id = ann.subscribe("article xpath '//title' and not (article xpath '//note/@x')")
    position = published(service, ARTICLE)
    service.commit(service.store.committed() + 1, position, [(position, [id])])
    ann.get(f"/pages/events/{position}")
    (tree,) = (one for one in ann.tree.iter("div") if one.get("class") == "document")
    assert [one.text_content() for one in tree.iter("span") if one.get("class") == "node"] == [
        "news", "head", "title", "note",
    ]  # fmt: skip
    assert "A storm is coming" in tree.text_content()
    assert not list(tree.iter("mark"))
    ann.get(f"/pages/subscriptions/{id}/why/{position}")
    (tree,) = (one for one in ann.tree.iter("div") if one.get("class") == "document")
    assert [one.text for one in tree.iter("mark")] == ["title"]
    assert all(one.get("open") is not None for one in tree.iter("details"))
    for page in (f"/pages/events/{position}", f"/pages/subscriptions/{id}/why/{position}"):
        text = ann.get(page).text
        assert "<script>alert" not in text, page
        assert "<img" not in text, page
        assert "alert(2)&gt;49" not in text, page
        assert "script-src 'self'" in ann.page.headers["Content-Security-Policy"], page


def test_the_builder_is_told_the_names_of_recent_documents(service: Service, ann: Visitor, visitor: Visitor) -> None:
    grow(service)
    asked = {"attribute": "article", "path": "//head"}
    assert ann.client.get("/pages/paths", params=asked).json()["groups"] == []
    published(service, ARTICLE)
    groups = ann.client.get("/pages/paths", params=asked).json()["groups"]
    assert [(one["name"], one["path"]) for group in groups for one in group["options"]] == [
        ("title", "//head/title"),
        ("@code", "//head/@code"),
    ]
    offered = {one["name"]: one for one in ann.client.get("/pages/attributes").json()["attributes"]}
    assert offered["article"]["choices"][0]["takes"] == "path"
    for attribute in ("title", "no such attribute"):
        assert ann.client.get("/pages/paths", params={"attribute": attribute}).json() == {"groups": []}
    assert visitor.client.get("/pages/paths", params=asked).status_code == 401
