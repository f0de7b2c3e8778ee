"""An XML document as a raw event: the document is one attribute, the others are texts, as a query string has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.errors import EventError, suggestion
from tidings.events.numerals import numeral
from tidings.schema import Catalog, Kind
from tidings.schema.catalog import EVENT_TYPE, UnknownName
from tidings.schema.documents.errors import DocumentError
from tidings.schema.documents.wellformed import as_utf8

ENVELOPE = ("id", "source", "time", "contact")


class NoDocumentAttribute(EventError):
    """An event type has no attribute that takes a document, or several: the types, and those it has."""

    def __init__(self, event_types: tuple[str, ...], known: tuple[str, ...]) -> None:
        super().__init__(event_types, known)

    def __str__(self) -> str:
        event_types, known = self.args
        named = " and ".join(map(repr, event_types))
        if not known:
            return f"event type {named} has no attribute for documents; give the event as JSON"
        listed = ", ".join(map(repr, known))
        return f"event type {named} has several attributes for documents ({listed}); give the event as JSON"


def document_attribute(event_types: Sequence[str], catalog: Catalog) -> str:
    """The attribute that takes a document: the only mandatory one, else the only one. Raises NoDocumentAttribute or
    UnknownName."""
    uses = [use for use in catalog.view(event_types).uses.values() if use.name in catalog.document_attributes]
    mandatory = [use.name for use in uses if use.mandatory]
    names = mandatory if len(mandatory) == 1 else [use.name for use in uses]
    if len(names) != 1:
        raise NoDocumentAttribute(tuple(event_types), tuple(sorted(names)))
    return names[0]


def document_event(
    document: str | bytes, event_types: Sequence[str], catalog: Catalog, given: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """A raw event, for `validate`. `given` has texts by name: those of the envelope, and attributes. Raises
    NoDocumentAttribute or UnknownName."""
    name = document_attribute(event_types, catalog)
    raw: dict[str, Any] = {EVENT_TYPE: list(event_types)}
    attributes: dict[str, Any] = {name: as_text(document)}
    for other, texts in given.items():
        if other in ENVELOPE:
            raw[other] = texts[-1]
            continue
        domain = catalog.domain_of(other)
        numeric = domain is not None and domain.kind is Kind.NUMERIC
        values = [numeral(text) if numeric else text for text in texts]
        attributes[other] = values[0] if len(values) == 1 else values
    return raw | {"attributes": attributes}


def as_text(document: str | bytes) -> str:
    """Bytes that are not text stay in it as halves of surrogate pairs, for `validate` to say where they are."""
    if isinstance(document, str):
        return document
    try:
        return as_utf8(document).decode(errors="surrogateescape")
    except DocumentError:  # of an encoding that is not read; what is wrong is told with the value
        return document.decode(errors="surrogateescape")


def event_type_of_documents(catalog: Catalog, wanted: str | None = None) -> str:
    """The event type whose events are single documents; by default the only one. Raises UnknownName or
    NoDocumentAttribute."""
    if wanted is not None:
        if catalog.event_type(wanted) is None:
            raise UnknownName("event type", wanted, "documents", catalog.event_type_names)
        document_attribute((wanted,), catalog)
        return wanted
    found = []
    for event_type in catalog.event_types:
        try:
            name = document_attribute((event_type.name,), catalog)
        except NoDocumentAttribute:
            continue
        if all(use.name == name or not use.mandatory for use in event_type.attributes):
            found.append(event_type.name)
    if len(found) != 1:
        raise UnclearDocuments(tuple(found))
    return found[0]


class UnclearDocuments(EventError):
    """Which event type do these documents have? Those that they could have."""

    def __init__(self, known: tuple[str, ...]) -> None:
        super().__init__(known)

    def __str__(self) -> str:
        (known,) = self.args
        if not known:
            return "the schema has no event type whose events are single documents"
        return f"the schema has several event types of documents; say which{suggestion('', known)}"
