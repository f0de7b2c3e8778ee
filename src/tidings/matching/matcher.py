"""The matcher for library users: named filters, and events in any form a Python program has them.

It hides the journal positions that the pipeline needs: a filter applies to everything matched after it was added, until
it is removed. An `Algorithm` does the work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidings.errors import MatchingError, WrongArgument, expect, typed
from tidings.events import Event, RefusedEvent
from tidings.events.reader import EventReader, RefusedEvents, RefusedRow
from tidings.events.validation import MOST_VALUES
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import Algorithm, Matches
from tidings.matching.algorithms import DEFAULT, make_matcher
from tidings.matching.explain import Explanation, explain
from tidings.matching.given_filters import MOST_TOLD, GivenFilters, all_bound, bound, check_id, warn
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.match_result import MatchResult
from tidings.matching.plan.folder import open_plan, replace_plan, save_plan
from tidings.matching.spans import FOREVER, UnknownSubscription
from tidings.schema.catalog import Catalog

_SHOWN_HTML = 20
_ON_ERROR = ("raise", "skip")


class FilterUnknown(MatchingError):
    """The subscription has no filter text: it was loaded into the plan as arrays."""

    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"subscription {self.args[0]!r} was loaded as arrays, so its filter is not known as text"


class NotSaved(MatchingError):
    def __init__(self, algorithm: str) -> None:
        super().__init__(algorithm)

    def __str__(self) -> str:
        return f"a matcher with the algorithm {self.args[0]!r} cannot be saved, only one with the default"


class Matcher:
    """Filters under one schema, matched with events.

        m = tidings.Matcher(tidings.Schema.read("schema.json"))
        m.add("cheap", "price < 1000 and brand in (mini, opel)")
        for match in m.match([{"price": 900, "brand": "mini"}]):
            print(match.event, match.subscription)

    Not thread-safe: threads that share a matcher need a lock. `algorithm` selects another algorithm than the default,
    which is the fastest and the only one that can be saved; `tidings bench` compares them. An event has at most
    `values_per_attribute` different values in one attribute."""

    def __init__(
        self, schema: Catalog, algorithm: str = DEFAULT, *, values_per_attribute: int = MOST_VALUES
    ) -> None:  # fmt: skip
        expect(schema, Catalog, "Matcher", "schema", _a_schema(schema))
        expect(algorithm, str, "Matcher", "algorithm", "the name of an algorithm, such as 'default' or 'counting'")
        _check_limit(values_per_attribute, "Matcher")
        self._use(make_matcher(algorithm, schema), 0, values_per_attribute)

    def _use(self, algorithm: Algorithm, position: int, most_values: int) -> None:
        self._algorithm = algorithm
        self._box = algorithm if isinstance(algorithm, BoxMatcher) else None
        self._filters: dict[str, Filter] = {}  # for algorithms that do not store them
        self._position = position  # of every event: no change comes after it, since positions may be equal
        self._most_values = most_values
        self._reader = EventReader(algorithm.catalog, most_values)

    @property
    def schema(self) -> Catalog:
        return self._algorithm.catalog

    @property
    def algorithm(self) -> str:
        return self._algorithm.name

    def add(self, id: str, filter: str | Filter, *, replace: bool = False) -> None:
        """Adds a filter, which applies to everything matched from now on. Raises LanguageError if its text is invalid;
        issues a FilterWarning if it looks like a mistake.

        Refuses an existing id, unless `replace`."""
        check_id(id, "Matcher.add")
        made = Subscription(id, bound(filter, self.schema, "Matcher.add"))
        if replace and id in self:
            self.remove(id)
        self._algorithm.add(made, self._position)
        if self._box is None:
            self._filters[id] = made.filter
        warn([f"{id}: {warning}" for warning in made.filter.warnings])

    def add_many(self, filters: GivenFilters) -> None:
        """Adds many filters at once, all or none, much faster than one by one: a dict of filters by id, pairs of id and
        filter, or Subscriptions.

        Raises WrongFilters with all problems. Issues the first few warnings as FilterWarning."""
        self._add_all(filters, "Matcher.add_many")

    def _add_all(self, filters: GivenFilters, call: str) -> None:
        ids, batch = all_bound(filters, self.schema, call)
        self._algorithm.add_batch(ids, batch, self._position)
        if self._box is None:
            self._filters |= dict(zip(ids, batch.filters(), strict=True))
        found = batch.warnings(MOST_TOLD + 1)
        warn([f"{ids[place]}: {warning}" for place, told in found.items() for warning in told], calls=3)

    def remove(self, id: str) -> None:
        """Removes the filter: it no longer applies from now on. Raises UnknownSubscription."""
        check_id(id, "Matcher.remove")
        self._algorithm.withdraw(id, self._position)
        self._filters.pop(id, None)
        if self._box is not None:
            self._box.forget_before(self._position)  # no later event has an earlier position, so it may be dropped

    def match(
        self,
        events: Any,
        *,
        event_type: str | Sequence[str] | None = None,
        ignore_unknown: bool = False,
        on_error: str = "raise",
    ) -> MatchResult:
        """Matches every event with every subscription.

        `events`: a pandas or polars DataFrame, a pyarrow Table or RecordBatch, an iterable of dicts or Events, one of
        these alone, or an EventBatch. A dict is a whole event, `{"id": …, "event_type": …, "attributes": {…}}`, or its
        attributes alone, `{"price": 900}`. A row of a frame is an event: the column `id` is its id (by default the row
        number as text, from 0), a list has several values, null and NaN mean no value.

        `event_type`: the type of events that name none; required only if the schema has several. `ignore_unknown`:
        ignore columns that are not in the schema instead of raising an error. `on_error`: with "raise", an event that
        violates the schema raises RefusedEvents with the row and every violation; with "skip", it matches nothing and
        is listed in `refused` of the result."""
        if on_error not in _ON_ERROR:
            raise WrongArgument("Matcher.match", "on_error", "'raise' or 'skip'", typed(on_error))
        ids: list[Any] = []
        rows: list[Any] = []
        found: list[Matches] = []
        refused: list[RefusedRow] = []
        for part in self._reader.read(events, event_type, ignore_unknown):
            if part.refused and on_error == "raise":
                raise RefusedEvents(tuple(part.refused))
            refused += part.refused
            found.append(self._algorithm.match(part.batch.at(pa.repeat(self._position, len(part.batch)))))
            ids.append(part.batch.ids)
            rows.append(part.rows.to_numpy())
        return MatchResult(ids, rows, found, self._algorithm.spans, refused)

    def match_one(self, event: Any, *, event_type: str | Sequence[str] | None = None) -> list[str]:
        """The ids of the subscriptions that one event matches; the fastest way for events that arrive one by one.

        `event`: a dict, an Event, or the JSON of one, as text or bytes. Raises RefusedEvent."""
        numbers = self._algorithm.match_one(self._reader.one(event, event_type), self._position)
        ids = self._algorithm.spans.ids
        return [ids[number] for number in sorted(numbers.tolist())]

    def explain(self, id: str | Filter, event: Any, *, event_type: str | Sequence[str] | None = None) -> Explanation:
        """Explains why the event matches the subscription or not; print the result. Takes an id or a Filter."""
        filter = id if isinstance(id, Filter) else self._filter(id)
        return explain(filter, self._event(event, event_type), self.schema)

    def _event(self, event: Any, event_type: str | Sequence[str] | None) -> Event:
        batches = []
        for part in self._reader.read(event, event_type):
            for refused in part.refused:
                raise RefusedEvent(refused.id, refused.errors)
            batches.append(part.batch)
        if sum(map(len, batches)) != 1:
            expected = "one event"
            raise WrongArgument("Matcher.explain", "event", expected, f"{sum(map(len, batches)):,} of them")
        return next(event for batch in batches for event in batch)

    @property
    def subscriptions(self) -> dict[str, str]:
        """The filters' texts by id, in the order in which they were added."""
        return {id: self[id] for id in self}

    def __getitem__(self, id: str) -> str:
        """The text of a filter, in its canonical form."""
        check_id(id, "Matcher")
        text = self._filter(id).text if self._box is None else self._box.filter_text(id)
        if text is None:
            raise FilterUnknown(id)
        return text

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._algorithm.is_active(id)

    def __len__(self) -> int:
        return len(self._algorithm)

    def __iter__(self) -> Iterator[str]:
        """The ids."""
        return iter(tuple(self._algorithm.spans.active()))

    def adopt(self, schema: Catalog) -> None:
        """Switches to a schema that has grown from the current one; filters keep their meaning."""
        expect(schema, Catalog, "Matcher.adopt", "schema", "a tidings.Schema")
        self._algorithm.adopt(schema)
        self._reader = EventReader(schema, self._most_values)

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Saves schema, filters and index as a plan, a folder that `Matcher.open` and Spark workers open instantly.

        Raises PlanExists if there is a plan already, unless `overwrite`."""
        expect(folder, (str, os.PathLike), "Matcher.save", "folder", "the path of a folder")
        if self._box is None:
            raise NotSaved(self.algorithm)
        (replace_plan if overwrite else save_plan)(self._box, Path(folder))

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, values_per_attribute: int = MOST_VALUES) -> Matcher:
        """Opens a saved matcher; raises UnusablePlan if the folder has no plan or a damaged one."""
        expect(folder, (str, os.PathLike), "Matcher.open", "folder", "the path of a folder that Matcher.save has made")
        _check_limit(values_per_attribute, "Matcher.open")
        opened = open_plan(Path(folder))
        stops = opened.spans.stop[opened.spans.stop != FOREVER]
        last = max((int(ends.max()) for ends in (opened.spans.start, stops) if len(ends)), default=0)
        made = cls.__new__(cls)
        made._use(opened, last, values_per_attribute)
        return made

    def __repr__(self) -> str:
        count = "1 subscription" if len(self) == 1 else f"{len(self):,} subscriptions"
        algorithm = "" if self.algorithm == DEFAULT else f", algorithm {self.algorithm}"
        return f"<Matcher with {count}{algorithm}, schema version {self.schema.version}>"

    def _repr_html_(self) -> str:
        shown = ((id, self[id]) for id in islice(self, _SHOWN_HTML))
        rows = "".join(f"<tr><td>{escape(id)}</td><td><code>{escape(text)}</code></td></tr>" for id, text in shown)
        note = f"<p>{escape(repr(self)[1:-1])}</p>"
        return f"<table><tr><th>subscription</th><th>filter</th></tr>{rows}</table>{note}"

    def _filter(self, id: str) -> Filter:
        check_id(id, "Matcher")
        if self._box is None:
            if id not in self._filters:
                raise UnknownSubscription(id, tuple(self._filters))
            return self._filters[id]
        found = self._box.filter(id)
        if found is None:
            raise FilterUnknown(id)
        return found


def match(
    events: Any,
    filters: GivenFilters,
    schema: Catalog | None = None,
    *,
    event_type: str | Sequence[str] | None = None,
    ignore_unknown: bool = False,
    on_error: str = "raise",
) -> MatchResult:
    """Matches events with some filters once, like `Matcher.match`.

        tidings.match(frame, {"cheap": "price < 1000", "red": "paint contains 'red'"})

    `filters`: a dict of filters by id, pairs of id and filter, or one or more filters, whose texts are then their ids.
    Without a schema, one is inferred from the events, as by `Schema.infer`."""
    if schema is None:
        if isinstance(events, Iterator):
            events = list(events)
        schema = Catalog.infer(events, event_type) if isinstance(event_type, str) else Catalog.infer(events)
    matcher = Matcher(schema)
    matcher._add_all(filters, "match")
    return matcher.match(events, event_type=event_type, ignore_unknown=ignore_unknown, on_error=on_error)


def _check_limit(values: int, call: str) -> None:
    expect(values, int, call, "values_per_attribute", "a number of values, such as 1000")
    if values < 1:
        raise WrongArgument(call, "values_per_attribute", "at least 1", str(values))


def _a_schema(given: object) -> str:
    """The expected form, and how to convert the given value to it."""
    if isinstance(given, str | os.PathLike):
        return "a tidings.Schema (Schema.read takes a file)"
    return "a tidings.Schema (Schema.from_dict takes a dict)" if isinstance(given, Mapping) else "a tidings.Schema"
