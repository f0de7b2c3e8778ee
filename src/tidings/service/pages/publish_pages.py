"""/pages/publish: first the event types, then a form made from their view."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.events import BrokenRule, RefusedEvent
from tidings.schema import Catalog, Domain
from tidings.schema.catalog import AttributeUse, UnknownName
from tidings.schema.domain import Kind
from tidings.service.actions import publish as actions
from tidings.service.pages.forms.form import Form, read_form
from tidings.service.pages.forms.typed_number import no_number, typed_number
from tidings.service.pages.forms.waiting_form import typed
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.trees import Branch, branches, obstacle
from tidings.service.pages.visitors import gateway_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)

PUBLISH = "/pages/publish"
MOST_LISTED = 1_000  # values that are offered by the page itself
_MOST_CHECKED = 30  # values that are ticked instead of chosen, where there may be several
_PLACE = "value:"  # before the attribute, in the names of fields: no attribute can be taken for another field
_MEMBERS = ("id", "source", "time", "contact")


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute of the form. `id` is what labels and errors refer to: an attribute's name may have blanks.
    `control` says how its value is asked for."""

    id: str
    name: str
    place: str
    use: AttributeUse
    domain: Domain
    control: str
    options: tuple[str, ...]
    values: tuple[str, ...]
    errors: tuple[str, ...]
    tree: tuple[Branch, ...] = ()

    @property
    def hint(self) -> str:
        """What a label should add to the name."""
        asked = {"number": "a number", "time": "UTC"}.get(self.control, "")
        return ", ".join(filter(None, (asked, "" if self.use.unique else "one or several")))


@router.get(PUBLISH)
async def choosing(request: Request, published: int | None = None) -> Response:
    """Without `type` the types are asked for."""
    gateway = gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
    types = request.query_params.getlist("type")
    known = [name for name in types if catalog.event_type(name) is not None]
    if not known or len(known) != len(types) or "change" in request.query_params:
        problem = "choose at least one type" if "go" in request.query_params and not types else ""
        status = 422 if problem else 200
        return render(
            request, "publish_types.html", status, catalog=catalog, chosen=known, published=published, problem=problem
        )
    return _form_page(request, catalog, known, typed(request, PUBLISH) or Form([]), published=published)


@router.post(PUBLISH)
async def publish(request: Request) -> Response:
    gateway = gateway_of(request)
    form = await read_form(request)
    catalog = await gateway.read(gateway.store.catalog)
    types = form.filled("type")
    if form.has("more"):
        return _form_page(request, catalog, types, form, more=form.one("more"))
    raw = _raw(form, catalog, types)
    try:
        done = await actions.publish(gateway, raw, len(msgspec.json.encode(raw)))
    except RefusedEvent as refused:
        return _form_page(request, catalog, types, form, refused.errors, status=422)
    query = urlencode([*(("type", name) for name in types), ("published", done.position)])
    return RedirectResponse(f"/pages/publish?{query}", 303)


def _raw(form: Form, catalog: Catalog, types: list[str]) -> dict[str, Any]:
    """What was filled in, as the raw event that the API would take: only validation says what is wrong with it."""
    raw: dict[str, Any] = {"event_type": types}
    for member in ("source", "contact", "time"):
        if form.one(member):
            raw[member] = form.one(member)
    attributes: dict[str, Any] = {}
    for attribute in catalog.attributes:
        domain = catalog.domain_of(attribute.name)
        values = [_value(text, domain) for text in form.filled(_PLACE + attribute.name)]
        if values:
            attributes[attribute.name] = values[0] if len(values) == 1 else values
    raw["attributes"] = attributes
    return {"id": form.one("id") or _id(form.one("fresh"), raw)} | raw


def _id(fresh: str, raw: dict[str, Any]) -> str:
    """The same where a form is sent twice, another one where it was changed before that."""
    return sha256(f"{fresh or uuid4().hex} ".encode() + msgspec.json.encode(raw)).hexdigest()[:32]


def _value(text: str, domain: Domain | None) -> Any:
    number = typed_number(text) if domain is not None and domain.kind is Kind.NUMERIC else None
    return text if number is None else number


def _form_page(
    request: Request,
    catalog: Catalog,
    types: list[str],
    form: Form,
    broken: tuple[BrokenRule, ...] = (),
    more: str = "",
    published: int | None = None,
    status: int = 200,
) -> Response:
    try:
        view = catalog.view(types)
    except UnknownName as unknown:
        return render(
            request, "publish_types.html", 422, catalog=catalog, chosen=[], published=None, problem=str(unknown)
        )
    fields = [_field(f"field-{n}", use, catalog, form, broken, more) for n, use in enumerate(view.uses.values())]
    placed = {field.name for field in fields if field.errors}
    return render(
        request,
        "publish.html",
        status,
        types=types,
        fields=fields,
        form=form,
        fresh=form.one("fresh") or uuid4().hex,
        member_errors={rule.attribute: rule.message for rule in broken if rule.attribute in _MEMBERS},
        others=[rule.message for rule in broken if rule.attribute not in placed and rule.attribute not in _MEMBERS],
        refused=bool(broken),
        published=published,
    )


def _field(
    id: str, use: AttributeUse, catalog: Catalog, form: Form, broken: tuple[BrokenRule, ...], more: str
) -> Field:
    domain = catalog.domain_of(use.name)
    assert domain is not None
    place = _PLACE + use.name
    control = _control(domain, use)
    values = form.filled(place)
    if control not in ("ticks", "select", "tree"):
        empty = 0 if use.unique else 1
        if more == use.name:
            empty += 1
        values = values[:1] if use.unique else values
        values += [""] * (empty if values else max(1, empty))
    errors = tuple(_told(rule, domain) for rule in broken if rule.attribute == use.name)
    tree = branches(domain.hierarchy, MOST_LISTED) if control == "tree" else ()
    return Field(id, use.name, place, use, domain, control, _options(domain), tuple(values), errors, tree)


def _told(rule: BrokenRule, domain: Domain) -> str:
    """For the person who filled in the form."""
    if rule.rule == "mandatory":
        return "Enter a value."
    if rule.rule == "domain" and domain.kind is Kind.NUMERIC and isinstance(rule.value, str):
        return no_number(rule.value)
    return rule.message


def _control(domain: Domain, use: AttributeUse) -> str:
    match domain.kind:
        case Kind.ENUMERATED if domain.open:
            return "search"
        case Kind.ENUMERATED if use.unique and len(domain.values) <= MOST_LISTED:
            return "select"
        case Kind.ENUMERATED if len(domain.values) <= _MOST_CHECKED:
            return "ticks"
        case Kind.HIERARCHICAL if not obstacle(domain.hierarchy, MOST_LISTED):
            return "tree"
        case Kind.ENUMERATED | Kind.HIERARCHICAL:
            return "search"
        case Kind.NUMERIC:
            return "number"
        case Kind.TIME:
            return "time"
        case Kind.TEXT | Kind.DOCUMENT:
            return "area"
        case _:
            return "line"


def _options(domain: Domain) -> tuple[str, ...]:
    return domain.vocabulary if len(domain.vocabulary) <= MOST_LISTED else ()
