"""Calls to a running service, kept as examples: what was sent, and what came back with all that differs each time
replaced."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import msgspec

from tests.service.conftest import Service
from tidings.service.api.documents.examples import JSON, Example

TIME = "2026-05-01T10:00:00Z"
LATER = "2099-01-01T00:00:00Z"
LINES = "application/x-ndjson"
_REPLACED = [
    (re.compile(r"(?!2026-05-|2099-)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), TIME),
    (re.compile(r"^\d{4}-\d\d-\d\d$"), TIME[:10]),
    (re.compile(r"\btid_[A-Za-z0-9_-]{20,}"), "tid_Zk3Lx0mVt8YbQ2sHn6Rw1CpUe9AjDf4GoKi7Xa5Bv0"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=]{20,}"), "whsec_YW4gZXhhbXBsZSBhbmQgbm8gc2VjcmV0"),
    (re.compile(r"\btest\.[0-9a-f]{16}"), "test.9f86d081884c7d65"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "https://receiver.example.org"),
    (re.compile(r"127\.0\.0\.1:\d+"), "receiver.example.org"),
    (re.compile(r"webhook-timestamp: \d+"), "webhook-timestamp: 1777629600"),
]
_SECONDS = 0.012


class Recording:
    def __init__(self, service: Service, client: httpx.Client) -> None:
        self.service = service
        self.client = client
        self._examples: dict[str, list[Example]] = {}
        self.answers: list[tuple[str, httpx.Response, Any]] = []  # with their bodies
        self._names: dict[str, str] = {}

    def examples(self) -> dict[str, list[Example]]:
        """Of all calls, by request; without what differs each time."""
        return {request: [self._plain_example(one) for one in made] for request, made in self._examples.items()}

    def stands_for(self, value: str, name: str) -> str:
        """In examples an id that was drawn by lot has this name."""
        self._names[value] = name
        return value

    def call(
        self,
        request: str,
        name: str,
        summary: str,
        status: int,
        body: Any = None,
        /,
        *,
        takes: str = JSON,
        client: httpx.Client | None = None,
        shortened: Callable[[Any], Any] | None = None,
        headers: dict[str, str] | None = None,
        **parameters: Any,
    ) -> httpx.Response:
        """Asks the service, which must answer with this status. `shortened` is applied to a long answer."""
        method, path = request.split()
        query = {key: value for key, value in parameters.items() if f"{{{key}}}" not in path}
        in_path = {key: str(value) for key, value in parameters.items() if key not in query}
        content = body if isinstance(body, str) else None if body is None else json.dumps(body)
        answer = (client or self.client).request(
            method,
            path.format(**in_path),
            params=query,
            content=content,
            headers={**({} if body is None else {"Content-Type": takes}), **(headers or {})},
        )
        assert answer.status_code == status, (request, name, answer.status_code, answer.text)
        says = answer.headers.get("content-type", JSON).partition(";")[0]
        got = _read(answer, says)
        self.answers.append((request, answer, got))
        made = Example(
            name=name,
            summary=summary,
            status=status,
            parameters={**parameters, **(headers or {})},
            body=body,
            takes=takes,
            answer=shortened(got) if shortened else got,
            says=says,
        )
        self._examples.setdefault(request, []).append(made)
        return answer

    def stream(self, request: str, name: str, summary: str, **parameters: Any) -> None:
        """Reads a stream of server-sent events up to the first with data."""
        method, path = request.split()
        with self.client.stream(method, path, params=parameters) as answer:
            assert answer.status_code == 200
            text = ""
            for line in answer.iter_lines():
                text += f"{line}\n"
                if not line and "data: " in text:
                    break
            self.answers.append((request, answer, text))
        says = answer.headers["content-type"].partition(";")[0]
        made = Example(name, summary, 200, parameters, answer=text, says=says)
        self._examples.setdefault(request, []).append(made)

    def _plain_example(self, one: Example) -> Example:
        parameters, body, answer = (self._plain(part) for part in (one.parameters, one.body, one.answer))
        return msgspec.structs.replace(one, parameters=parameters, body=body, answer=answer)

    def _plain(self, value: Any) -> Any:
        match value:
            case dict():
                return {
                    key: _SECONDS if key == "seconds" and isinstance(one, float) else self._plain(one)
                    for key, one in value.items()
                }
            case list():
                return [self._plain(one) for one in value]
            case str():
                for pattern, put in _REPLACED:
                    value = pattern.sub(put, value)
                for id, name in self._names.items():
                    value = value.replace(id, name)
                return value
        return value


def _read(answer: httpx.Response, says: str) -> Any:
    if not answer.content:
        return None
    return answer.json() if says.endswith("json") and says != LINES else answer.text
