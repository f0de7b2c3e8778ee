"""Events that carry one number and subscriptions to ranges of it: who gets what, a test can say by itself."""

from __future__ import annotations

from tests.service.served import Served

PASSWORD = "correct horse battery staple"
SCHEMA = (
    ("/v1/schema/domains", {"name": "count", "kind": "numeric"}),
    ("/v1/schema/attributes", {"name": "n", "domain": "count"}),
    ("/v1/schema/event-types", {"name": "sample", "attributes": [{"name": "n", "mandatory": True, "unique": True}]}),
)


def register(served: Served, username: str) -> str:
    """The token of a new account."""
    status, answer = served.ask("POST", "/v1/accounts", {"username": username, "password": PASSWORD})
    assert status == 201, answer
    token: str = answer["token"]
    return token


def describe(served: Served, token: str) -> None:
    for path, body in SCHEMA:
        status, answer = served.ask("POST", path, body, token)
        assert status == 201, answer


def sample(id: str, n: int) -> dict[str, object]:
    return {"id": id, "source": "test", "event_type": ["sample"], "attributes": {"n": n}}


def between(low: int, high: int) -> str:
    return f"event_type contains sample and n >= {low} and n < {high}"
