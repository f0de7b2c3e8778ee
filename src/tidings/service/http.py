"""The web application: the routers, what every request passes on its way in and every answer on its way out.

`make_app` is called by the server, with a gateway of the same event loop. The middleware authenticates, counts, limits,
logs unexpected errors and answers them without revealing internals.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidings.errors import TidingsError
from tidings.garbage_collector import collecting_less
from tidings.service import pages, readiness
from tidings.service.actions.accounts import Accounts
from tidings.service.actions.questions import Questions
from tidings.service.api import (
    account_routes,
    operator_routes,
    problems,
    schema_routes,
)
from tidings.service.api.channels import channel_routes, confirmation_routes, delivery_routes
from tidings.service.api.documents import document_routes, openapi
from tidings.service.api.events import event_routes, xml_document_routes
from tidings.service.api.inquiries import composite_routes, inquiry_routes, query_routes
from tidings.service.api.network import advertisement_routes, link_routes, move_routes, network_routes
from tidings.service.api.notifications import notification_routes, stream_routes
from tidings.service.api.requests import V1
from tidings.service.api.subscriptions import subscription_file_routes, subscription_routes
from tidings.service.door.middleware import GONE, TOLD, DoorMiddleware
from tidings.service.door.request_id import logged_path
from tidings.service.gateway import Gateway
from tidings.service.live.streams import Streams
from tidings.service.live.watch import Watching
from tidings.service.metrics import Metrics

log = logging.getLogger("tidings.service")
_ROUTES = (
    event_routes,  # first, since it is asked for most
    xml_document_routes,
    notification_routes,
    stream_routes,
    inquiry_routes,
    query_routes,
    composite_routes,
    subscription_file_routes,
    subscription_routes,
    schema_routes,
    channel_routes,
    delivery_routes,
    confirmation_routes,
    account_routes,
    document_routes,
    advertisement_routes,
    move_routes,
    network_routes,
    link_routes,
    operator_routes,
    readiness,
    pages,
)


class Application(FastAPI):
    """With the middleware in front of all that the web framework does."""

    door: DoorMiddleware

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self.door(scope, receive, send)


def make_app(gateway: Gateway) -> FastAPI:
    """Everything that HTTP can ask of the gateway."""
    app = Application(
        title="Tidings",
        version="1",
        docs_url=None,  # their pages load programs from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    app.state.gateway = gateway
    app.state.metrics = Metrics(gateway.published)
    app.state.figuring = operator_routes.Figuring(gateway)
    app.state.closing = AsyncExitStack()  # who opens something for the life of the app pushes its closing here
    app.state.accounts = Accounts(gateway)
    app.state.questions = Questions(gateway)
    app.state.watching = Watching(gateway)
    app.state.streams = Streams(gateway, app.state.watching)
    app.state.written_schema = schema_routes.Written()
    app.state.under_way = set()  # Idempotency-Keys
    app.state.closing.push_async_callback(app.state.accounts.close)
    app.state.closing.push_async_callback(app.state.questions.close)
    app.state.closing.push_async_callback(app.state.watching.close)
    app.state.closing.push_async_callback(app.state.streams.close)
    for module in _ROUTES:
        app.router.routes.extend(module.router.routes)  # `include_router` would examine each again at its first request
    app.add_exception_handler(TidingsError, _refused)
    app.add_exception_handler(HTTPException, _not_taken)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.openapi = lambda: openapi.document(app)  # type: ignore[method-assign]
    app.add_exception_handler(Exception, _failed)
    direct = {("POST", "/v1/events"): event_routes.publish}
    app.door = DoorMiddleware(super(Application, app).__call__, gateway, app.state.metrics, direct, _refusing)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    with collecting_less():
        async with app.state.closing, pages.router.lifespan_context(app):
            yield


def _refusing(scope: Scope, error: TidingsError | HTTPException) -> Response:
    """A page for a browser that asked for one, else problem details."""
    page = pages.error_page(scope, error)
    if page is not None:
        return page
    return problems.http_answer(error) if isinstance(error, HTTPException) else problems.answer(error)


async def _failed(request: Request, error: Exception) -> Response:
    """The web framework raises it once more after this; `TOLD` tells the middleware that it is done with."""
    log.error("%s %s failed", request.method, logged_path(request.scope), exc_info=error)
    request.scope[TOLD] = True
    return _refusing(request.scope, problems.Failed())


async def _gone(request: Request, error: Exception) -> Response:
    """Nobody is there to hear an answer, and nothing of ours is wrong."""
    return Response(status_code=GONE)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, TidingsError)
    if problems.status_of(error) >= 500:
        log.warning("%s %s: %s", request.method, logged_path(request.scope), error)
    return problems.answer(error)


async def _not_taken(request: Request, error: Exception) -> Response:
    """Nothing at this address, or nothing that takes the method: lists those that it takes."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        path = f"{V1}{request.url.path}"
        hint = f"did you mean {path}?" if _routes_at(path) else "/openapi.json lists all addresses"
        error = HTTPException(404, f"there is nothing at this address; {hint}")
    elif error.status_code == 405:
        allowed = ", ".join(sorted(_methods(request.url.path)))
        error = HTTPException(405, f"this address takes {allowed}, not {request.method[:20]}", {"Allow": allowed})
    return _refusing(request.scope, error)


def _methods(path: str) -> set[str]:
    found = _routes_at(path)
    return {method for route in found for method in route.methods or ()} or {"GET"}  # that is the OpenAPI document


def _routes_at(path: str) -> list[APIRoute]:
    routes = [route for module in _ROUTES for route in module.router.routes if isinstance(route, APIRoute)]
    return [route for route in routes if route.path == path] or [one for one in routes if one.path_regex.match(path)]


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problems.invalid_answer(error.errors())
