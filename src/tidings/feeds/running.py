"""A feed at work: looks at its source, makes events of what is new, publishes them, and says what was refused.

What goes wrong outside (a site that does not answer, a file that cannot be read, a server that restarts) is told and
tried again with growing pauses. Events have stable ids, so whatever is sent twice counts once; what was published
lately is not even sent. Memory is bounded by one page of records and the ids remembered.
"""

from __future__ import annotations

import random
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeVar

from tidings.client import Client, PublishedMany, ServerRefused, ServerUnreachable
from tidings.feeds.errors import FeedError, SourceUnreachable, UnreadableFeed
from tidings.feeds.growing import Growth
from tidings.feeds.making import EventMaker, Made, check_schema
from tidings.feeds.mapping import Mapping
from tidings.feeds.records import Content, read_records
from tidings.feeds.sources import Source, open_source
from tidings.schema import Catalog, Instant

T = TypeVar("T")

AT_ONCE = 500  # events in one request
REMEMBERED = 100_000  # ids
_REASONS_TOLD = 5  # of one page or file
_PASSES_BY_ITSELF = frozenset({429, 500, 502, 503, 504})


@dataclass
class Counters:
    """What a feed has done so far. `known`: published before, so not sent again; `failures` of source or server."""

    looks: int = 0
    records: int = 0
    published: int = 0
    duplicates: int = 0
    known: int = 0
    refused: int = 0
    appended: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class BackOff:
    """The pause after failures in a row doubles, up to `longest` seconds; a random half of it is left out."""

    shortest: float = 1.0
    longest: float = 300.0
    draw: Callable[[], float] = field(default=random.random, repr=False)

    def pause(self, usual: float, failures: int) -> float:
        if not failures:
            return usual
        whole = max(usual, self.shortest) * 2.0 ** min(failures - 1, 30)
        return min(whole, max(self.longest, usual)) * (0.5 + self.draw() / 2)


class Feed:
    """One mapping and a client; `tell` hears one line for whatever a person should know."""

    def __init__(
        self,
        mapping: Mapping,
        client: Client,
        tell: Callable[[str], None] = lambda line: None,
        *,
        source: Source | None = None,
        back_off: BackOff | None = None,
        remembered: int = REMEMBERED,
    ) -> None:
        self.mapping = mapping
        self.counters = Counters()
        self._client = client
        self._tell = tell
        self._source = source
        self._back_off = back_off or BackOff()
        self._growth = Growth(mapping)
        self._growth_told = False
        self._known = _Known(remembered)

    def once(self) -> Counters:
        """One look at all there is. Raises FeedError or ClientError; a file that cannot be read stops no other."""
        self._source = self._source or open_source(self.mapping.origin, once=True)
        try:
            self._look(threading.Event(), again=False)
        finally:
            self._close()
        return self.counters

    def run(self, stop: threading.Event) -> Counters:
        """Until `stop` is set. Raises only what will not pass by itself: a schema that lacks something, no token."""
        self._source = self._source or open_source(self.mapping.origin)
        failures = 0
        try:
            while not stop.is_set():
                try:
                    self._look(stop, again=True)
                    failures = 0
                except (SourceUnreachable, ServerUnreachable, ServerRefused) as problem:
                    if isinstance(problem, ServerRefused) and problem.status not in _PASSES_BY_ITSELF:
                        raise
                    failures += 1
                    self._failed(problem)
                stop.wait(self._back_off.pause(self.mapping.origin.every, failures))
        finally:
            self._close()
        return self.counters

    def _look(self, stop: threading.Event, again: bool) -> None:
        assert self._source is not None
        self.counters.looks += 1
        catalog: Catalog | None = None
        if self.counters.looks == 1:
            catalog = self._checked_schema()  # before anything is asked for that could not be published
        for content in self._source.look():
            catalog = catalog or self._checked_schema()
            try:
                catalog = self._take(content, catalog, stop, again)
            except UnreadableFeed as problem:
                self._failed(problem)  # it will be looked at again when it has changed
            if stop.is_set():
                return
            self._source.done(content)

    def _close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _checked_schema(self) -> Catalog:
        catalog = self._client.schema()
        check_schema(self.mapping, catalog)
        return catalog

    def _take(self, content: Content, catalog: Catalog, stop: threading.Event, again: bool) -> Catalog:
        """Publishes one page or file; the answer is the schema as it is then."""
        records = read_records(content, self.mapping.layout, self.mapping.paths)
        told = 0
        maker = EventMaker(self.mapping, catalog)
        for batch in _batches(records, AT_ONCE):
            if stop.is_set():
                break
            self.counters.records += len(batch)
            made = [one for one in map(maker.make, batch) if self._is_new(one, catalog)]
            if self.mapping.time is not None:
                made.sort(key=_time)  # a listing has the newest first, and whoever waits for composites the oldest
            read = [one for one in made if not one.errors]
            catalog = self._insist(partial(self._grow, read, catalog), stop, again) or catalog
            done = self._insist(partial(self._client.publish_many, [one.raw for one in read]), stop, again)
            if done is None:
                break
            refused = self._count(made, read, done, catalog)
            for one in refused[: _REASONS_TOLD - told]:
                self._tell(f"{content.place}: {refusal(one)}")
            told += len(refused)
        if told > _REASONS_TOLD:
            self._tell(f"{content.place}: … and {told - _REASONS_TOLD:,} more refused")
        return catalog

    def _is_new(self, made: Made, catalog: Catalog) -> bool:
        if self._known.settled(made.raw["id"], catalog.version):
            self.counters.known += 1
            return False
        return True

    def _grow(self, made: list[Made], catalog: Catalog) -> Catalog:
        catalog, appended = self._growth.append(made, catalog, self._client)
        self.counters.appended += appended
        if self._growth.problem and not self._growth_told:
            self._growth_told = True
            self._tell(f"{self.mapping.name}: {self._growth.problem}")
        return catalog

    def _count(self, made: list[Made], read: list[Made], done: PublishedMany, catalog: Catalog) -> list[dict[str, Any]]:
        """Counts, and remembers what need not be sent again; the refused ones, told by the server or found here."""
        refused = [one.refused() for one in made if one.errors]
        self.counters.published += done.accepted
        self.counters.duplicates += done.duplicates
        self.counters.refused += done.refused_total + len(refused)
        for one in made:
            self._known.add(one.raw["id"], catalog.version if one.errors else 0)
        for told in done.refused:
            self._known.add(read[told["line"] - 1].raw["id"], catalog.version)
        return [*refused, *done.refused]

    def _insist(self, act: Callable[[], T], stop: threading.Event, again: bool) -> T | None:
        """Does it until the server has answered; None when it is time to stop."""
        failures = 0
        while not stop.is_set():
            try:
                return act()
            except (ServerUnreachable, ServerRefused) as problem:
                passes = isinstance(problem, ServerUnreachable) or problem.status in _PASSES_BY_ITSELF
                if not again or not passes:
                    raise
                failures += 1
                self._failed(problem)
            stop.wait(self._back_off.pause(0.0, failures))
        return None

    def _failed(self, problem: FeedError | ServerUnreachable | ServerRefused) -> None:
        self.counters.failures += 1
        self._tell(f"{self.mapping.name}: {problem}")


class _Known:
    """Ids that need not be sent again; a refused one may be when the schema has grown since."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._versions: OrderedDict[bytes, int] = OrderedDict()

    def settled(self, id: str, version: int) -> bool:
        key = _key(id)
        at = self._versions.get(key)
        if at is None:
            return False
        self._versions.move_to_end(key)
        return at in (0, version)

    def add(self, id: str, version: int) -> None:
        """0: it is published."""
        self._versions[_key(id)] = version
        while len(self._versions) > self._most:
            self._versions.popitem(last=False)


def refusal(one: dict[str, Any]) -> str:
    """`event 'e1' refused: domain: …`"""
    reasons = "; ".join(f"{error.get('rule')}: {error.get('message')}" for error in one["errors"])
    return f"event {one.get('id')!r} refused: {reasons}"


def _time(made: Made) -> int:
    return Instant.parse(made.raw["time"]) if "time" in made.raw else 0


def _key(id: str) -> bytes:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch
