"""A page that says what went wrong before any page's route could: too many requests, a store that is away while the
session is looked up, what nobody foresaw.

Who visits is not known then. So it has no names, no forms and no cookies, and asks nothing of the store.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from tidings.errors import TidingsError
from tidings.logs import REQUEST_ID
from tidings.service.api import problems
from tidings.service.pages.parts.render import POLICY, templates

_TITLES = {429: "Too many requests", 500: "Something went wrong", 503: "Temporarily unavailable"}


def error_page(scope: Scope, error: TidingsError | HTTPException) -> Response | None:
    """None where no page was asked for, or by no browser: then the answer is JSON, as everywhere."""
    path = scope["path"]
    is_asked = (path == "/" or path.startswith("/pages/")) and "text/html" in Headers(scope=scope).get("accept", "")
    if not is_asked:
        return None
    status = problems.status_of(error)
    if isinstance(error, HTTPException):
        told, headers = str(error.detail), dict(error.headers or {})
    else:
        told, headers = str(problems.problem_of(error)["detail"]), problems.headers_of(error)
    title = _TITLES.get(status, "Request failed")
    text = templates().get_template("error.html").render(title=title, told=told, request_id=REQUEST_ID.get())
    return HTMLResponse(text, status, {"Content-Security-Policy": POLICY, **headers})
