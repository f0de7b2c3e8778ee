"""The class of the API's routes: what `scopes` says a route needs is checked before anything of the request is read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from tidings.service.door.scope_check import check_need
from tidings.service.door.scopes import need_of

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def route_need(route: APIRoute) -> str:
    """What all methods of a route need."""
    (need,) = {need_of(method, route.path_format) for method in route.methods or ()}
    return need


class GuardedRoute(APIRoute):
    def get_route_handler(self) -> Handler:
        handle, need = self.handler_within(), route_need(self)

        async def guarded(request: Request) -> Response:
            check_need(request, need)
            return await handle(request)

        return guarded

    def handler_within(self) -> Handler:
        """What comes after the guard."""
        return super().get_route_handler()
