"""The AsyncAPI document: every reference leads somewhere, its schemas decide as the JSON Schema does, its examples are
valid, and what the service really sends is what it says."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given

from tests.service.api.test_json_schema import ANTIQUE_CAR, ANTIQUES, AUCTIONS, FIRST, LAST
from tests.service.conftest import SETTINGS, Service, on_sqlite
from tests.service.delivering import find, send, subscribed
from tests.service.receiver import receiver
from tests.strategies.schemas import catalogs
from tidings.events import validate
from tidings.notifying.signatures import WrongSignature, verify
from tidings.schema import Catalog
from tidings.service.actions.made_up_event import made_up_event
from tidings.service.api.documents.asyncapi import asyncapi
from tidings.service.api.documents.webhook_messages import EXAMPLE_SECRET
from tidings.settings import Settings

ADDRESS = "https://tidings.example.org"


def references(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        if isinstance(document.get("$ref"), str):
            yield document["$ref"]
        for below in document.values():
            yield from references(below)
    elif isinstance(document, list):
        for below in document:
            yield from references(below)


def resolved(document: dict[str, Any], reference: str) -> Any:
    assert reference.startswith("#/")
    found: Any = document
    for name in reference[2:].split("/"):
        found = found[name]
    return found


def validator_of(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    """AsyncAPI's own schemas are a superset of draft 7."""
    return jsonschema_rs.Draft7Validator({"allOf": [schema], "components": document["components"]})


def accepts(catalog: Catalog, schema: str, raw: object) -> bool:
    document = asyncapi(catalog, ADDRESS)
    return bool(validator_of(document, {"$ref": f"#/components/schemas/{schema}"}).is_valid(raw))


@given(catalogs())
def test_every_reference_leads_somewhere(catalog: Catalog) -> None:
    document = asyncapi(catalog, ADDRESS)
    found = list(references(document))
    assert len(found) > 10
    for reference in found:
        assert isinstance(resolved(document, reference), dict)
    for part in document["components"].values():
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in part)  # AsyncAPI 3.0, components


def test_it_receives_events_and_sends_notifications_in_three_ways() -> None:
    document = asyncapi(AUCTIONS, ADDRESS)
    assert document["asyncapi"] == "3.0.0"
    assert document["servers"]["service"]["host"] == "tidings.example.org"
    operations = {name: operation["action"] for name, operation in document["operations"].items()}
    assert operations == {
        "publishEvent": "receive",
        "listNotifications": "send",
        "streamNotifications": "send",
        "deliverWebhook": "send",
        "requestConsent": "send",
    }
    assert {name: channel["address"] for name, channel in document["channels"].items()} == {
        "events": "/v1/events",
        "notifications": "/v1/notifications",
        "stream": "/v1/notifications/stream",
        "webhook": None,
    }
    assert document["info"]["version"].endswith(f"+schema.{AUCTIONS.version}")


def test_a_message_for_each_event_type() -> None:
    messages = asyncapi(AUCTIONS, ADDRESS)["components"]["messages"]
    assert messages.keys() >= {"event", "type-auction", "type-car", "webhookNotification", "webhookDigest"}


@pytest.mark.parametrize(("raw", "expected"), [(FIRST, True), (LAST, False)])
def test_events(raw: object, expected: bool) -> None:
    assert accepts(AUCTIONS, "event", raw) is expected
    assert accepts(AUCTIONS, "event-type-car", raw) is expected


def test_an_event_of_one_type() -> None:
    both = {"event_type": ["antique", "car"], "attributes": ANTIQUE_CAR}
    assert accepts(ANTIQUES, "event-type-car", both)
    assert not accepts(ANTIQUES, "event-type-repainted", both)


def test_notifications() -> None:
    notification = {"id": "7.s-1", "subscription": "s-1", "event": FIRST, "matched_at": "2026-05-01T10:00:00Z"}
    assert accepts(AUCTIONS, "Notification", notification)
    assert accepts(AUCTIONS, "Notification", notification | {"event": None})
    assert not accepts(AUCTIONS, "Notification", notification | {"event": LAST})


@given(catalogs())
def test_every_example_is_valid(catalog: Catalog) -> None:
    document = asyncapi(catalog, ADDRESS)
    for message in document["components"]["messages"].values():
        for example in message.get("examples", ()):
            for part, value in example.items():
                if part in ("payload", "headers"):
                    validator_of(document, message[part]).validate(value)


@given(catalogs())
def test_the_example_of_an_event_type_is_accepted_under_the_catalog(catalog: Catalog) -> None:
    for event_type in catalog.event_types:
        event = made_up_event(catalog, event_type)
        if event is not None:
            assert validate(event, catalog).event_types == (event_type.name,)
        else:
            mandatory = [use.name for use in event_type.attributes if use.mandatory]
            domains = [catalog.domain_of(name) for name in mandatory]
            assert any(domain.kind.listed and not domain.vocabulary for domain in domains if domain is not None)


def test_each_kind_of_message_has_an_example() -> None:
    messages = asyncapi(AUCTIONS, ADDRESS)["components"]["messages"]
    assert all(message["examples"] for message in messages.values())


@pytest.mark.parametrize("name", ["webhookNotification", "webhookDigest"])
def test_the_examples_of_webhooks_are_signed(name: str) -> None:
    (example,) = asyncapi(AUCTIONS, ADDRESS)["components"]["messages"][name]["examples"]
    headers, body = example["headers"], msgspec.json.encode(example["payload"])
    moment = int(headers["webhook-timestamp"])
    assert verify(headers, body, EXAMPLE_SECRET, moment) == headers["webhook-id"]
    with pytest.raises(WrongSignature):
        verify(headers, body + b" ", EXAMPLE_SECRET, moment)


class TestWhatIsReallySent:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, allow_loopback_webhooks=True)

    @on_sqlite
    def test_to_webhooks(self, service: Service) -> None:
        document = asyncapi(service.store.catalog(), ADDRESS)
        with receiver() as hook:
            one = subscribed(service.client, kind="webhook", url=hook.url)["id"]
            many = subscribed(service.client, kind="webhook", url=hook.url, digest={"count": 2})["id"]
            find(service, one, many)
            find(service, one, many, name="e2")
            send(service)
            assert service.client.post(f"/v1/subscriptions/{one}/test-delivery").json()["ok"]
            received = hook.wait(4)
        kinds = [each.headers["ce-type"] for each in received]
        assert sorted(kinds) == ["tidings.digest", *["tidings.notification"] * 3]
        assert sum("ce-test" in each.headers for each in received) == 1
        messages = {message["name"]: message for message in document["components"]["messages"].values()}
        for each in received:
            message = messages[each.headers["ce-type"]]
            validator_of(document, message["payload"]).validate(each.json)
            validator_of(document, message["headers"]).validate(each.headers)

    @on_sqlite
    def test_to_streams(self, service: Service) -> None:
        document = asyncapi(service.store.catalog(), ADDRESS)
        subscription = service.client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"]
        find(service, subscription)
        message = document["components"]["messages"]["serverSentNotification"]
        with service.client.stream("GET", document["channels"]["stream"]["address"]) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            fields: dict[str, str] = {}
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                fields[name] = value
                if name == "data":
                    break
        validator_of(document, message["payload"]).validate(json.loads(fields["data"]))
        validator_of(document, message["headers"]).validate({name: fields[name] for name in ("id", "event")})
