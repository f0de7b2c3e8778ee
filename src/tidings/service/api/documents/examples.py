"""The examples of the OpenAPI document: requests, and what a real service answered.

`examples.json` is written by `scripts/examples`, which makes every call; a test makes them again and compares. Only
what differs each time is replaced: ids, times, tokens.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

JSON = "application/json"
FILE = "examples.json"


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One call. `body` and `answer` are None where there is none."""

    name: str
    summary: str
    status: int
    parameters: dict[str, Any] = {}
    body: Any = None
    takes: str = JSON
    answer: Any = None
    says: str = JSON


@cache
def recorded_examples() -> dict[str, list[Example]]:
    """By request, as `POST /v1/events`."""
    text = files(__package__).joinpath(FILE).read_bytes()
    return msgspec.json.decode(text, type=dict[str, list[Example]])


def add_examples(request: str, operation: dict[str, Any]) -> None:
    """Raises LookupError for an operation without any."""
    try:
        found = recorded_examples()[request]
    except KeyError:
        raise LookupError(
            f"{FILE} has no example of {request}: add a call to tests/service/contract/calls.py"
        ) from None
    for example in found:
        shown = {"summary": example.summary}
        if example.body is not None:
            content = operation["requestBody"]["content"][example.takes]
            content.setdefault("examples", {})[example.name] = shown | {"value": example.body}
        if example.answer is not None:
            content = operation["responses"][str(example.status)]["content"][example.says]
            content.setdefault("examples", {})[example.name] = shown | {"value": example.answer}
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in example.parameters:
                parameter.setdefault("example", example.parameters[parameter["name"]])
