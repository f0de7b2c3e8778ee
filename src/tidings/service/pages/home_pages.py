"""/: what is happening now."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tidings.errors import StoreError
from tidings.service.pages.forms.csrf import check_continues
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.charts import Chart, chart
from tidings.service.pages.parts.render import render
from tidings.service.pages.parts.showcase import Showcase, Window
from tidings.service.pages.parts.words import rate
from tidings.service.pages.visitors import gateway_of, has_ended, visitor
from tidings.service.pulse import EVERY, Pulse
from tidings.store.pages import recent

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_EVENTS, _MATCHES = 6, 5
_EVENTS_FOR_GUESTS = 4


@router.get("/")
async def home(request: Request, done: str = "") -> Response:
    deleted = done == "deleted" and not visitor(request).username
    ended = has_ended(request) and not deleted
    return render(request, "home.html", **await _now(request), ended=ended, deleted=deleted)


@router.get("/pages/now")
async def now(request: Request) -> Response:
    """The part of the home page that changes."""
    check_continues(request)
    return render(request, "now.html", **await _now(request))


async def _now(request: Request) -> dict[str, Any]:
    gateway, caller = gateway_of(request), visitor(request)
    pulse: Pulse = request.app.state.pulse
    figures = None
    with suppress(StoreError, TimeoutError):  # the page says that the store does not answer
        figures = await request.app.state.figuring.figures()
    matches: list[recent.FoundEvent] = []
    events: Sequence[recent.Seen] = ()
    window = Window()
    reads_matches = "subscribe" in caller.scopes
    if figures is not None and caller.username:
        events = await gateway.read(request.app.state.ends.newest, _EVENTS)
        if reads_matches:
            matches = await gateway.read(recent.found_events, gateway.store, caller.username, _MATCHES)
    elif figures is not None:
        with suppress(StoreError):  # between two looks it may have gone
            window = await showcase_of(request).window()
        events = window.events[:_EVENTS_FOR_GUESTS]
    return {
        "figures": figures,
        "charts": _charts(pulse, 0 if figures is None else figures.lag),
        "pipeline": gateway.pipeline,
        "reason": gateway.pipeline.reason if gateway.settings.on_loopback else "",  # it may name paths and versions
        "matches": matches,
        "reads_matches": reads_matches,
        "catalog": gateway.store.known_catalog,
        "events": events,
        "window": window,
        "readable": showcase_of(request).is_open,
        "step": EVERY,
    }


def showcase_of(request: Request) -> Showcase:
    """One for the life of the application, made when a guest first looks."""
    state = request.app.state
    if not hasattr(state, "showcase"):
        state.showcase = Showcase(state.gateway, state.ends)
    found: Showcase = state.showcase
    return found


def _charts(pulse: Pulse, lag: int) -> list[Chart]:
    events, matches, lags = pulse.rates()
    newest_events, newest_matches = pulse.now()
    seconds = len(events) * EVERY
    return [
        chart("Events", "a second", rate(newest_events), events, seconds),
        chart("Matches", "a second", rate(newest_matches), matches, seconds),
        chart("Waiting to be matched", "entry" if lag == 1 else "entries", f"{lag:,}", lags, seconds),
    ]
