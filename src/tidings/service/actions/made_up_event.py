"""An event that nobody published, valid under a catalog: for test deliveries and for examples in documents."""

from __future__ import annotations

from typing import Any

from tidings.errors import SchemaError
from tidings.schema import Catalog, Domain, EventType, Instant, Kind
from tidings.schema.catalog import EVENT_TYPE

ID = "made-up"


def made_up_event(catalog: Catalog, event_type: EventType) -> dict[str, Any] | None:
    """Binds every attribute that can have a value; None where a mandatory one cannot."""
    values = {use.name: _example(catalog.domain_of(use.name)) for use in event_type.attributes}
    if any(use.mandatory and values[use.name] is None for use in event_type.attributes):
        return None
    attributes = {name: value for name, value in values.items() if value is not None}
    return {"id": ID, EVENT_TYPE: [event_type.name], "attributes": attributes}


def _example(domain: Domain | None) -> int | str | list[float] | None:
    match domain.kind if domain is not None else None:
        case None:
            return None
        case Kind.NUMERIC:
            return 1
        case Kind.TIME:
            return str(Instant.parse("2026-01-01T00:00:00Z"))
        case Kind.PLACE:
            return [37.8, -122.4]
        case Kind.STRING | Kind.TEXT:
            return "example"
        case Kind.DOCUMENT:
            assert domain is not None
            return _document(domain)
        case _:
            assert domain is not None
            return domain.vocabulary[0] if domain.vocabulary else "example" if domain.open else None


def _document(domain: Domain) -> str | None:
    """The smallest of its root; none where the grammar asks for more."""
    prefix, _, local = (domain.document.root or "example").rpartition(":")
    namespace = domain.document.prefixes.get(prefix, "")
    written = f'<{local} xmlns="{namespace}"/>' if namespace else f"<{local}/>"
    try:
        return str(domain.canonical(written))
    except SchemaError:
        return None
