"""Requests about the server itself, one function each."""

from __future__ import annotations

from typing import Any

from tidings.client.answers import ServerResponse
from tidings.client.request import Request


def healthy() -> Request[bool]:
    return Request("GET", "/healthz", lambda answer: answer.status == 200, retried=False)


def ready() -> Request[dict[str, Any]]:
    def read(answer: ServerResponse) -> dict[str, Any]:
        return {**answer.json(), "ready": answer.status == 200}

    return Request("GET", "/readyz", read, fine=frozenset({503}), retried=False)
