"""A feed at work: looks at its source, makes events of what is new, publishes them, and says what was refused.

What goes wrong outside (a site that does not answer, a file that cannot be read, a server that restarts) is told and
tried again with growing pauses. Events have stable ids, so whatever is sent twice counts once; what was published
lately is not even sent. Memory is bounded by one page of records and the ids remembered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from tidings.client import Client, PublishedMany, ServerRefused, ServerUnreachable
from tidings.feeds.errors import FeedError, SourceUnreachable, UnreadableFeed
from tidings.feeds.event_maker import EventMaker, Made, check_schema, schema_mark
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.memory.memory import Memory
from tidings.feeds.memory.refusals import Refusals, due
from tidings.feeds.memory.told_once import EmptyPaths, ToldOnce
from tidings.feeds.new_values import Growth
from tidings.feeds.records.records import Record, read_records
from tidings.feeds.sources.back_off import BackOff
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.sources import Source, open_source
from tidings.schema import Catalog, Instant

T = TypeVar("T")

AT_ONCE = 500  # events in one request
REMEMBERED = 100_000  # ids
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


class Feed:
    """One mapping and a client; `tell` hears one line for whatever a person should know.

    `state` is a file in which it keeps what is done, so that it goes on from there after a restart."""

    def __init__(
        self,
        mapping: Mapping,
        client: Client,
        tell: Callable[[str], None] = lambda line: None,
        *,
        state: Path | None = None,
        source: Source | None = None,
        back_off: BackOff | None = None,
        remembered: int = REMEMBERED,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.mapping = mapping
        self.counters = Counters()
        self._client = client
        self._tell = tell
        self._source = source
        self._back_off = back_off or BackOff()
        self._growth = Growth(mapping)
        self._growth_told = False
        self._told = ToldOnce(lambda line: tell(f"{mapping.name}: {line}"))
        self._memory = Memory(mapping, client, tell, state, remembered)
        self._clock = clock

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
        if not self._memory.recalled or self._memory.owing:
            catalog = self._checked_schema()  # before anything is asked for that could not be published
            self.counters.published += self._memory.recall(self._source)
            self._memory.ask_again(self._source, schema_mark(self.mapping, catalog), self._clock())
        for content in self._source.look(stop):
            catalog = catalog or self._checked_schema()
            refusals = Refusals(content.place, self._tell)
            try:
                catalog = self._take(content, catalog, refusals, stop, again)
            except UnreadableFeed as problem:  # it will be looked at again when it has changed
                self.counters.failures += 1
                self._told.wrong(content.place, [str(problem)])
            refusals.tell_the_rest()
            if stop.is_set():
                return
            self._source.done(content)
            self._memory.done(content.place, refusals.owing)
            self._memory.keep(self._source, bool(self._growth.problem))

    def _close(self) -> None:
        if self._source is not None:
            self._memory.keep(self._source, bool(self._growth.problem), at_once=True)
            self._source.close()
            self._source = None

    def _checked_schema(self) -> Catalog:
        catalog = self._client.schema()
        check_schema(self.mapping, catalog)
        return catalog

    def _take(
        self, content: Content, catalog: Catalog, refusals: Refusals, stop: threading.Event, again: bool
    ) -> Catalog:
        """Publishes one page or file; the answer is the schema as it is then."""
        maker = EventMaker(self.mapping, catalog)
        mark = schema_mark(self.mapping, catalog)
        empty = EmptyPaths(self.mapping)
        for batch in _batches(read_records(content, self.mapping.layout, self.mapping.paths), AT_ONCE):
            if stop.is_set():
                break
            self.counters.records += len(batch)
            empty.see(batch)
            made = [one for one in map(maker.make, batch) if self._is_new(one, mark, refusals)]
            if self.mapping.time is not None:
                made.sort(key=_time)  # a listing has the newest first, and whoever waits for composites the oldest
            read = [one for one in made if not one.errors]
            grown = self._insist(partial(self._grow, read, catalog), stop, again) or catalog
            if grown is not catalog:
                catalog, mark = grown, schema_mark(self.mapping, grown)
            done = self._insist(partial(self._client.publish_many, [one.raw for one in read]), stop, again)
            if done is None:
                break
            self._settle(made, read, done, mark, refusals)
        self._told.wrong(content.place, [] if stop.is_set() else empty.told(content.place))
        return catalog

    def _is_new(self, made: Made, mark: str, refusals: Refusals) -> bool:
        known = self._memory.known.mark(made)
        if known == mark:
            refusals.owe(mark, None)
        settled = known is not None and known in ("", mark)
        self.counters.known += settled
        return not settled

    def _grow(self, made: list[Made], catalog: Catalog) -> Catalog:
        catalog, appended = self._growth.append(made, catalog, self._client)
        self.counters.appended += appended
        if self._growth.problem and not self._growth_told:
            self._growth_told = True
            self._tell(f"{self.mapping.name}: {self._growth.problem}")
        return catalog

    def _settle(self, made: list[Made], read: list[Made], done: PublishedMany, mark: str, refusals: Refusals) -> None:
        """Counts, tells and remembers what became of a batch; some was refused here, some by the server."""
        by_server = {told["line"] - 1: told for told in done.refused}
        refused = [(one, one.refused()) for one in made if one.errors]
        for number, one in enumerate(read):
            if number in by_server:
                refused.append((one, by_server[number]))
            else:
                self._memory.published(one)
        news = []
        for one, told in refused:
            when = due(one, told)
            refusals.owe(mark, when)
            if self._memory.refused(one, mark, when):
                news.append(told)
        refusals.tell(news)
        self.counters.published += done.accepted
        self.counters.duplicates += done.duplicates
        self.counters.refused += len(news)

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


def _time(made: Made) -> int:
    return Instant.parse(made.raw["time"]) if "time" in made.raw else 0


def _batches(records: Iterator[Record], size: int) -> Iterator[list[Record]]:
    """What was read before something could not be read counts too."""
    batch: list[Record] = []
    try:
        for record in records:
            batch.append(record)
            if len(batch) == size:
                yield batch
                batch = []
    except UnreadableFeed:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
