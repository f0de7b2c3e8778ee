"""/pages/filter…: what the builder asks while somebody writes a filter. JSON, for the page's own script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from tidings.errors import LanguageError, TidingsError
from tidings.events.headline import values_of
from tidings.language.errors import ValueOutsideDomain
from tidings.schema import Catalog
from tidings.schema.domain import Kind
from tidings.service.actions.filters import read_filter
from tidings.service.api import problems
from tidings.service.api.requests import answered, questions_of
from tidings.service.api.shapes import Shape, read_body
from tidings.service.door.guarded_route import GuardedRoute
from tidings.service.gateway import Gateway
from tidings.service.pages.forms.builder import MOST_GROUPS, MOST_ROWS, MOST_VALUES, rows_of
from tidings.service.pages.forms.builder_rows import Join, Row, Rows
from tidings.service.pages.forms.builder_text import incomplete, text_of
from tidings.service.pages.forms.choices import choices, grouped, offered, values_like
from tidings.service.pages.forms.csrf import PROOF_HEADER, StaleForm, check_proof
from tidings.service.pages.forms.path_builder import path_offers
from tidings.service.pages.forms.typed_number import no_number
from tidings.service.pages.parts.render import templates
from tidings.service.pages.parts.time_chart import time_chart
from tidings.service.pages.parts.words import sentence, tried_on
from tidings.service.pages.publish_pages import MOST_LISTED
from tidings.service.pages.visitors import gateway_of, member
from tidings.service.workers.filter_trial import Trial
from tidings.store.pages.recent import decoded

router = APIRouter(include_in_schema=False, route_class=GuardedRoute)  # problems stay JSON: a script reads them

LAST = 10_000  # events that a filter is tried on while it is written
_LOOKED_AT = 200  # events in which documents are looked for


class RowGiven(Shape, frozen=True):
    attribute: str = ""
    operator: str = ""
    values: Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_VALUES)] = ()


class RowsGiven(Shape, frozen=True):
    join: str = "or"
    groups: Annotated[
        tuple[Annotated[tuple[RowGiven, ...], msgspec.Meta(max_length=MOST_ROWS)], ...],
        msgspec.Meta(max_length=MOST_GROUPS),
    ] = ()


class FilterGiven(Shape, frozen=True):
    """As text or as rows; `besides` is the subscription that is being edited."""

    text: str | None = None
    rows: RowsGiven | None = None
    besides: str = ""


@router.post("/pages/filter")
async def check(request: Request) -> Response:
    """The canonical text and the rows, or what is wrong and where."""
    owner = asked_by_us(request)
    gateway = gateway_of(request)
    given = await read_body(request, FilterGiven)
    return answered(await gateway.bind(owner, _checked, given, gateway))


@router.post("/pages/filter/count")
async def count(request: Request) -> Response:
    """How many of the last events of its types it matches, when these happened, and the newest of them."""
    owner = asked_by_us(request)
    given = await read_body(request, FilterGiven)
    questions = await questions_of(request)
    try:
        tried = await questions.try_on_newest(owner, given.text or "", LAST)
    except LanguageError as error:
        return answered({"error": place_of(error)})
    except TidingsError as error:
        return problems.answer(error)
    shown = str(would_match(request, tried))
    return answered({"matched": tried.matched, "scanned": tried.scanned, "told": tried_on(tried), "newest": shown})


def would_match(request: Request, tried: Trial | None) -> Markup:
    """When the events happened that a filter would have matched, and the newest of them, as a piece of its page."""
    if tried is None:
        return Markup("")
    catalog = gateway_of(request).store.known_catalog
    seen = [(decoded(one.payload), one) for one in tried.newest]
    chart = time_chart(tried.bars)
    return Markup(templates().get_template("would_match.html").render(seen=seen, catalog=catalog, chart=chart))


@router.post("/pages/filter/covered")
async def covered(request: Request) -> Response:
    """Which of its author's other subscriptions finds all of it. Apart from the count, since it takes up to 0.7 s where
    somebody has 5,000: the page asks when nobody types."""
    owner = asked_by_us(request)
    given = await read_body(request, FilterGiven)
    questions = await questions_of(request)
    try:
        found = await questions.covered_by(owner, given.text or "", given.besides)
    except LanguageError as error:
        return answered({"error": place_of(error)})
    except TidingsError as error:
        return problems.answer(error)
    return answered({"covered_by": found})


@router.get("/pages/attributes")
async def attributes(request: Request) -> Response:
    """What the builder can offer: each attribute, its operators, its values where they are not too many."""
    member(request)
    gateway = gateway_of(request)
    return answered(await gateway.read(lambda: _attributes(gateway.store.catalog())))


@router.get("/pages/values")
async def values(request: Request, attribute: str = "", domain: str = "", q: str = "") -> Response:
    """Values of an attribute, or of a domain, that has too many to offer at once. The schema is for everybody."""
    gateway = gateway_of(request)
    catalog = await gateway.read(gateway.store.catalog)
    found = catalog.domain(domain) if domain else catalog.domain_of(attribute)
    return answered({"values": [] if found is None else await gateway.read(values_like, found, q)})


@router.get("/pages/paths")
async def paths(request: Request, attribute: str = "", path: str = "") -> Response:
    """What may come next in a path into the attribute's documents."""
    member(request)
    return answered(await gateway_of(request).read(_path_offers, request, attribute, path))


def _path_offers(request: Request, attribute: str, path: str) -> dict[str, Any]:
    domain = gateway_of(request).store.catalog().domain_of(attribute)
    if domain is None or domain.kind is not Kind.DOCUMENT:
        return {"groups": []}
    newest = request.app.state.ends.newest(_LOOKED_AT)
    found = (values_of(seen.event["attributes"][attribute]) for seen in newest if attribute in seen.event["attributes"])
    return path_offers(path, domain.document, (str(one) for some in found for one in some))


def asked_by_us(request: Request) -> str:
    owner = member(request).owner
    try:
        check_proof(request, request.headers.get(PROOF_HEADER, ""))
    except StaleForm as stale:  # nothing is changed here, so the visitor's own page may ask on
        if stale.args[0] != owner:
            raise
    return owner


def _checked(given: FilterGiven, gateway: Gateway) -> dict[str, Any]:
    catalog = gateway.store.catalog()
    if given.rows is None:
        return _read(given.text or "", gateway, catalog)
    join: Join = "and" if given.rows.join == "and" else "or"
    groups = tuple(tuple(Row(row.attribute, row.operator, row.values) for row in group) for group in given.rows.groups)
    rows = Rows(join, groups)
    text, places = text_of(rows, catalog)
    return _read(text, gateway, catalog, places) | {"incomplete": incomplete(rows, places)}


def _read(
    text: str, gateway: Gateway, catalog: Catalog, places: Sequence[tuple[int, int, int, int]] = ()
) -> dict[str, Any]:
    """`places`: the place of each row in the text, if it was made from rows."""
    if not text.strip():
        return {"empty": True, "text": ""}
    try:
        filter, warnings = read_filter(text, gateway.store)
    except LanguageError as error:
        at = next(((group, row) for start, stop, group, row in places if start <= error.offset < stop), None)
        told = place_of(error)
        if at is not None and isinstance(error, ValueOutsideDomain):
            told |= _of_a_field(error, catalog)
        return {"text": text, "error": told | {"row": at}}
    rows = rows_of(filter.tree, catalog)
    json = None if rows is None else rows.as_json()
    return {"text": filter.text, "rows": json, "warnings": [sentence(one) for one in warnings]}


def _of_a_field(error: ValueOutsideDomain, catalog: Catalog) -> dict[str, Any]:
    """In a field nobody writes quotes: what is wrong with a number is said as the form for publishing says it."""
    attribute, value, _ = error.args[2:]
    domain = catalog.domain_of(attribute)
    if domain is None or domain.kind is not Kind.NUMERIC or not isinstance(value, str):
        return {}
    return {"told": problems.legible(no_number(value))}


def place_of(error: LanguageError) -> dict[str, Any]:
    """What is wrong, where, and the picture of the line with its caret."""
    _, _, picture = str(error).partition("\n")
    return {
        "told": sentence(problems.legible(error.problem())),
        "offset": error.offset,
        "line": error.line,
        "column": error.column,
        "picture": problems.legible(picture),
    }


def _attributes(catalog: Catalog) -> dict[str, Any]:
    groups = [{"name": name, "attributes": names} for name, names in grouped(catalog)]
    return {"attributes": [_attribute(name, catalog) for name in offered(catalog)], "groups": groups}


def _attribute(name: str, catalog: Catalog) -> dict[str, Any]:
    domain = catalog.domain_of(name)
    assert domain is not None
    multiple = catalog.may_be_multiple(name)
    few = len(domain.vocabulary) <= MOST_LISTED
    return {
        "name": name,
        "kind": str(domain.kind),
        "choices": [choice.as_json() for choice in choices(domain, multiple)],
        "values": list(domain.vocabulary) if few else [],
        "search": not few,
        "select": domain.kind is Kind.ENUMERATED and few and not domain.open,
        "peers": domain.name if domain.kind.listed else str(domain.kind),
    }
