"""Answers that a connection gives by itself, as bytes: the application has not seen the request, or does not matter."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from tidings.service.api.problem_types import TYPES
from tidings.service.api.problems import PROBLEM, identified


def raw_problem(name: str, detail: str, path: str, id: str) -> bytes:
    """A problem of this type, after which the connection is closed. `path`: '' where it did not arrive."""
    kind = TYPES[name]
    members = {"type": kind.uri, "title": kind.title, "status": kind.status, "detail": detail}
    body = msgspec.json.encode(identified(members, path, id))
    lines = [
        f"HTTP/1.1 {kind.status} {HTTPStatus(kind.status).phrase}",
        f"content-type: {PROBLEM}",
        f"content-length: {len(body)}",
        f"x-request-id: {id}",
        "connection: close",
    ]
    if kind.status == HTTPStatus.SERVICE_UNAVAILABLE:
        lines.append("retry-after: 1")
    return "\r\n".join((*lines, "", "")).encode("ascii") + body
