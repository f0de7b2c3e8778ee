"""A request as a value: what is sent, whether it may be sent twice, how the answer is read.

`requests` has a function for each, `flows` decides what is sent when, `Client` and `AsyncClient` send.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

from tidings.client.answers import ServerResponse
from tidings.client.errors import ServerUnreachable

T = TypeVar("T")
JSON = "application/json"
NDJSON = "application/x-ndjson"
LARGEST_PAGE = 1_000
ANSWERED = 60.0  # seconds that the server may look for an answer, and the first time load what it needs for that


@dataclass(frozen=True, slots=True)
class Request(Generic[T]):
    """`idempotent`: sent twice it does what it does once. `waits`: seconds for which the server may hold it."""

    method: str
    path: str
    read: Callable[[ServerResponse], T]
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    idempotent: bool = True
    waits: float = 0.0
    fine: frozenset[int] = frozenset()  # statuses that are answers although they are no success
    retried: bool = True


def read_request(path: str, read: Callable[[ServerResponse], T], *, waits: float = 0.0, **query: object) -> Request[T]:
    given = tuple((name, str(value)) for name, value in query.items() if value is not None)
    return Request("GET", path, read, given, waits=waits)


def change_request(
    method: str, path: str, read: Callable[[ServerResponse], T], body: object = None, *, waits: float = 0.0
) -> Request[T]:
    """Carries a key made once, so that the server knows a second sending from a second wish."""
    headers = {"idempotency-key": uuid4().hex}
    if body is None:
        return Request(method, path, read, headers=headers, waits=waits)
    return Request(method, path, read, body=as_json(body), headers=headers | {"content-type": JSON}, waits=waits)


def as_json(body: object) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def segment(name: str) -> str:
    return quote(name, safe="")


def member(name: str) -> Callable[[ServerResponse], Any]:
    def read(answer: ServerResponse) -> Any:
        body = answer.json()
        if name not in body:
            raise ServerUnreachable(answer.url, f"its answer has no {name!r}: is it a Tidings server?")
        return body[name]

    return read


def nothing(answer: ServerResponse) -> None:
    return None
