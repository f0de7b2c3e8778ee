"""The headers of answers in the OpenAPI document: each is described once, and referred to where it may come."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_SECONDS = {"type": "integer", "minimum": 0}
HEADERS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {
        "description": "The id of the request: the caller's own if it sent one, else a new one. The log has it too.",
        "required": True,
        "schema": _TEXT,
        "example": "9f86d081884c7d65",
    },
    "Link": {
        "description": 'The URL of the next page, with `rel="next"`; absent on the last one.',
        "schema": _TEXT,
        "example": '</v1/subscriptions?after=sub-1&limit=1>; rel="next"',
    },
    "Location": {
        "description": "Where it is found from now on.",
        "schema": _TEXT,
        "example": "/v1/subscriptions/sub-1",
    },
    "ETag": {"description": "The version, for `If-None-Match`.", "schema": _TEXT, "example": '"7-json"'},
    "Idempotency-Replayed": {
        "description": "`true` if this is the stored answer to an earlier request with the same `Idempotency-Key`.",
        "schema": {"const": "true"},
        "example": "true",
    },
    "Retry-After": {"description": "Seconds to wait before trying again.", "schema": _SECONDS, "example": 1},
    "WWW-Authenticate": {"description": "RFC 9110.", "schema": _TEXT, "example": 'Bearer realm="tidings"'},
    "Allow": {"description": "The methods that this address takes.", "schema": _TEXT, "example": "GET, POST"},
    "Preference-Applied": {"description": "RFC 7240.", "schema": _TEXT, "example": "respond-async"},
    "Tidings-Duplicate-Window": {
        "description": "For how many seconds duplicates are recognized; without it, always.",
        "schema": _SECONDS,
        "example": 604800,
    },
}
_OF_PROBLEMS = {
    401: ["WWW-Authenticate"],
    405: ["Allow"],
    409: ["Retry-After"],
    429: ["Retry-After"],
    503: ["Retry-After"],
}
_OF_REQUESTS = {
    "POST /v1/subscriptions": {"201": ["Location"]},
    "POST /v1/events": {"202": ["Tidings-Duplicate-Window"], "207": ["Tidings-Duplicate-Window"]},
    "POST /v1/documents/{event_type}": {"202": ["Tidings-Duplicate-Window"]},
    "GET /v1/events": {"202": ["Location", "Preference-Applied"]},
    "GET /v1/schema": {"200": ["ETag"], "304": ["ETag"]},
    "GET /schema.json": {"200": ["ETag"], "304": ["ETag"]},
    "GET /asyncapi.json": {"200": ["ETag"], "304": ["ETag"]},
    "GET /dtds/{name}.dtd": {"200": ["ETag"], "304": ["ETag"]},
}


def problem_headers(status: int) -> dict[str, Any]:
    return _referred(["X-Request-Id", *_OF_PROBLEMS.get(status, ())])


def add_headers(request: str, operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """To the answers that are no problems."""
    has_key = any(one["name"] == "Idempotency-Key" for one in operation.get("parameters", ()))
    for status, answer in operation["responses"].items():
        names = ["X-Request-Id", *_OF_REQUESTS.get(request, {}).get(status, ())]
        if status == "200" and _has_next(answer, schemas):
            names.append("Link")
        if has_key and status.startswith("2"):
            names.append("Idempotency-Replayed")
        answer["headers"] = _referred(names)


def _has_next(answer: dict[str, Any], schemas: dict[str, Any]) -> bool:
    content = answer.get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return "next" in schemas.get(name, {}).get("properties", {})


def _referred(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
