"""/pages/schema/grow/…: one form for each way in which the schema may grow."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import SchemaError
from tidings.schema import Catalog, Domain, growth
from tidings.schema.catalog import Attribute, EventType
from tidings.schema.domain import Kind
from tidings.service.actions import schema
from tidings.service.api.problems import status_of
from tidings.service.api.requests import answered
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.growth_forms import MOST_ROWS, WAYS, Way, field_of
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import NoSuchPage, PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.words import sentence
from tidings.service.pages.visitors import gateway_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)

ROWS = 3  # attributes that the form of an event type offers at once
_OPERATORS = tuple(dict.fromkeys(operator for kind in Kind for operator in kind.operators))


@router.get("/pages/schema/grow/{way}")
async def growing(way: str, request: Request) -> Response:
    form = typed(request, request.url.path) or Form(list(request.query_params.multi_items()))
    return await _page(request, _way(way), form, {})


@router.post("/pages/schema/grow/{way}")
async def grow(way: str, request: Request) -> Response:
    found = _way(way)
    form = await read_form(request)
    if form.has("more"):
        return await _page(request, found, form, {})
    gateway = gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
    if form.has("check"):
        return answered(await gateway.read(_checked, found, form, catalog))
    try:
        change = await gateway.read(found.read, form, catalog)
        added = await schema.grow(gateway, (change,))
    except SchemaError as error:
        return await _page(request, found, form, {field_of(error, found): str(error)}, status_of(error))
    return RedirectResponse(f"/pages/schema?added={added.position}", 303)


def _checked(way: Way, form: Form, catalog: Catalog) -> dict[str, Any]:
    """For the page's script, while the form is filled in: what is wrong, by its field. A name is judged by itself, so
    that it is known to be taken before the rest is there."""
    errors: dict[str, str] = {}
    given = form.one("name")
    alone: dict[str, growth.Change] = {
        "domain": growth.CreateDomain(Domain(given, Kind.NUMERIC)),
        "event-type": growth.CreateEventType(EventType(given, ())),
    }
    if catalog.domains:
        alone["attribute"] = growth.CreateAttribute(Attribute(given, catalog.domains[0].name))
    if given and way.name in alone:
        try:
            growth.grow(catalog, alone[way.name])
        except SchemaError as error:
            errors["name"] = str(error)
    try:
        growth.grow(catalog, way.read(form, catalog))
    except SchemaError as error:
        errors.setdefault(field_of(error, way), str(error))
    told = {field: sentence(problem) for field, problem in errors.items()}
    return {"errors": told, "told": "" if errors else "This can be added."}


async def _page(request: Request, way: Way, form: Form, errors: dict[str, str], status: int = 200) -> Response:
    gateway = gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
    return render(
        request,
        "grow.html",
        status,
        way=way.name,
        title=way.title,
        form=form,
        errors=errors,
        catalog=catalog,
        rows=range(_rows(form)),
        kinds=[(str(kind), _KINDS[kind]) for kind in Kind],
        operators=[(one, [str(kind) for kind in Kind if one in kind.operators]) for one in _OPERATORS],
        growing=[one for one in catalog.domains if one.kind.listed],
    )


_KINDS = {
    Kind.NUMERIC: "numeric: numbers",
    Kind.STRING: "string: short texts",
    Kind.ENUMERATED: "enumerated: one of a list",
    Kind.HIERARCHICAL: "hierarchical: a place in a tree",
    Kind.TEXT: "text: long texts",
    Kind.TIME: "time: points in time",
    Kind.PLACE: "place: points on the earth",
    Kind.DOCUMENT: "document: XML",
}


def _way(name: str) -> Way:
    if name not in WAYS:
        raise NoSuchPage
    return WAYS[name]


def _rows(form: Form) -> int:
    sent = [number for number in range(MOST_ROWS) if form.has(f"attribute{number}")]
    more = ROWS if form.has("more") else 0
    return min(MOST_ROWS, max(ROWS, sent[-1] + 1 if sent else 0) + more)
