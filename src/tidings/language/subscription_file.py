"""Subscriptions as JSON Lines: `{"id": "s1", "filter": "event_type contains car and price < 1300"}`.

All wrong lines are found before anything is used: a subscriber must never wonder which part of a file counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tidings.errors import LanguageError, TidingsError, shown, suggestion
from tidings.language.filter import Filter, Subscription
from tidings.schema.catalog import Catalog

_MEMBERS = ("id", "filter")


class WrongSubscriptions(TidingsError):
    """Lines that are no subscriptions: (line number, what is wrong) each."""

    def __init__(self, problems: tuple[tuple[int, str], ...]) -> None:
        super().__init__(problems)

    @property
    def problems(self) -> tuple[tuple[int, str], ...]:
        return tuple(self.args[0])

    def __str__(self) -> str:
        lines = [f"line {line}: {problem}" for line, problem in self.problems]
        many = "1 subscription is" if len(lines) == 1 else f"{len(lines):,} subscriptions are"
        return "\n".join([f"{many} wrong, so nothing was matched:", *lines])


def read_subscriptions(lines: Iterable[bytes], catalog: Catalog) -> list[Subscription]:
    """All subscriptions of a file, bound to the catalog; raises WrongSubscriptions with all that is wrong."""
    read: list[Subscription] = []
    problems: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    for number, line in _numbered(lines):
        try:
            subscription = _subscription(line, catalog)
        except LanguageError as problem:
            problems.append((number, f"filter, {problem}" if problem.text else str(problem)))
            continue
        except ValueError as problem:
            problems.append((number, str(problem)))
            continue
        if subscription.id in seen:
            problems.append((number, f"id {subscription.id!r} is taken by line {seen[subscription.id]}"))
        seen.setdefault(subscription.id, number)
        read.append(subscription)
    if problems:
        raise WrongSubscriptions(tuple(problems))
    return read


def write_subscription(subscription: Subscription) -> str:
    return json.dumps({"id": subscription.id, "filter": subscription.filter.text}, ensure_ascii=False)


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, 1):
        content = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if content:
            yield number, content


def _subscription(line: bytes, catalog: Catalog) -> Subscription:
    raw = _parsed(line)
    if not isinstance(raw, dict):
        raise ValueError(f'expected an object {{"id": …, "filter": …}}, got {shown(raw)}')
    for name in raw:
        if name not in _MEMBERS:
            raise ValueError(f"no member {name!r}{suggestion(name, _MEMBERS)}")
    for name in _MEMBERS:
        if not isinstance(raw.get(name), str) or not raw[name]:
            problem = "is missing" if raw.get(name) is None else f"must be text, got {shown(raw[name])}"
            if raw.get(name) == "":
                problem = "must not be empty"
            raise ValueError(f"{name!r} {problem}")
    if not raw["id"].isascii() and any("\ud800" <= character <= "\udfff" for character in raw["id"]):
        raise ValueError(f"the id {shown(raw['id'])} has half a character, which UTF-8 cannot write")
    return Subscription(raw["id"], Filter.parse(raw["filter"], catalog))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as problem:
        raise ValueError(f"byte {problem.start + 1} of the line is no UTF-8") from None
    except json.JSONDecodeError as problem:
        raise ValueError(f"no JSON at column {problem.colno}: {problem.msg}") from None
    except RecursionError:
        raise ValueError("no subscription: the JSON is nested too deeply") from None
