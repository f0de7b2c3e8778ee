"""/pages/subscriptions/{id}: what one subscription found, the newest first, live, and why each was found."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import LanguageError
from tidings.language import Filter
from tidings.paths.tree import Path
from tidings.service.actions.filters import read_wanted
from tidings.service.actions.questions import EventAsked
from tidings.service.actions.subscriptions import check_owned, expression_errors
from tidings.service.api.requests import After, check_id, questions_of, read_cursor
from tidings.service.gateway import Gateway
from tidings.service.pages.forms.composite_form import stored_pattern
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.charts import spark
from tidings.service.pages.parts.detections import shown_detections
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.shown_document import document_paths
from tidings.service.pages.subscription_pages import DONE, MINE, own
from tidings.service.pages.visitors import gateway_of, member
from tidings.service.workers.questions import NoSuchEvent, StoredEvent
from tidings.store import NoSuchSubscription, Standing, StoredChannel
from tidings.store.notifications.expression_errors import ExpressionErrors
from tidings.store.pages import recent

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_PAGE = 25


@dataclass(frozen=True, slots=True)
class Looked:
    """`standing` is None where it was withdrawn: what it found stays readable."""

    standing: Standing | None
    channel: StoredChannel | None
    warnings: tuple[str, ...]
    spark: list[int]
    matches: list[recent.Match]
    last: int
    errors: ExpressionErrors | None


@router.get(f"{MINE}/{{id}}")
async def one(id: str, request: Request, before: After = "", made: str = "", done: str = "") -> Response:
    owner = member(request).owner
    gateway = gateway_of(request)
    start = read_cursor(before) or None
    looked = await gateway.bind(owner, _look, gateway, id, owner, start)
    pattern = ""
    if looked.standing is not None and looked.standing.composite:
        pattern = await gateway.bind(owner, stored_pattern, looked.standing.filter, gateway)
    shown, more = looked.matches[:_PAGE], len(looked.matches) > _PAGE
    detected = await gateway.read(shown_detections, gateway.store, [one.notification for one in shown])
    return render(
        request,
        "subscription.html",
        id=id,
        standing=looked.standing,
        channel=looked.channel,
        warnings=looked.warnings,
        errors=looked.errors,
        chart=spark(looked.spark, "hour"),
        pattern=pattern,
        matches=shown,
        detected=detected,
        catalog=gateway.store.known_catalog,
        last=looked.last,
        next=f"{MINE}/{id}?before={shown[-1].notification.cursor}" if more else None,
        first=start is None,
        made=bool(made),
        done=DONE.get(done, ""),
    )


@router.get(f"{MINE}/{{id}}/newer")
async def newer(id: str, request: Request, after: After = "") -> Response:
    """What was found since a cursor, as a piece of the page."""
    owner = member(request).owner
    gateway = gateway_of(request)
    start = read_cursor(after)
    await gateway.read(check_owned, gateway, id, owner)
    found = await gateway.read(recent.matches, gateway.store, owner, id, None, _PAGE + 1, start)
    detected = await gateway.read(shown_detections, gateway.store, [one.notification for one in found[:_PAGE]])
    return render(
        request,
        "matches.html",
        id=id,
        matches=found[:_PAGE],
        detected=detected,
        fresh=True,
        gap=len(found) > _PAGE,
        catalog=gateway.store.known_catalog,
    )


@router.get(f"{MINE}/{{id}}/lately")
async def lately(id: str, request: Request) -> Response:
    """How many it found in the last hour, as a piece of the page."""
    owner = member(request).owner
    gateway = gateway_of(request)
    await gateway.read(check_owned, gateway, id, owner)
    found = await gateway.read(recent.sparks, gateway.store, owner, [id], gateway.store.clock.now())
    return render(request, "lately.html", chart=spark(found[id], "hour"))


@router.get(f"{MINE}/{{id}}/waiting")
async def waiting(id: str, request: Request) -> Response:
    """What a composite waits for, as a piece of the page."""
    owner = member(request).owner
    questions = await questions_of(request)
    found = await questions.waiting(owner, await own(request, id))
    return render(request, "waiting.html", id=id, waits=found)


@router.get(f"{MINE}/{{id}}/why/{{position}}")
async def why(id: str, position: int, request: Request, piece: str = "") -> Response:
    """Each predicate of the filter that counted then, with the event's values."""
    owner = member(request).owner
    check_id(id)
    if not 0 < position < 2**62:
        raise NoSuchEvent(f"at position {position:,}")
    gateway = gateway_of(request)
    filter = await gateway.read(recent.filter_at, gateway.store, id, owner, position)
    if filter is None:
        raise NoSuchSubscription(id)
    questions = await questions_of(request)
    explained = await questions.explain(owner, filter, EventAsked(position=position))
    if piece:
        return render(request, "why_piece.html", explained=explained)
    found = await questions.stored(position)
    name = ""
    with suppress(NoSuchSubscription):  # withdrawn
        name = (await gateway.read(gateway.store.subscription, id, owner)).name
    return await gateway.read(_why, request, id, name, filter, explained, found)


def _why(request: Request, id: str, name: str, filter: str, explained: Any, found: StoredEvent) -> Response:
    """In a thread: an event may be large."""
    catalog = gateway_of(request).store.known_catalog
    paths: dict[str, list[Path]] = {}
    with suppress(LanguageError):  # the journal holds it, so it was once right
        paths = document_paths(Filter.parse(filter, catalog).tree)
    return render(
        request,
        "why.html",
        id=id,
        name=name,
        position=found.position,
        filter=filter,
        explained=explained,
        event=recent.decoded(found.payload),
        accepted=found.accepted,
        catalog=catalog,
        paths=paths,
    )


def _look(gateway: Gateway, id: str, owner: str, before: int | None) -> Looked:
    store = gateway.store
    check_owned(gateway, id, owner)
    try:
        standing = store.subscription(id, owner)
    except NoSuchSubscription:
        standing = None
    warnings: tuple[str, ...] = ()
    if standing is not None:
        try:
            warnings = read_wanted(standing.filter, standing.filter if standing.composite else None, store).warnings
        except LanguageError as problem:  # the journal holds it, so it was once right
            warnings = (problem.problem(),)
    last = store.last_cursor()  # before reading: what comes in between is shown twice rather than not at all
    found = recent.matches(store, owner, id, before, _PAGE + 1)
    last = max(last, found[0].notification.cursor) if found and before is None else last
    channel = None if standing is None else store.channel(id, owner)
    errors = None if standing is None else expression_errors(store, [standing]).get(id)
    counts = recent.sparks(store, owner, [id], store.clock.now())[id]
    return Looked(standing, channel, warnings, counts, found, last, errors)
