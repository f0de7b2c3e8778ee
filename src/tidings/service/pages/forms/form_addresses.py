"""Addresses that only forms are sent to, opened by hand or from a log-in: they lead to the page with the form."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from tidings.service.pages.account_pages import ACCOUNT
from tidings.service.pages.page_route import PageRoute
from tidings.service.pages.subscription_pages import MINE
from tidings.service.pages.visitors import HOME

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/pages/logout")
async def home() -> Response:
    return RedirectResponse(HOME, 303)


@router.get(f"{ACCOUNT}/tokens")
@router.get(f"{ACCOUNT}/tokens/{{id}}/remove")
@router.get(f"{ACCOUNT}/password")
@router.get(f"{ACCOUNT}/delete")
async def account() -> Response:
    return RedirectResponse(ACCOUNT, 303)


@router.get(f"{MINE}/{{id}}/test-delivery")
async def deliveries(id: str) -> Response:
    return RedirectResponse(f"{MINE}/{quote(id, safe='')}/deliveries", 303)


@router.get(f"{MINE}/{{id}}/pause")
@router.get(f"{MINE}/{{id}}/resume")
@router.get(f"{MINE}/{{id}}/delete")
async def subscription(id: str) -> Response:
    return RedirectResponse(f"{MINE}/{quote(id, safe='')}", 303)
