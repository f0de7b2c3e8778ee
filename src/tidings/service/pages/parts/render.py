"""A template and what it shows become an answer: escaped, without any inline script, from no other host."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tidings.errors import TidingsError
from tidings.language.readable import readable
from tidings.service.api.requests import SESSION
from tidings.service.pages.forms.csrf import proof_of
from tidings.service.pages.forms.waiting_form import told
from tidings.service.pages.parts import words as wording
from tidings.service.pages.parts.static_files import address
from tidings.service.pages.parts.unread_notices import stopped_of, unread_of
from tidings.service.pages.visitors import GUEST, ensure_secret, gateway_of, has_ended, set_cookie, visitor

POLICY = (
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'; "
    "script-src 'self'; style-src 'self'"
)


@cache
def templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("tidings.service.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = address
    made.filters |= wording.FILTERS
    return made


def render(request: Request, template: str, status: int = 200, /, **shown: Any) -> Response:
    """A whole page, or a piece of one."""
    cookies: dict[str, str] = {}
    try:
        caller, secret = visitor(request), ensure_secret(request, cookies)
    except TidingsError:  # a page of another site sent this; it is answered as a guest
        caller, secret = gateway_of(request).guest, ""
    text = (
        templates()
        .get_template(template)
        .render(
            {
                "path": request.url.path,
                "user": caller.username,
                "scopes": caller.scopes,
                "proof": proof_of(secret, caller.username) if secret else "",
                "registration": gateway_of(request).settings.registration,
                "unread": unread_of(request),
                "stopped": stopped_of(request),
                "not_sent": told(request),
                "worded": partial(readable, catalog=gateway_of(request).store.known_catalog),
                **shown,
            }
        )
    )
    answer = HTMLResponse(text, status, {"Content-Security-Policy": POLICY})
    if has_ended(request):
        answer.delete_cookie(SESSION, path="/")
    if GUEST in cookies:
        set_cookie(request, answer, GUEST, cookies[GUEST], None)
    return answer
