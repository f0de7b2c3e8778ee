"""What went wrong, as RFC 9457 problem details: an error in, a status and a body out.

`problem_types` has the type and the status of every error. What a store says of its place and driver is for the log,
not for callers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tidings.errors import Explained, LanguageError, ServiceError, TidingsError
from tidings.events import BrokenRule, RefusedEvent
from tidings.logs import REQUEST_ID
from tidings.schema.catalog import InvalidSchema
from tidings.service.api.problem_types import TYPES, ProblemType, problem_type

PROBLEM = "application/problem+json"
INSTANCE: ContextVar[str] = ContextVar("instance", default="")  # the path of the request, set by the middleware
_LONGEST_TEXT = 10_000  # of a wrong filter that is sent back
_LONGEST_INSTANCE = 1_000
_STORE = TYPES["store-unavailable"]
# What the caller may know of a store that fails; the rest is in the log.
_UNAVAILABLE = "the store is not available now. The change may not have been saved; check, then retry"


class Failed(Explained, ServiceError):
    """Something unforeseen; the log has it."""

    template = "the service failed unexpectedly; its log has the details, so please tell its operator"


def status_of(error: BaseException | type[BaseException]) -> int:
    return error.status_code if isinstance(error, HTTPException) else problem_type(error).status


def problem_of(error: TidingsError, **more: Any) -> dict[str, Any]:
    """The body. `more` are members beside the standard ones."""
    kind = problem_type(error)
    made = _problem(kind, kind.status, _detail(error, kind))
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
    body = _problem(problem_type(error), error.status_code, str(error.detail))
    return rendered(body | more, dict(error.headers or {}))


def typed_answer(name: str, detail: str, **more: Any) -> Response:
    """A problem without an error class, by the name of its type."""
    return rendered(_problem(TYPES[name], TYPES[name].status, detail) | more, {})


def invalid_answer(found: Iterable[Mapping[str, Any]]) -> Response:
    """For parameters that are not of the documented form, as the web framework lists them."""
    errors = []
    for one in found:
        place = ".".join(str(part) for part in one.get("loc", ()))
        errors.append(_broken_form(place, f"{place}: {one.get('msg', 'is wrong')}"))
    return typed_answer("invalid-request", "; ".join(str(error["message"]) for error in errors), errors=errors)


def rendered(body: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    body = identified(body, INSTANCE.get(), REQUEST_ID.get())
    return Response(msgspec.json.encode(body), int(body["status"]), headers=dict(headers), media_type=PROBLEM)


def identified(body: Mapping[str, Any], path: str, id: str) -> Mapping[str, Any]:
    """With what tells this occurrence from others, as far as it is known."""
    if path:
        body = {**body, "instance": quote(path[:_LONGEST_INSTANCE], safe="/:@!$&'()*+,;=-._~")}
    return {**body, "request_id": id} if id else body


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


def _problem(kind: ProblemType, status: int, detail: str) -> dict[str, Any]:
    return {"type": kind.uri, "title": kind.title, "status": status, "detail": legible(detail)}


def _detail(error: TidingsError, kind: ProblemType) -> str:
    if isinstance(error, LanguageError):
        return f"line {error.line}, column {error.column}: {error.problem()}"
    return _UNAVAILABLE if kind is _STORE else str(error)


def _broken_form(attribute: str | None, message: str) -> dict[str, Any]:
    return BrokenRule("form", attribute, None, message).as_json()
