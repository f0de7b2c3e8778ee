"""/pages/schema: the shared vocabulary as it is, and how it grew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import shown
from tidings.schema import Instant
from tidings.service.gateway import Gateway
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.trees import branches
from tidings.service.pages.visiting import gateway_of, visitor
from tidings.service.requests import After, read_cursor

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_STEPS = 100  # of the history, on one page
_SCANNED = 10_000  # entries looked at for it: subscriptions stand between the steps
_LARGEST_TREE = 2_000  # nodes; a page with more would be too slow to open


@dataclass(frozen=True, slots=True)
class Step:
    position: int
    accepted: Instant
    version: int
    told: str


@router.get("/pages/schema")
async def schema(request: Request, added: str = "") -> Response:
    gateway = gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
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
        largest=_LARGEST_TREE,
        may_grow="schema" in visitor(request).scopes,
        added=added[:400],
    )


@router.get("/pages/schema/history")
async def history(request: Request, after: After = "") -> Response:
    gateway = gateway_of(request)
    steps, next = await gateway.read(_history, gateway, read_cursor(after))
    return render(request, "history.html", steps=steps, next=next, after=after)


def _history(gateway: Gateway, after: int) -> tuple[list[Step], int | None]:
    found: list[Step] = []
    last = after
    for place, entry in enumerate(gateway.store.changes(after)):
        if place == _SCANNED or len(found) == _STEPS:
            return found, last
        last = entry.position
        if entry.kind == "schema":
            found.append(
                Step(entry.position, entry.accepted, entry.schema_version, _told(msgspec.json.decode(entry.body)))
            )
    return found, None


def _told(change: dict[str, Any]) -> str:
    """One step of growth in words."""
    match change.get("change"):
        case "create_domain":
            return f"domain {change['domain']['name']} ({change['domain']['kind']})"
        case "create_attribute":
            return f"attribute {change['attribute']['name']} over {change['attribute']['domain']}"
        case "create_event_type":
            uses = ", ".join(use["name"] for use in change["event_type"]["attributes"])
            return f"event type {change['event_type']['name']} with {uses or 'no attributes'}"
        case "extend_event_type":
            return f"event type {change['event_type']} may have {change['attribute']['name']} too"
        case "append_value":
            return f"domain {change['domain']} has the value {change['value']} too"
        case "append_node":
            under = "as a root" if change.get("parent") is None else f"below {change['parent']}"
            return f"domain {change['domain']} has {change['node']} too, {under}"
        case _:
            return shown(change)
