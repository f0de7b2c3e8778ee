"""The AsyncAPI document: every reference leads somewhere, and its schemas decide as the JSON Schema does."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given

from tests.service.test_json_schema import ANTIQUE_CAR, ANTIQUES, AUCTIONS, FIRST, LAST
from tests.strategies.schemas import catalogs
from tidings.schema import Catalog
from tidings.service.api.asyncapi import asyncapi


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


def accepts(catalog: Catalog, schema: str, raw: object) -> bool:
    document = asyncapi(catalog)
    # AsyncAPI's own schemas are a superset of draft 7.
    found = {"$ref": f"#/components/schemas/{schema}", "components": document["components"]}
    return bool(jsonschema_rs.Draft7Validator(found).is_valid(raw))


@given(catalogs())
def test_every_reference_leads_somewhere(catalog: Catalog) -> None:
    document = asyncapi(catalog)
    found = list(references(document))
    assert len(found) > 10
    for reference in found:
        assert isinstance(resolved(document, reference), dict)
    for part in document["components"].values():
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in part)  # AsyncAPI 3.0, components


def test_it_receives_events_and_sends_notifications() -> None:
    document = asyncapi(AUCTIONS)
    assert document["asyncapi"] == "3.0.0"
    operations = {name: operation["action"] for name, operation in document["operations"].items()}
    assert operations == {"publishEvent": "receive", "notify": "send"}
    assert [channel["address"] for channel in document["channels"].values()] == ["/v1/events", "/v1/notifications"]
    assert document["info"]["version"].endswith(f"+schema.{AUCTIONS.version}")


def test_a_message_for_each_event_type() -> None:
    messages = asyncapi(AUCTIONS)["components"]["messages"]
    assert [message["name"] for message in messages.values()] == ["event", "notification", "auction", "car"]


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
    assert accepts(AUCTIONS, "notification", notification)
    assert accepts(AUCTIONS, "notification", notification | {"event": None})
    assert not accepts(AUCTIONS, "notification", notification | {"event": LAST})
