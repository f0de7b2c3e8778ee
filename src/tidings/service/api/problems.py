"""What went wrong, as RFC 9457 problem details: an error in, a status and a body out.

An error of this room says its status itself, in the class attribute `status`; for those of other rooms the table
here does. What a store says of its place and driver is for the log, not for whoever asks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.errors import Explained, LanguageError, ServiceError, TidingsError
from tidings.events import BrokenRule, RefusedEvent
from tidings.logs import REQUEST_ID
from tidings.notifying.mail.confirmations import ExpiredLink, ForgedLink, OtherLink
from tidings.schema.catalog import InvalidSchema, NameTaken
from tidings.schema.hierarchy import RepeatedNode
from tidings.service.door.callers import NoToken, OutOfScope, UnknownToken
from tidings.service.group_commit import Overloaded
from tidings.store import (
    ClockJumped,
    DraftFailed,
    ForeignDatabase,
    NewerStore,
    NoSuchChannel,
    NoSuchDelivery,
    NoSuchSubscription,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
    SubscriptionActive,
    SubscriptionExists,
    SubscriptionPaused,
)
from tidings.store.errors import AccountClosed, AccountExists, LastOperator

PROBLEM = "application/problem+json"
_LONGEST_TEXT = 10_000  # of a wrong filter that is sent back
_STATUSES: dict[type[BaseException], int] = {
    NoToken: 401,
    UnknownToken: 401,
    OutOfScope: 403,
    NoSuchSubscription: 404,
    NoSuchChannel: 404,
    NoSuchDelivery: 404,
    ForgedLink: 404,
    OtherLink: 404,
    ExpiredLink: 410,
    NameTaken: 409,
    RepeatedNode: 409,
    AccountClosed: 403,
    AccountExists: 409,
    LastOperator: 409,
    SubscriptionExists: 409,
    SubscriptionPaused: 409,
    SubscriptionActive: 409,
    Overloaded: 503,
    ClockJumped: 503,
    DraftFailed: 500,
    StoreUnreachable: 503,
    StoreLocked: 503,
    StoreFull: 503,
    StoreReadOnly: 503,
    StoreFailed: 503,
    NewerStore: 503,
    ForeignDatabase: 503,
}
# What the caller may know of a store that fails; the rest is in the log.
_UNAVAILABLE = "the store cannot take this now; it may not be done, so look, and try again"
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Failed(Explained, ServiceError):
    """Something unforeseen; the log has it."""

    status = 500
    template = "the service failed unexpectedly; the error is in its log, so tell its operator"


def status_of(error: BaseException) -> int:
    own = getattr(error, "status", getattr(error, "status_code", None))
    if isinstance(own, int):
        return own
    for kind in type(error).__mro__:
        if kind in _STATUSES:
            return _STATUSES[kind]
    return 422


def problem_of(error: TidingsError, **more: Any) -> dict[str, Any]:
    """The body. `more` are members beside the standard ones."""
    status = status_of(error)
    made = _problem(type(error).__name__, status, _detail(error, status))
    match error:
        case RefusedEvent():
            made["errors"] = broken(error.errors)
        case InvalidSchema():
            made["errors"] = [_broken_form(None, str(problem)) for problem in error.problems]
        case LanguageError():
            made |= {"line": error.line, "column": error.column, "expected": error.expected}
            made["text"] = legible(error.text[:_LONGEST_TEXT])
    made |= getattr(error, "members", {})
    return made | more


def answer(error: TidingsError, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """The whole answer, with the headers that its status asks for."""
    body = problem_of(error, **more)
    return rendered(body, {**headers_of(error), **(headers or {})})


def http_answer(error: HTTPException, **more: Any) -> Response:
    """For what the web framework itself refuses: no such address, no such method, a body it cannot read."""
    name = type(error).__name__
    if type(error).__name__ == "HTTPException":
        name = HTTPStatus(error.status_code).phrase.title().replace(" ", "").replace("-", "")
    body = _problem(name, error.status_code, str(error.detail))
    return rendered(body | more, dict(error.headers or {}))


def invalid_answer(found: Iterable[Mapping[str, Any]]) -> Response:
    """For parameters that are not of the documented form, as the web framework lists them."""
    errors = []
    for one in found:
        place = ".".join(str(part) for part in one.get("loc", ()))
        errors.append(_broken_form(place, f"{place}: {one.get('msg', 'is wrong')}"))
    body = _problem("InvalidRequest", 422, "; ".join(str(error["message"]) for error in errors))
    return rendered(body | {"errors": errors}, {})


def rendered(body: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    if id := REQUEST_ID.get():
        body = {**body, "request_id": id}
    return Response(msgspec.json.encode(body), int(body["status"]), headers=dict(headers), media_type=PROBLEM)


def headers_of(error: BaseException) -> dict[str, str]:
    status = status_of(error)
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="tidings"'}
    if status in (429, 503) or (status == 409 and hasattr(error, "seconds")):
        return {"Retry-After": str(max(1, math.ceil(getattr(error, "seconds", 1))))}
    return {}


def broken(errors: Iterable[BrokenRule]) -> list[dict[str, Any]]:
    return [error.as_json() for error in errors]


def legible(text: str) -> str:
    """Text that can be written: half of a surrogate pair cannot."""
    return text.encode("utf-8", "replace").decode()


def _problem(name: str, status: int, detail: str) -> dict[str, Any]:
    words = _WORDS.sub(" ", name).lower()
    kind = f"/problems/{words.replace(' ', '-')}"
    return {"type": kind, "title": words.capitalize(), "status": status, "detail": legible(detail)}


def _detail(error: TidingsError, status: int) -> str:
    if isinstance(error, LanguageError):
        return f"line {error.line}, column {error.column}: {error.problem()}"
    if status == 503 and _STATUSES.get(type(error)) == 503 and not isinstance(error, Overloaded | ClockJumped):
        return _UNAVAILABLE
    return str(error)


def _broken_form(attribute: str | None, message: str) -> dict[str, Any]:
    return BrokenRule("form", attribute, None, message).as_json()
