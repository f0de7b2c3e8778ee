"""A catalog as people read it: one line for `repr`, one line per attribute for `print`, a table for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tidings.schema.domain import Domain

if TYPE_CHECKING:
    from tidings.schema.catalog import AttributeUse, Catalog

_MOST_NAMED = 6  # words or names in one line


def summary(catalog: Catalog) -> str:
    """`<Schema version 1: event type car; attributes price, brand>`"""
    types = _named("event type", catalog.event_type_names)
    attributes = _named("attribute", tuple(attribute.name for attribute in catalog.attributes))
    return f"<Schema version {catalog.version}: {types}; {attributes}>"


def lines(catalog: Catalog) -> str:
    """Every event type with its attributes, one in a line."""
    written = [f"Schema, version {catalog.version}"]
    for name, attribute, kind, use in _rows(catalog):
        written += [f"{name}"] if not attribute else [f"  {attribute}: {kind}{f', {use}' if use else ''}"]
    return "\n".join(written)


def table(catalog: Catalog) -> str:
    """HTML for a notebook."""
    cells = ((name, attribute, kind, use) for name, attribute, kind, use in _rows(catalog) if attribute)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
    head = "".join(f"<th>{word}</th>" for word in ("event type", "attribute", "kind", "use"))
    return f"<p>Schema, version {catalog.version}</p><table><tr>{head}</tr>{body}</table>"


def _rows(catalog: Catalog) -> list[tuple[str, str, str, str]]:
    """Event type, attribute, kind and use; before its attributes a row with the event type alone."""
    rows = []
    for event_type in catalog.event_types:
        rows.append((event_type.name, "", "", ""))
        for use in event_type.attributes:
            domain = catalog.domain_of(use.name)
            assert domain is not None
            rows.append((event_type.name, use.name, _kind(domain), _use(use)))
    return rows


def _kind(domain: Domain) -> str:
    if not domain.kind.listed:
        return str(domain.kind)
    words = domain.vocabulary
    more = f", … {len(words):,} in all" if len(words) > _MOST_NAMED else ""
    return f"{domain.kind} ({', '.join(words[:_MOST_NAMED])}{more})"


def _use(use: AttributeUse) -> str:
    return ", ".join(
        word for word, holds in (("mandatory", use.mandatory), ("several values", not use.unique)) if holds
    )


def _named(what: str, names: tuple[str, ...]) -> str:
    if not names:
        return f"no {what}s"
    more = f", … ({len(names):,})" if len(names) > _MOST_NAMED else ""
    return f"{what}{'s' if len(names) > 1 else ''} {', '.join(names[:_MOST_NAMED])}{more}"
