"""/pages/schema/grow/…: one form for each way in which the schema may grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import SchemaError
from tidings.schema import Catalog, Domain, growth
from tidings.schema.catalog import Attribute, AttributeUse, EventType, UnknownName
from tidings.schema.domain import KIND_OPERATORS, Kind, RepeatedValue
from tidings.schema.hierarchy import Hierarchy, RepeatedNode, TooDeep, UnknownNode
from tidings.service.pages.form import Form, read_form
from tidings.service.pages.page_route import NoSuchPage, PageRoute
from tidings.service.pages.rendering import render
from tidings.service.pages.visiting import allowed, gateway_of
from tidings.service.pages.wording import sentence
from tidings.service.problems import status_of
from tidings.service.requests import answered
from tidings.store import Grow

router = APIRouter(route_class=PageRoute, include_in_schema=False)

ROWS = 3  # attributes that the form of an event type offers at once
_MOST_ROWS = 200


class WrongField(SchemaError):
    """A field of a form, and what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)

    def __str__(self) -> str:
        return str(self.args[1])


class Way(NamedTuple):
    """`read` makes the change of a form; `main` is the field where an error stands that names none; `added` says what
    was added, with the fields of the form."""

    name: str
    title: str
    read: Callable[[Form, Catalog], growth.Change]
    main: str
    added: str


def _domain(form: Form, catalog: Catalog) -> growth.Change:
    kind_name = form.one("kind")
    if kind_name not in set(Kind):
        raise WrongField("kind", "choose a kind")
    kind = Kind(kind_name)
    values = tuple(_lines(form.one("values"))) if kind is Kind.ENUMERATED else ()
    tree = _tree(form.exactly("tree")) if kind is Kind.HIERARCHICAL else Hierarchy()
    operators = tuple(form.filled("operator")) or None
    ordered = kind is Kind.ENUMERATED and form.has("ordered")
    if operators is not None:
        legal = KIND_OPERATORS[kind] if kind is not Kind.ENUMERATED or ordered else ("=", "!=")
        operators = tuple(one for one in operators if one in legal) or None
    return growth.CreateDomain(Domain(_name(form), kind, operators, values, ordered, tree))


def _attribute(form: Form, catalog: Catalog) -> growth.Change:
    if not form.one("domain"):
        raise WrongField("domain", "choose the domain of its values")
    return growth.CreateAttribute(Attribute(_name(form), form.one("domain")))


def _event_type(form: Form, catalog: Catalog) -> growth.Change:
    uses = []
    for number in range(_MOST_ROWS):
        if name := form.one(f"attribute{number}"):
            uses.append(AttributeUse(name, form.has(f"mandatory{number}"), unique=not form.has(f"several{number}")))
    return growth.CreateEventType(EventType(_name(form), tuple(uses)))


def _extension(form: Form, catalog: Catalog) -> growth.Change:
    if not form.one("event_type"):
        raise WrongField("event_type", "choose an event type")
    if not form.one("attribute"):
        raise WrongField("attribute", "choose an attribute")
    use = AttributeUse(form.one("attribute"), mandatory=False, unique=not form.has("several"))
    return growth.ExtendEventType(form.one("event_type"), use)


def _value(form: Form, catalog: Catalog) -> growth.Change:
    name = form.one("domain")
    domain = catalog.domain(name)
    if domain is None:
        raise WrongField("domain", "choose a domain")
    if not form.one("value"):
        raise WrongField("value", "write the new value")
    if domain.kind is Kind.HIERARCHICAL:
        return growth.AppendNode(name, form.one("value"), form.one("parent") or None)
    return growth.AppendValue(name, form.one("value"))


WAYS = {
    way.name: way
    for way in (
        Way("domain", "Add a domain", _domain, "name", "domain {name}"),
        Way("attribute", "Add an attribute", _attribute, "name", "attribute {name}"),
        Way("event-type", "Add an event type", _event_type, "name", "event type {name}"),
        Way("extension", "Extend an event type", _extension, "attribute", "attribute {attribute} of {event_type}"),
        Way("value", "Add a value", _value, "value", "value {value} of {domain}"),
    )
}


@router.get("/pages/schema/grow/{way}")
async def growing(way: str, request: Request) -> Response:
    allowed(request, "schema")
    return await _page(request, _way(way), Form(list(request.query_params.multi_items())), {})


@router.post("/pages/schema/grow/{way}")
async def grow(way: str, request: Request) -> Response:
    allowed(request, "schema")
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
        await gateway.append_one(Grow(change))
    except SchemaError as error:
        return await _page(request, found, form, {_field(error, found): str(error)}, status_of(error))
    added = found.added.format_map({name: value.strip() for name, value in form})
    return RedirectResponse(f"/pages/schema?{urlencode({'added': added})}", 303)


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
        errors.setdefault(_field(error, way), str(error))
    told = {field: sentence(problem) for field, problem in errors.items()}
    return {"errors": told, "told": "" if errors else "It can be added."}


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
        operators=KIND_OPERATORS[Kind.NUMERIC] + ("contains",),
        growing=[one for one in catalog.domains if one.kind in (Kind.ENUMERATED, Kind.HIERARCHICAL)],
    )


_KINDS = {
    Kind.NUMERIC: "numeric: numbers",
    Kind.STRING: "string: short texts",
    Kind.ENUMERATED: "enumerated: one of a list",
    Kind.HIERARCHICAL: "hierarchical: a place in a tree",
    Kind.TEXT: "text: long texts",
    Kind.TIME: "time: points in time",
}


def _way(name: str) -> Way:
    if name not in WAYS:
        raise NoSuchPage
    return WAYS[name]


def _name(form: Form) -> str:
    if not form.one("name"):
        raise WrongField("name", "give it a name")
    return form.one("name")


def _rows(form: Form) -> int:
    sent = [number for number in range(_MOST_ROWS) if form.has(f"attribute{number}")]
    more = ROWS if form.has("more") else 0
    return min(_MOST_ROWS, max(ROWS, sent[-1] + 1 if sent else 0) + more)


def _lines(text: str) -> list[str]:
    """One value a line; where there is one line, commas part them, as the thesis's form had it."""
    parts = text.split("\n") if "\n" in text else text.split(",")
    return [part.strip() for part in parts if part.strip()]


def _tree(text: str) -> Hierarchy:
    """One node a line, below the nearest line above that is indented less."""
    nodes: list[str] = []
    parents: list[int] = []
    open: list[tuple[int, int]] = []  # how far indented, which node
    for line in text.expandtabs(4).split("\n"):
        if not (name := line.strip()):
            continue
        indent = len(line) - len(line.lstrip())
        while open and open[-1][0] >= indent:
            open.pop()
        parents.append(open[-1][1] if open else -1)
        open.append((indent, len(nodes)))
        nodes.append(name)
    return Hierarchy(tuple(nodes), tuple(parents))


def _field(error: SchemaError, way: Way) -> str:
    """The field that an error belongs to."""
    match error:
        case WrongField():
            return str(error.args[0])
        case UnknownNode():
            return "parent"
        case RepeatedNode() | TooDeep():
            return "tree" if way.name == "domain" else "value"
        case RepeatedValue():
            return "values"
        case UnknownName():
            return {"domain": "domain", "event type": "event_type"}.get(error.args[0], way.main)
        case _:
            return way.main
