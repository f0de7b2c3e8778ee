"""/pages/events: the stored events, searched with a filter, by type and by when they happened.

The page does not wait long for its events: a script fetches them when they are there, or a link does (`whole`)."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from tidings.errors import LanguageError
from tidings.events.occurrence import TimeBar
from tidings.schema import Instant
from tidings.service.api.inquiries.inquiry_routes import next_place, read_place
from tidings.service.api.inquiries.time_parameters import NoMoment, moment
from tidings.service.api.problems import status_of
from tidings.service.api.requests import After, questions_of, read_cursor
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.time_chart import time_chart
from tidings.service.pages.visitors import gateway_of, member
from tidings.service.workers.event_search import Sought, SoughtEvent, Wanted
from tidings.service.workers.inquiries import Busy, NoAnswer, TookTooLong
from tidings.store.pages.recent import decoded

router = APIRouter(route_class=PageRoute, include_in_schema=False)
SEARCH = "/pages/events"
_PAGE = 25
_SOON = 0.1  # seconds in which most searches have their answer


@router.get(SEARCH)
async def search(
    request: Request,
    filter: str = "",
    type: str = "",
    since: Annotated[str, Query(max_length=100)] = "",
    until: Annotated[str, Query(max_length=100)] = "",
    upto: After = "",
    after: After = "",
    whole: str = "",
    piece: str = "",
) -> Response:
    """`since` and `until` are about when events happened. `whole`: with the events, however long that takes; `piece`:
    nothing but these."""
    owner, gateway = member(request).owner, gateway_of(request)
    asked = {"filter": filter, "type": type, "since": since, "until": until}
    errors: dict[str, str] = {}
    picture, found, status = "", None, 200
    try:
        wanted = _wanted(gateway.store.clock.now(), asked, read_cursor(upto), after)
        questions = await questions_of(request)
        if whole or piece:
            found = await questions.find(owner, wanted)
        else:
            found = await questions.find_soon(owner, wanted, _SOON)
    except LanguageError as error:
        errors, status = {"text": error.problem()}, status_of(error)
        _, _, picture = str(error).partition("\n")
    except NoMoment as error:
        errors, status = {error.name: "this is not a time"}, status_of(error)
    except (Busy, TookTooLong, NoAnswer) as error:
        errors, status = {"": str(error)}, status_of(error)
    catalog = await gateway.read(gateway.store.catalog)
    here = asked | {"upto": upto, "after": after}
    return render(
        request,
        "found.html" if piece and found is not None else "search.html",
        status,
        is_piece=bool(piece),
        later=None if errors or found else {name: _address(here | {name: "1"}) for name in ("piece", "whole")},
        asked=asked,
        errors=errors,
        picture=picture,
        found=found,
        seen=[] if found is None else await gateway.read(_seen, found),
        chart=None if found is None else time_chart(found.bars, lambda bar: _narrowed(asked, bar)),
        catalog=catalog,
        first=not after and not upto,
        newest=_address(asked),
        next=_next(asked, found),
        further=None if found is None or found.reached is None else _address(asked | {"upto": str(found.reached)}),
        subscribe=_subscribe(found),
    )


def _seen(found: Sought) -> list[tuple[dict[str, Any], SoughtEvent]]:
    """In a thread: events may be large."""
    return [(decoded(one.stored.payload), one) for one in found.events]


def _wanted(now: Instant, asked: dict[str, str], upto: int, after: str) -> Wanted:
    """Raises NoMoment or WrongCursor."""
    begin, end = (moment(name, asked[name], now) if asked[name].strip() else None for name in ("since", "until"))
    start, before = read_place(after)
    return Wanted(asked["filter"].strip(), asked["type"], begin, end, before, start or upto or None, _PAGE)


def _address(asked: dict[str, str]) -> str:
    given = {name: value for name, value in asked.items() if value}
    return f"{SEARCH}?{urlencode(given)}" if given else SEARCH


def _narrowed(asked: dict[str, str], bar: TimeBar) -> str:
    return _address(asked | {"since": str(bar.start), "until": str(bar.end)})


def _next(asked: dict[str, str], found: Sought | None) -> str | None:
    place = None if found is None else next_place(found)
    return None if place is None else _address(asked | {"after": place})


def _subscribe(found: Sought | None) -> str | None:
    """Where to subscribe to what was searched for."""
    if found is None or not found.filter:
        return None
    return f"/pages/subscriptions/new?{urlencode({'filter': found.filter})}"
