"""/pages/schema: the shared vocabulary as it is, and how it grew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import shown
from tidings.schema import Instant
from tidings.service.api.requests import After, read_cursor
from tidings.service.pages.forms.choices import values_like
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.trees import branches, obstacle
from tidings.service.pages.visitors import gateway_of, visitor
from tidings.store import Store
from tidings.store.journal.entries import Entry
from tidings.store.journal.journal import growth_before

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_STEPS = 100  # of the history, on one page
_LARGEST_TREE = 2_000  # nodes; a page with more would be too slow to open


@dataclass(frozen=True, slots=True)
class Step:
    accepted: Instant
    version: int
    told: str


@router.get("/pages/schema")
async def schema(request: Request, added: str = "", domain: str = "", q: str = "") -> Response:
    """`added`: the position of a step that was just made. Its words are the journal's, never the address's. `q`: what
    to look for among the values of a domain."""
    gateway = gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
    found = catalog.domain(domain)
    step = await gateway.read(_step, gateway.store, added)
    used = {
        attribute.name: [
            one.name for one in catalog.event_types if any(u.name == attribute.name for u in one.attributes)
        ]
        for attribute in catalog.attributes
    }
    return render(
        request,
        "schema.html",
        catalog=catalog,
        domains={domain.name: domain for domain in catalog.domains},
        used=used,
        trees={
            domain.name: branches(domain.hierarchy, _LARGEST_TREE)
            for domain in catalog.domains
            if domain.hierarchy.nodes
        },
        obstacles={domain.name: obstacle(domain.hierarchy, _LARGEST_TREE) for domain in catalog.domains},
        largest=_LARGEST_TREE,
        sought=(domain, q),
        values_found=await gateway.read(values_like, found, q.strip()) if found is not None and q.strip() else [],
        may_grow="schema" in visitor(request).scopes,
        added="" if step is None else _told(msgspec.json.decode(step.body)),
    )


@router.get("/pages/schema/history")
async def history(request: Request, before: After = "") -> Response:
    gateway = gateway_of(request)
    found = await gateway.read(_history, gateway.store, read_cursor(before) or None)
    shown = found[:_STEPS]
    steps = [Step(one.accepted, one.schema_version, _told(msgspec.json.decode(one.body))) for one in shown]
    next = shown[-1].position if len(found) > _STEPS else None
    return render(request, "history.html", steps=steps, next=next, first=not before)


def _history(store: Store, before: int | None) -> list[Entry]:
    """The newest first, and one more than a page has."""
    with store.database.reading() as connection:
        return growth_before(connection, before, _STEPS + 1)


def _step(store: Store, position: str) -> Entry | None:
    """None if it is not a step of growth."""
    if not (position.isascii() and position.isdecimal() and len(position) < 19):
        return None
    with store.database.reading() as connection:
        found = growth_before(connection, int(position) + 1, 1)
    return found[0] if found and found[0].position == int(position) else None


def _told(change: dict[str, Any]) -> str:
    """One step of growth in words."""
    match change.get("change"):
        case "create_domain":
            return f"domain {change['domain']['name']} ({change['domain']['kind']})"
        case "create_attribute":
            return f"attribute {change['attribute']['name']} (domain {change['attribute']['domain']})"
        case "create_event_type":
            uses = ", ".join(use["name"] for use in change["event_type"]["attributes"])
            return f"event type {change['event_type']['name']} with {uses or 'no attributes'}"
        case "set_headline":
            return f"headline {change['attribute']} of event type {change['event_type']}"
        case "set_statistics":
            return f"statistics of {change['attribute']} from {change['texts']:,} texts"
        case "extend_event_type":
            return f"attribute {change['attribute']['name']} of event type {change['event_type']}"
        case "append_value":
            return f"value {change['value']} of domain {change['domain']}"
        case "append_node":
            under = "as a root" if change.get("parent") is None else f"below {change['parent']}"
            return f"value {change['node']} of domain {change['domain']}, {under}"
        case _:
            return shown(change)
