"""/schema.json, /asyncapi.json and /dtds/*: open to all, of the newest schema, not sent again when nothing changed."""

import jsonschema_rs
import pytest

from tests.service.conftest import Service, car, on_sqlite
from tidings.schema import json_form
from tidings.schema.dtd import dtds
from tidings.schema.growth import AppendValue
from tidings.service.api.documents.asyncapi import asyncapi
from tidings.service.api.documents.json_schema import json_schema
from tidings.store import Grow

LADA = Grow(AppendValue("brand", "lada"))


def test_the_json_schema(service: Service) -> None:
    answer = service.anonymous().get("/schema.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.json() == json_schema(service.store.catalog())
    assert jsonschema_rs.is_valid(answer.json(), car())


def test_the_asyncapi_document(service: Service) -> None:
    answer = service.anonymous().get("/asyncapi.json")
    assert answer.status_code == 200
    assert answer.json() == asyncapi(service.store.catalog(), service.settings.links_lead_to)


def test_every_dtd(service: Service) -> None:
    guest = service.anonymous()
    expected = dtds(service.store.catalog())
    assert "pub_event.dtd" in expected
    for name, text in expected.items():
        answer = guest.get(f"/dtds/{name}")
        assert answer.headers["content-type"] == "application/xml-dtd"
        assert answer.text == text


@on_sqlite
def test_no_such_dtd(service: Service) -> None:
    for name in ("none.dtd", "pub_event", "..%2Fpub_event.dtd"):
        answer = service.anonymous().get(f"/dtds/{name}")
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
    assert "pub_event.dtd" in service.anonymous().get("/dtds/none.dtd").json()["detail"]


@on_sqlite
@pytest.mark.parametrize("path", ["/schema.json", "/asyncapi.json", "/dtds/pub_event.dtd"])
def test_what_has_not_changed_is_not_sent_again(service: Service, path: str) -> None:
    guest = service.anonymous()
    first = guest.get(path)
    tag = first.headers["ETag"]
    for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = guest.get(path, headers={"If-None-Match": given})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert guest.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    service.store.append([LADA])
    newer = guest.get(path, headers={"If-None-Match": tag})
    assert newer.status_code == 200
    assert newer.headers["ETag"] != tag


@on_sqlite
def test_growth_is_seen_at_once(service: Service) -> None:
    guest = service.anonymous()
    lada = car(brand="lada")
    assert not jsonschema_rs.is_valid(guest.get("/schema.json").json(), lada)
    service.store.append([LADA])
    document = guest.get("/schema.json").json()
    assert jsonschema_rs.is_valid(document, lada)
    assert document["$id"].endswith(f":{service.store.catalog().version}")
    assert json_form.write(service.store.catalog())["domains"][3]["values"][-1] == "lada"
