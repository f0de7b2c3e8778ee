"""The schema over HTTP: read in two forms, grown by pieces, its history."""

from urllib.parse import quote

import httpx
import pytest

from tests.service.conftest import Service, on_sqlite
from tidings.schema import json_form, xml_form


def test_both_forms_are_the_newest_catalog(service: Service) -> None:
    client = service.anonymous()
    plain = client.get("/v1/schema")
    assert plain.headers["content-type"] == "application/json"
    assert json_form.read(plain.content) == service.store.catalog()
    xml = client.get("/v1/schema", headers={"Accept": "text/html;q=0.1, application/xml"})
    assert xml.headers["content-type"] == "application/xml"
    assert xml_form.read(xml.content)[0] == service.store.catalog()


def test_an_unchanged_schema_is_not_sent_again(service: Service) -> None:
    tag = service.client.get("/v1/schema").headers["etag"]
    again = service.client.get("/v1/schema", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    service.client.post("/v1/schema/domains", json={"name": "weight", "kind": "numeric"})
    changed = service.client.get("/v1/schema", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag


def test_growth_by_each_piece(client: httpx.Client, service: Service) -> None:
    version = service.store.catalog().version
    steps = [
        ("/v1/schema/domains", {"name": "weight", "kind": "numeric"}),
        ("/v1/schema/attributes", {"name": "mass", "domain": "weight"}),
        ("/v1/schema/event-types", {"name": "parcel", "attributes": [{"name": "mass", "mandatory": True}]}),
        ("/v1/schema/event-types/parcel/attributes", {"name": "title", "unique": False}),
        ("/v1/schema/domains/brand/values", {"value": "fiat"}),
        ("/v1/schema/domains/category/values", {"node": "tandem", "parent": "bicycle"}),
        ("/v1/schema/domains/category/values", {"node": "food", "parent": None}),
    ]
    for number, (path, body) in enumerate(steps, 1):
        answer = client.post(path, json=body)
        assert answer.status_code == 201, answer.text
        assert answer.json() == {"version": version + number, "position": service.store.tail()}
    event = {"id": "p1", "event_type": ["parcel"], "attributes": {"mass": 2, "title": ["a", "b"]}}
    assert client.post("/v1/events", json=event).status_code == 202


def test_names_in_addresses_may_hold_anything(client: httpx.Client, service: Service) -> None:
    name = "a/b ü%?#&"
    assert (
        client.post("/v1/schema/domains", json={"name": name, "kind": "enumerated", "values": ["x"]}).status_code == 201
    )
    answer = client.post(f"/v1/schema/domains/{quote(name, safe='')}/values", json={"value": "y"})
    assert answer.status_code == 201, answer.text
    domain = service.store.catalog().domain(name)
    assert domain is not None
    assert domain.values == ("x", "y")


@on_sqlite
@pytest.mark.parametrize(
    ("path", "body", "status", "kind"),
    [
        ("/v1/schema/domains", {"name": "money", "kind": "numeric"}, 409, "name-taken"),
        ("/v1/schema/domains/category/values", {"node": "car", "parent": "vehicle"}, 409, "repeated-node"),
        ("/v1/schema/domains/brand/values", {"value": "mini"}, 409, "name-taken"),
        ("/v1/schema/domains/nope/values", {"value": "mini"}, 404, "no-such-name"),
        ("/v1/schema/event-types/nope/attributes", {"name": "price"}, 404, "no-such-name"),
        ("/v1/schema/event-types/car/attributes", {"name": "nope"}, 422, "unknown-name"),
        ("/v1/schema/event-types/car/attributes", {"name": "price", "mandatory": True}, 422, "mandatory-extension"),
        ("/v1/schema/attributes", {"name": "mass", "domain": "nope"}, 422, "unknown-name"),
        ("/v1/schema/attributes", {"name": "event_type", "domain": "money"}, 422, "illegal-name"),
        ("/v1/schema/domains", {"name": "weight", "kind": "numerical"}, 422, "schema-form"),
        ("/v1/schema/domains/brand/values", {"change": "append_value", "value": "x"}, 422, "schema-form"),
        ("/v1/schema/domains/brand/values", {"domain": "condition", "value": "x"}, 422, "schema-form"),
        ("/v1/schema/domains/brand/values", ["x"], 422, "schema-form"),
        ("/v1/schema/domains", 3, 422, "schema-form"),
    ],
)
def test_what_breaks_a_rule_is_refused(client: httpx.Client, path: str, body: object, status: int, kind: str) -> None:
    answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}")


def test_the_history_in_pages(client: httpx.Client, service: Service) -> None:
    for number in range(5):  # what is no change of the schema lies between
        client.post("/v1/subscriptions", json={"filter": f"price > {number}"})
        client.post("/v1/schema/domains", json={"name": f"new {number}", "kind": "numeric"})
    found, after = [], ""
    while after is not None:
        page = client.get("/v1/schema/history", params={"after": after, "limit": 4}).json()
        assert len(page["items"]) <= 4
        found += page["items"]
        after = page["next"]
    kept = [entry for entry in service.store.changes(0) if entry.kind == "schema"]
    assert [(one["position"], one["version"]) for one in found] == [(e.position, e.schema_version) for e in kept]
    assert found[-1]["change"] == {"change": "create_domain", "domain": {"name": "new 4", "kind": "numeric"}}


@on_sqlite
def test_growth_needs_the_scope(service: Service) -> None:
    answer = service.anonymous().post("/v1/schema/domains", json={"name": "weight", "kind": "numeric"})
    assert answer.status_code == 401
    service.store.change_account("tester", scopes=frozenset({"publish"}))
    token = service.anonymous().post(
        "/v1/tokens", json={"username": "tester", "password": "correct horse battery staple"}
    )
    headers = {"Authorization": f"Bearer {token.json()['token']}"}
    answer = service.anonymous().post("/v1/schema/domains", json={"name": "w", "kind": "numeric"}, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/insufficient-scope")
