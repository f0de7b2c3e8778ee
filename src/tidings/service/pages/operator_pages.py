"""/pages/operator: children, plan, journal, deliveries and dead letters, for operators."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from tidings.errors import StoreError
from tidings.notifying.delivery import destination_of
from tidings.service.api.problems import legible
from tidings.service.api.requests import After, read_cursor
from tidings.service.gateway import Gateway
from tidings.service.pages.forms.form import read_form
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.parts.render import render
from tidings.service.pages.visitors import gateway_of
from tidings.store import StoredChannel
from tidings.store.pages import oversight

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_LETTERS = 20
_DROPPED = 20  # accounts
_TROUBLED = 100  # channels; they are shown by the endpoint they go to
_LAST_WORDS = 4_000  # bytes of a log


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host or mailbox, and the channels that have trouble with it, the worst first."""

    destination: str
    channels: tuple[StoredChannel, ...]
    waiting: int
    places: int | None  # that it takes in the outbox, None: there is none of ours that says it

    @property
    def worst(self) -> StoredChannel:
        return self.channels[0]

    @property
    def dead_in_a_row(self) -> int:
        return max(one.dead_in_a_row for one in self.channels)

    @property
    def disabled(self) -> int:
        return sum(one.state == "disabled" for one in self.channels)

    @property
    def failing(self) -> bool:
        """One that is still sent to."""
        return any(one.state != "disabled" and one.failing_since is not None for one in self.channels)

    @property
    def seconds(self) -> float:
        return max(one.seconds for one in self.channels)


@router.get("/pages/operator")
async def operator(request: Request, before: After = "") -> Response:
    start = read_cursor(before) or None
    shown = await _now(request)
    if shown["figures"] is not None:
        try:
            shown |= await _listed(request, start)
        except (StoreError, TimeoutError):  # it went between two looks
            shown["figures"] = None
    return render(request, "operator.html", **shown)


@router.get("/pages/operator/now")
async def now(request: Request) -> Response:
    """The part of the page that changes."""
    return render(request, "operator_now.html", **await _now(request))


@router.post("/pages/operator/clock")
async def confirm_clock(request: Request) -> Response:
    await read_form(request)
    gateway = gateway_of(request)
    await gateway.write(gateway.store.confirm_clock)
    return RedirectResponse("/pages/operator", 303)


async def _listed(request: Request, start: int | None) -> dict[str, Any]:
    gateway = gateway_of(request)
    letters = await gateway.read(oversight.newest_letters, gateway.store, _LETTERS + 1, start)
    return {
        "deliveries": await request.app.state.figuring.deliveries(),
        "endpoints": await gateway.read(_endpoints, gateway),
        "dropped": await gateway.read(gateway.store.most_dropped, _DROPPED),
        "letters": letters[:_LETTERS],
        "older": letters[_LETTERS - 1].number if len(letters) > _LETTERS else None,
        "first": start is None,
    }


async def _now(request: Request) -> dict[str, Any]:
    """Without `figures` where the store does not answer: then most of all, the page is needed."""
    gateway, state = gateway_of(request), request.app.state
    data = gateway.settings.data
    children = {
        "figures": None,
        "children": (
            ("Pipeline", gateway.pipeline, await gateway.read(_last_words, data / "pipeline.log")),
            ("Outbox", gateway.outbox, await gateway.read(_last_words, data / "outbox.log")),
        ),
    }
    try:
        clock = await gateway.read(gateway.store.clock.look)
        figures = await state.figuring.figures()
    except (StoreError, TimeoutError):
        return children
    plan = await state.figuring.plan()
    change = None if plan is None else await gateway.read(gateway.store.next_change, plan.covers)
    return children | {
        "figures": figures,
        "clock": clock,
        "plan": plan,
        "plan_lacks": change is not None,
        "streams": state.streams.count,
        "requests": state.metrics.events,
        "on_disk": await gateway.read(oversight.disk_bytes, gateway.store),
        "oldest": await gateway.read(state.ends.oldest),
        "keep_events_days": gateway.settings.keep_events_days,
        "store": gateway.store.url.partition(":")[0].partition("+")[0],
    }


def _endpoints(gateway: Gateway) -> list[Endpoint]:
    """In the order of the channel that fails longest."""
    busy = {place: count for place, count, _ in gateway.outbox.busiest}
    known = gateway.outbox.state == "running"
    by_place: dict[str, list[StoredChannel]] = {}
    troubled = gateway.store.troubled(_TROUBLED)
    waiting = oversight.waiting(gateway.store, [one.subscription for one in troubled])
    for one in troubled:
        by_place.setdefault(destination_of(one), []).append(one)
    return [
        Endpoint(
            place,
            tuple(channels),
            sum(waiting.get((one.subscription, one.owner), 0) for one in channels),
            busy.get(place, 0) if known else None,
        )
        for place, channels in by_place.items()
    ]


def _last_words(log: Path) -> str:
    """The end of what a child wrote, from a whole line on; nothing where it runs elsewhere."""
    with suppress(OSError), log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LAST_WORDS))
        text = file.read().decode(errors="replace")
        return legible(text.partition("\n")[2] if size > _LAST_WORDS else text).strip()
    return ""
