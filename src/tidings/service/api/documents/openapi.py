"""The OpenAPI document: what the routes say of themselves, and what holds for all of them.

The web framework describes paths, parameters and bodies. Here each operation gets its name and summary
(`operations`), the scope it needs (`scopes`), examples (`examples.json`), headers and the problems it may answer with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from tidings.service.api import shapes as bodies
from tidings.service.api.documents.examples import add_examples
from tidings.service.api.documents.operations import TAGS, operation_of
from tidings.service.api.documents.path_parameters import add_meanings
from tidings.service.api.documents.problem_examples import problem_example
from tidings.service.api.documents.response_headers import HEADERS, add_headers, problem_headers
from tidings.service.api.documents.schema_names import with_plain_members, with_public_names, with_shared_schemas
from tidings.service.api.problems import PROBLEM
from tidings.service.door.scopes import NOTHING, TOKEN, need_of
from tidings.settings import SCOPES


class _Told(NamedTuple):
    name: str
    meaning: str


_TOLD = {
    400: _Told("BadRequest", "The request is malformed."),
    401: _Told("Unauthorized", "The token is missing or not valid."),
    403: _Told("Forbidden", "The token lacks the scope, or the account may not do this."),
    404: _Told("NotFound", "It does not exist, or it is not yours."),
    405: _Told("MethodNotAllowed", "This address does not take the method; `Allow` lists those it takes."),
    408: _Told("RequestTimeout", "The request did not arrive in time."),
    409: _Told("Conflict", "It conflicts with the current state, for example a name that is taken."),
    413: _Told("ContentTooLarge", "The body is too large."),
    415: _Told("UnsupportedMediaType", "The content type is not accepted; `detail` lists those that are."),
    422: _Told("UnprocessableContent", "The content is not valid; `errors` lists every mistake."),
    429: _Told("TooManyRequests", "Too many requests; `Retry-After` says when to try again."),
    431: _Told("RequestHeaderFieldsTooLarge", "The URL and the headers have more than 65,536 bytes."),
    503: _Told("ServiceUnavailable", "The service cannot take this now; `Retry-After` says when to try again."),
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
    "description": "RFC 9457. `type` is stable and leads to a page with its meaning and remedy.",
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
_FRAMEWORK = {"HTTPValidationError", "ValidationError"}  # the web framework's, which are never answered
_GIVE_OUT_TOKENS = ("/v1/accounts", "/v1/tokens")
_NETWORK = "/v1/network"  # where the server has no name, nothing is there
_PUBLIC = "No token is needed."
_ANY_TOKEN = "Any valid token will do."
_ABOUT = """
Content-based publish/subscribe. Publishers send events under a shared schema; subscribers leave filters; each event is
matched with all of them, and subscribers get notifications: by polling, as server-sent events, by webhook or by mail.

- Register with `POST /v1/accounts` and send the token as `Authorization: Bearer tid_…`. Each operation names the scope
  its token needs.
- Errors are problem details (RFC 9457).
- Lists come in pages: pass `next` of one page as `after` to get the next one.
- A POST with an `Idempotency-Key` can be repeated safely for 24 hours.
- `/asyncapi.json` describes webhooks and the live stream.
"""


def document(app: FastAPI) -> dict[str, Any]:
    """Made once, when it is first asked for."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(
        title=app.title,
        version=app.version,
        summary="Describe what you care about. Hear about it as it happens.",
        description=_ABOUT.strip(),
        routes=app.routes,
        tags=[{"name": name, "description": told} for name, told in TAGS.items()],
        servers=[{"url": "/", "description": "The service that serves this document"}],
        license_info={"name": "Apache 2.0", "identifier": "Apache-2.0"},
    )
    components = made.setdefault("components", {})
    schemas = {name: one for name, one in components.get("schemas", {}).items() if name not in _FRAMEWORK}
    schemas |= bodies.components() | {"Problem": _PROBLEM}
    made["paths"] = with_shared_schemas(made["paths"], schemas)
    components["schemas"] = with_plain_members(schemas)
    components["headers"] = HEADERS
    components["responses"] = {_name(status): _problem(status) for status in _TOLD}
    components["securitySchemes"] = {"token": _SECURITY}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            _curate(method.upper(), path, operation, schemas)
    app.openapi_schema = with_public_names(made)
    return app.openapi_schema


def _curate(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    named = operation_of(method, path)
    operation |= {"tags": [named.tag], "operationId": named.id, "summary": named.summary}
    add_meanings(path, operation)
    _add_need(method, path, operation)
    _drop_framework_answers(operation)
    add_examples(f"{method} {path}", operation)
    add_headers(f"{method} {path}", operation, schemas)
    _add_problems(path, method, operation)


_SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "description": (
        "A token from `POST /v1/accounts` or `POST /v1/tokens`. It can do what its scopes name and nothing else: "
        f"{', '.join(f'`{scope}`' for scope in SCOPES)}. Each operation lists the scope it needs."
    ),
}


def _add_need(method: str, path: str, operation: dict[str, Any]) -> None:
    need = need_of(method, path)
    if need == NOTHING:
        operation["security"], told = [], _PUBLIC
    elif need == TOKEN:
        operation["security"], told = [{"token": []}], _ANY_TOKEN
    else:
        operation["security"], told = [{"token": [need]}], f"Needs the scope `{need}`."
    operation["description"] = f"{operation['description']}\n\n{told}"


def _add_problems(path: str, method: str, operation: dict[str, Any]) -> None:
    parameters = operation.get("parameters", ())
    has_body = "requestBody" in operation
    statuses = {400, 405, 429, 431, 503}
    if operation["security"] or path in _GIVE_OUT_TOKENS:
        statuses |= {401, 403}
    if any(parameter["in"] == "path" for parameter in parameters) or path.startswith(_NETWORK):
        statuses.add(404)
    if has_body or parameters:
        statuses.add(422)
    if has_body:
        statuses |= {408, 413, 415}
    if method != "GET" and (has_body or parameters):
        statuses.add(409)
    answers = operation["responses"]
    for status, answer in answers.items():
        if PROBLEM in answer.get("content", {}):
            answer["content"][PROBLEM].setdefault("example", problem_example(int(status)))
    statuses |= {int(status) for status, answer in answers.items() if _is_problem(int(status), answer)}
    for status in sorted(
        statuses - {int(status) for status in answers if not _is_problem(int(status), answers[status])}
    ):
        answers[str(status)] = {"$ref": f"#/components/responses/{_name(status)}"}


def _is_problem(status: int, answer: dict[str, Any]) -> bool:
    """A route may say that it answers with a problem; how these look is said once."""
    return status >= 400 and answer.get("content", {}).keys() <= {PROBLEM}


def _name(status: int) -> str:
    """Not the phrases of `http.HTTPStatus`: two of them differ between versions of Python."""
    return _TOLD[status].name


def _problem(status: int) -> dict[str, Any]:
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "example": problem_example(status)}
    return {"description": _TOLD[status].meaning, "headers": problem_headers(status), "content": {PROBLEM: content}}


def _drop_framework_answers(operation: dict[str, Any]) -> None:
    """The web framework says that it answers 422 in its own form, and that any route may answer with JSON of any
    form; neither is so."""
    answers = operation["responses"]
    for answer in answers.values():
        contents = answer.get("content", {})
        answer |= {"content": {media: one for media, one in contents.items() if one.get("schema")}} if contents else {}
    contents = answers.get("422", {}).get("content", {}).values()
    references = {str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2] for content in contents}
    if references & _FRAMEWORK:
        del answers["422"]
