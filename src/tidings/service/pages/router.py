"""The pages' modules as one router, with the pulse that beats as long as the service lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from tidings.service.pages import (
    account_pages,
    channel_pages,
    composite_pages,
    delivery_pages,
    event_pages,
    feed_pages,
    filter_pages,
    growth_pages,
    home_pages,
    match_pages,
    network_pages,
    notice_pages,
    operator_pages,
    problem_pages,
    publish_pages,
    schema_pages,
    search_pages,
    subscribe_pages,
    subscription_file_pages,
    subscription_pages,
)
from tidings.service.pages import session_pages as joining_pages
from tidings.service.pages.forms import form_addresses
from tidings.service.pages.page_route import NoSuchPage, PageRoute
from tidings.service.pages.parts import static_files
from tidings.service.pulse import Pulse
from tidings.store.pages.event_ends import EventEnds

_PAGES = (
    home_pages,
    static_files,
    joining_pages,
    schema_pages,
    growth_pages,
    publish_pages,
    search_pages,
    feed_pages,
    event_pages,
    filter_pages,
    composite_pages,
    subscription_file_pages,  # before the page of one
    subscription_pages,
    subscribe_pages,
    match_pages,
    channel_pages,
    delivery_pages,
    notice_pages,
    account_pages,
    form_addresses,
    network_pages,
    operator_pages,
    problem_pages,
)


@asynccontextmanager
async def _beating(app: FastAPI) -> AsyncIterator[None]:
    app.state.ends = EventEnds(app.state.gateway.store)
    app.state.pulse = Pulse(app.state.gateway)
    app.state.pulse.start()
    try:
        yield
    finally:
        await app.state.pulse.close()


router = APIRouter(lifespan=_beating, include_in_schema=False, route_class=PageRoute)
for _module in _PAGES:
    router.routes.extend(_module.router.routes)  # one flat list, as every other module of routes has
router.routes.extend(composite_pages.asked.routes)


@router.get("/pages/{rest:path}")
async def nothing(rest: str, request: Request) -> Response:
    raise NoSuchPage
