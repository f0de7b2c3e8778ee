"""The OpenAPI document: what the routes say of themselves, and the problems that every one of them may answer with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tidings.service.api import shapes as bodies
from tidings.service.api.problems import PROBLEM
from tidings.service.door.scopes import NOTHING, TOKEN, need_of

_TOLD = {
    400: "The request cannot be read",
    401: "No token, or none that is valid",
    403: "The token or the account may not do this",
    404: "Not there, or not yours",
    405: "This address does not take the method",
    408: "The request came too slowly",
    409: "The name is taken, or it is so already",
    413: "The body is too large",
    415: "The content type is not accepted here; `detail` names those that are",
    422: "The content is wrong; `errors` names each thing that is",
    429: "Too many requests; `Retry-After` says when to come again",
    503: "The service cannot take this now; `Retry-After` says when to come again",
}
_RULE = {
    "type": "object",
    "properties": {
        "rule": {"type": "string"},
        "attribute": {"type": ["string", "null"]},
        "value": {},
        "message": {"type": "string"},
    },
    "required": ["rule", "message"],
}
_PROBLEM = {
    "type": "object",
    "description": "RFC 9457. `type` leads to a page that says what it means and what to do",
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string", "format": "uri-reference", "description": "The path of the request"},
        "errors": {"type": "array", "items": _RULE},
        "line": {"type": "integer"},
        "column": {"type": "integer"},
        "expected": {"type": ["string", "null"]},
        "text": {"type": "string"},
        "request_id": {"type": "string", "description": "Also in the header X-Request-Id and in the service's log"},
    },
    "required": ["type", "title", "status", "detail"],
}
_OURS = {"HTTPValidationError", "ValidationError"}  # the web framework's, which are never answered
_GIVE_OUT_TOKENS = ("/v1/accounts", "/v1/tokens")


def document(app: FastAPI) -> dict[str, Any]:
    """Made once, when it is first asked for."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(
        title=app.title,
        version=app.version,
        routes=app.routes,
        description="Content-based publish/subscribe: publish events, leave filters standing, read what matched.",
    )
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name in _OURS:
        schemas.pop(name, None)
    schemas |= bodies.components() | {"Problem": _PROBLEM}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            _add_need(path, method, operation)
            _add_problems(path, method, operation)
    app.openapi_schema = made
    return made


def _add_need(path: str, method: str, operation: dict[str, Any]) -> None:
    need = need_of(method.upper(), path)
    if need == NOTHING:
        operation.pop("security", None)
    else:
        operation["security"] = [{"token": [] if need == TOKEN else [need]}]


def _add_problems(path: str, method: str, operation: dict[str, Any]) -> None:
    parameters = operation.get("parameters", ())
    has_body = "requestBody" in operation
    statuses = {400, 405, 429, 503}
    if operation.get("security") or path in _GIVE_OUT_TOKENS:
        statuses |= {401, 403}
    if any(parameter["in"] == "path" for parameter in parameters):
        statuses.add(404)
    if has_body or parameters:
        statuses.add(422)
    if has_body:
        statuses |= {408, 413, 415}
    if method != "get" and (has_body or parameters):
        statuses.add(409)
    answers = operation["responses"]
    if _OURS & {reference.rpartition("/")[2] for reference in _references(answers.get("422", {}))}:
        del answers["422"]
    for status in sorted(statuses):
        answers.setdefault(str(status), _answer(status))


def _answer(status: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "description": _TOLD[status],
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in (429, 503):
        made["headers"] = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
    return made


def _references(answer: dict[str, Any]) -> list[str]:
    contents = answer.get("content", {}).values()
    return [str(content.get("schema", {}).get("$ref", "")) for content in contents]
