"""The table of the API's routes, from the OpenAPI document and the routes themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from generated.part import table
from generated.served import application

_TITLES = {
    "events": "Publishing",
    "inquiries": "Asking",
    "subscriptions": "Subscriptions",
    "notifications": "Notifications",
    "channels": "Channels and notices",
    "deliveries": "Deliveries",
    "schema": "Schema",
    "accounts": "Accounts and tokens",
    "documents": "Documents",
    "operations": "Operations",
}
_EVERYWHERE = {"400", "405", "408", "429", "503"}  # said once, above the tables
_NEED = re.compile(r'need\("(\w+)"\)|"(\w+)" not in caller\.scopes')


def routes() -> str:
    app, document = application()
    scopes = {
        (method, route.path_format): _scope(route) for route in _leaves(app.routes) for method in route.methods or ()
    }
    by_tag: dict[str, list[tuple[str, str, str, str]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            told = " ".join((operation.get("description") or operation["summary"]).split())
            statuses = ", ".join(sorted(set(operation["responses"]) - _EVERYWHERE))
            scope = scopes[method.upper(), path]
            scope = f"`{scope}`" if scope else "a token" if operation.get("security") else "none"
            tag = operation["tags"][0]
            by_tag.setdefault(tag, []).append((f"`{method.upper()} {path}`", scope, told, statuses))
    found = []
    for tag in sorted(by_tag, key=lambda tag: list(_TITLES).index(tag) if tag in _TITLES else len(_TITLES)):
        title = _TITLES.get(tag, tag.capitalize())
        found.append(f"### {title}\n\n" + table(["request", "needs", "what it does", "answers"], by_tag[tag]))
    return "\n\n".join(found)


def _leaves(routes: object) -> Iterator[APIRoute]:
    for route in routes:  # type: ignore[attr-defined]
        if isinstance(route, APIRoute):
            yield route
        else:  # an included router
            yield from _leaves(getattr(getattr(route, "original_router", route), "routes", ()) or ())


def _scope(route: APIRoute) -> str:
    """As a dependency asks for it, else as the handler's own text does."""
    for one in _dependencies(route.dependant):
        if getattr(one.call, "__qualname__", "").startswith("needing."):
            return str(inspect.getclosurevars(one.call).nonlocals["scope"])  # type: ignore[arg-type]
    found = _NEED.search(inspect.getsource(route.endpoint))
    return (found[1] or found[2]) if found else ""


def _dependencies(dependant: Dependant) -> Iterator[Dependant]:
    for one in dependant.dependencies:
        yield one
        yield from _dependencies(one)
