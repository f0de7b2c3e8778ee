"""Subscriptions as JSON Lines: `{"id": "s1", "filter": "event_type contains car and price < 1300"}`; in another
language with its `dialect`, or with the array `filters` of CloudEvents; or with a `composite` instead of the filter.

All wrong lines are found before anything is used: a subscriber must never wonder which part of a file counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from typing import Any, NamedTuple

from tidings.errors import LanguageError, TidingsError, shown, suggestion
from tidings.language.cesql.filters import filters_text
from tidings.language.dialects import CORE, DIALECTS, core_text
from tidings.language.filter import Filter, Subscription
from tidings.schema.catalog import Catalog

_MEMBERS = ("id", "filter", "dialect", "filters", "composite")


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


class CompositeText(NamedTuple):
    line: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class SubscriptionTexts:
    """The ids and filters of a file, as texts, with the numbers of their lines; its composites; and the lines that have
    neither."""

    lines: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    composites: list[CompositeText] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)

    def refuse_wrong(
        self, filters: Mapping[int, LanguageError], composites: Mapping[int, LanguageError] | None = None
    ) -> None:
        """Raises WrongSubscriptions with all that is wrong: the lines, the filters and the composites (by place), and
        repeated ids."""
        problems = list(self.problems)
        seen: dict[str, int] = {}
        for line, id, kind, place in self._rows():
            problem = (filters if kind == "filter" else composites or {}).get(place)
            if problem is not None:
                problems.append((line, f"{kind}, {problem}" if problem.text else str(problem)))
            elif seen.setdefault(id, line) != line:
                problems.append((line, f"id {id!r} is taken by line {seen[id]}"))
        if problems:
            raise WrongSubscriptions(tuple(sorted(problems)))

    def _rows(self) -> Iterator[tuple[int, str, str, int]]:
        """Line, id, kind and place of each, in the order of the lines."""
        filters = (
            (line, id, "filter", place) for place, (line, id) in enumerate(zip(self.lines, self.ids, strict=True))
        )
        composites = ((line, id, "composite", place) for place, (line, id, _) in enumerate(self.composites))
        return merge(filters, composites)

    def _add(self, line: int, raw: Any, composites: bool) -> None:
        try:
            id, kind, text = _members(_parsed(raw) if isinstance(raw, bytes) else raw)
            if kind == "composite" and not composites:
                raise ValueError(f"subscription {id!r} is a composite; only filters are accepted here")
        except ValueError as problem:
            self.problems.append((line, str(problem)))
            return
        if kind == "composite":
            self.composites.append(CompositeText(line, id, text))
            return
        self.lines.append(line)
        self.ids.append(id)
        self.texts.append(text)


def read_texts(lines: Iterable[Any], *, composites: bool = False) -> SubscriptionTexts:
    """All that a file says: lines of JSON, or the objects that they would be. Nothing is bound to a catalog, and
    nothing raised: see `refuse_wrong`. `composites`: whether these are taken."""
    read = SubscriptionTexts()
    for number, line in enumerate(lines, 1):
        if isinstance(line, bytes):
            line = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
            if not line:
                continue
        read._add(number, line, composites)
    return read


def read_subscriptions(lines: Iterable[bytes], catalog: Catalog) -> list[Subscription]:
    """All subscriptions of a file, bound to the catalog; raises WrongSubscriptions with all that is wrong. To match
    many, `matching.subscription_batch` is much quicker."""
    read = read_texts(lines)
    filters: list[Filter] = []
    problems: dict[int, LanguageError] = {}
    for place, text in enumerate(read.texts):
        try:
            filters.append(Filter.parse(text, catalog))
        except LanguageError as problem:
            problems[place] = problem
    read.refuse_wrong(problems)
    return [Subscription(id, filter) for id, filter in zip(read.ids, filters, strict=True)]


def write_subscription(subscription: Subscription) -> str:
    return json.dumps({"id": subscription.id, "filter": subscription.filter.text}, ensure_ascii=False)


def _members(raw: Any) -> tuple[str, str, str]:
    """The id, what it has (a filter or a composite) and its text; raises ValueError."""
    if not isinstance(raw, dict):
        raise ValueError(f'expected an object {{"id": …, "filter": …}}, got {shown(raw)}')
    for name in raw:
        if name not in _MEMBERS:
            raise ValueError(f"no member {name!r}{suggestion(name, _MEMBERS)}")
    given = [name for name in ("filter", "filters", "composite") if name in raw]
    if len(given) > 1:
        raise ValueError(f"it has both {given[0]!r} and {given[1]!r}; write two subscriptions")
    kind = "composite" if given == ["composite"] else "filter"
    for name in ("id", kind) if given != ["filters"] else ("id",):
        if not isinstance(raw.get(name), str) or not raw[name]:
            problem = "is missing" if raw.get(name) is None else f"must be text, got {shown(raw[name])}"
            if raw.get(name) == "":
                problem = "must not be empty"
            raise ValueError(f"{name!r} {problem}")
    if not raw["id"].isascii() and any("\ud800" <= character <= "\udfff" for character in raw["id"]):
        raise ValueError(f"the id {shown(raw['id'])} contains an unpaired surrogate")
    return raw["id"], kind, _text(raw, kind)


def _text(raw: dict[str, Any], kind: str) -> str:
    """Of a composite or a filter, the latter as text of the filter language."""
    dialect = raw.get("dialect", "cloudevents" if "filters" in raw else CORE)
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise ValueError(f"no dialect {shown(dialect)}{suggestion(str(dialect), DIALECTS)}")
    if (kind == "composite" and dialect != CORE) or ("filters" in raw and dialect != "cloudevents"):
        raise ValueError(f"{'a composite' if kind == 'composite' else repr('filters')} cannot be in {dialect!r}")
    return core_text(dialect, filters_text(raw["filters"]) if "filters" in raw else raw[kind])


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as problem:
        raise ValueError(f"byte {problem.start + 1} of the line is not UTF-8") from None
    except json.JSONDecodeError as problem:
        raise ValueError(f"not JSON at column {problem.colno}: {problem.msg}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
