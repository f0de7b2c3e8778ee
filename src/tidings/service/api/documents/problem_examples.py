"""An example of each kind of problem: the answer that its error really makes."""

from __future__ import annotations

import json
from contextvars import copy_context
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.errors import TidingsError
from tidings.events import BrokenRule, RefusedEvent
from tidings.logs import REQUEST_ID
from tidings.service.api import problems
from tidings.service.api.shapes import WrongContentType
from tidings.service.door.callers import NoToken, OutOfScope
from tidings.service.door.in_flight import BodyTooLarge
from tidings.service.door.rate_limits import TooManyRequests
from tidings.service.publishing.group_commit import Overloaded
from tidings.store import NoSuchSubscription, SubscriptionPaused

_ERRORS: dict[int, TidingsError | HTTPException] = {
    400: HTTPException(400, "the request is not valid HTTP"),
    401: NoToken(),
    403: OutOfScope("subscribe", ("publish",)),
    404: NoSuchSubscription("sub-1"),
    405: HTTPException(405, "this address takes GET, POST, not PUT"),
    408: HTTPException(408, "the request did not arrive in time"),
    409: SubscriptionPaused("sub-1"),
    410: HTTPException(410, "the link has expired"),
    413: BodyTooLarge(16 << 20),
    415: WrongContentType("text/plain", ("application/json",)),
    422: RefusedEvent("e1", (BrokenRule("mandatory", "year", None, "the attribute 'year' is missing"),)),
    429: TooManyRequests(0.5),
    431: HTTPException(431, "the URL and the headers have more than 65,536 bytes"),
    503: Overloaded(),
}


def problem_example(status: int) -> dict[str, Any]:
    """The body."""
    error = _ERRORS[status]
    body: dict[str, Any] = json.loads(bytes(copy_context().run(_answer, error).body))
    assert body["status"] == status
    return body


def _answer(error: TidingsError | HTTPException) -> Response:
    REQUEST_ID.set("9f86d081884c7d65")
    problems.INSTANCE.set("/v1/subscriptions/sub-1")
    return problems.http_answer(error) if isinstance(error, HTTPException) else problems.answer(error)
