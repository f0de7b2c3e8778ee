"""A feed at work: looks at its source, makes events of what is new, publishes them, and says what was refused.

What goes wrong outside (a site that does not answer, a file that cannot be read, a server that restarts) is told and
tried again with growing pauses. Events have stable ids, so whatever is sent twice counts once; what was published
lately is not even sent. Memory is bounded by one page of records and the ids remembered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tidings.client import Client, PublishedMany, ServerRefused, ServerUnreachable
from tidings.feeds.errors import FeedError, PatternTooSlow, SourceUnreachable, UnreadableFeed
from tidings.feeds.event_maker import EventMaker, Made, check_schema, schema_mark
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.memory.dead_letters import DeadLetters, letters_path
from tidings.feeds.memory.memory import Memory
from tidings.feeds.memory.refusals import Refusals, due
from tidings.feeds.memory.rejects import Rejects
from tidings.feeds.memory.told_once import EmptyPaths, ToldOnce
from tidings.feeds.new_values import Growth
from tidings.feeds.records.patterns import limited_patterns
from tidings.feeds.records.records import Located, located_records
from tidings.feeds.sending import Sending, line_of
from tidings.feeds.sources.back_off import BackOff
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.pace import Pace
from tidings.feeds.sources.sources import Source, open_source
from tidings.schema import Catalog, Instant

T = TypeVar("T")

AT_ONCE = 2_000  # records that are read and sent together
REMEMBERED = 100_000  # ids
_PASSES_BY_ITSELF = frozenset({429, 500, 502, 503, 504})


@dataclass
class Counters:
    """What a feed has done so far. `known`: published before, so not sent again; `failures` of source or server.

    `waiting`: records refused by this run or an earlier one, which are tried again when the mapping, the schema or
    their file has changed; `kept` as dead letters, and `not_kept`: those that are too many for that, or at least so
    many if `more_not_kept`. `faults` counts, by name, why records were refused and values left out."""

    looks: int = 0
    records: int = 0
    published: int = 0
    duplicates: int = 0
    known: int = 0
    refused: int = 0
    appended: int = 0
    failures: int = 0
    left_out: int = 0
    waiting: int = 0
    kept: int = 0
    not_kept: int = 0
    more_not_kept: bool = False
    faults: dict[str, int] = field(default_factory=dict)

    def see(self, fault: str) -> None:
        self.faults[fault] = self.faults.get(fault, 0) + 1


class Taken(NamedTuple):
    """A record on its way to the server."""

    found: Located
    made: Made


class _Schema(NamedTuple):
    """What a feed makes of a schema."""

    catalog: Catalog
    maker: EventMaker
    mark: str


class Feed:
    """One mapping and a client; `tell` hears one line for whatever a person should know.

    `state` is a file in which it keeps what is done, so that it goes on from there after a restart. `rejects` gets all
    records that are refused, also those that an earlier run refused. `progress` hears every few seconds how far a long
    page or file is."""

    def __init__(
        self,
        mapping: Mapping,
        client: Client,
        tell: Callable[[str], None] = lambda line: None,
        *,
        state: Path | None = None,
        source: Source | None = None,
        rejects: Rejects | None = None,
        progress: Callable[[str], None] = lambda line: None,
        back_off: BackOff | None = None,
        remembered: int = REMEMBERED,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.mapping = mapping
        self.counters = Counters()
        self._client = client
        self._tell = tell
        self._source = source
        self._rejects = rejects
        self._progress = progress
        self._back_off = back_off or BackOff()
        self._growth = Growth(mapping)
        self._growth_told = False
        self._told = ToldOnce(lambda line: tell(f"{mapping.name}: {line}"))
        self._memory = Memory(mapping, client, tell, state, remembered)
        self._letters = None if state is None else self._opened(letters_path(state))
        self._schema: _Schema | None = None
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
            self.counters.waiting = self._memory.waiting
            self._memory.ask_again(self._source, self._read_by(catalog).mark, self._clock(), bool(self._rejects))
        pace = Pace(self._progress)
        for content in self._source.look(stop):
            catalog = catalog or self._checked_schema()
            refusals = Refusals(content.place, self._tell)
            try:
                catalog = self._take(content, catalog, refusals, pace, stop, again)
            except UnreadableFeed as problem:  # it will be looked at again when it has changed
                self.counters.failures += 1
                self._told.wrong(content.place, [str(problem)])
            refusals.tell_the_rest()
            if stop.is_set():
                return
            self._source.done(content)
            self._memory.done(content.place, refusals.owing)
            self.counters.waiting = self._memory.waiting
            if self._rejects is not None:
                self._rejects.flush()
            self._keep()

    def _keep(self) -> None:
        """Now and then; what is published of a file that is still read need not be sent again after a crash."""
        if self._source is not None:
            self._memory.keep(self._source, bool(self._growth.problem))
            self._keep_letters()

    def _close(self) -> None:
        if self._source is not None:
            self._memory.keep(self._source, bool(self._growth.problem), at_once=True)
            self._keep_letters(at_once=True)
            self._source.close()
            self._source = None

    def _opened(self, path: Path) -> DeadLetters | None:
        """None, told, where they cannot be read: the feed works without."""
        try:
            letters = DeadLetters(path)
            self._count_letters(letters)
            return letters
        except (OSError, UnreadableFeed) as problem:
            self._tell(
                f"{self.mapping.name}: refused records are not kept: {problem}; --rejects FILE keeps them elsewhere"
            )
            return None

    def _count_letters(self, letters: DeadLetters) -> None:
        count = self.counters
        count.kept, count.not_kept, count.more_not_kept = len(letters), letters.beyond, letters.more

    def _keep_letters(self, at_once: bool = False) -> None:
        if self._letters is None:
            return
        try:
            self._letters.keep(at_once)
        except OSError as problem:
            self._letters = None
            self._tell(
                f"{self.mapping.name}: refused records are not kept: {problem}; --rejects FILE keeps them elsewhere"
            )

    def _checked_schema(self) -> Catalog:
        catalog = self._client.schema()
        check_schema(self.mapping, catalog)
        return catalog

    def _read_by(self, catalog: Catalog) -> _Schema:
        """Once for all files that are read by it: a large schema takes longer than a small file."""
        if self._schema is None or self._schema.catalog is not catalog:
            self._schema = _Schema(catalog, EventMaker(self.mapping, catalog), schema_mark(self.mapping, catalog))
        return self._schema

    def _take(
        self, content: Content, catalog: Catalog, refusals: Refusals, pace: Pace, stop: threading.Event, again: bool
    ) -> Catalog:
        """Publishes one page or file; the answer is the schema as it is then."""
        _, maker, mark = self._read_by(catalog)
        empty = EmptyPaths(self.mapping)
        with Sending() as sending, limited_patterns():
            for batch in _batches(located_records(content, self.mapping.layout, self.mapping.paths), AT_ONCE):
                taken = [Taken(found, self._made(maker, found, content)) for found in batch]
                sending.make_room({one.made.raw["id"] for one in taken})
                if stop.is_set():
                    break
                self.counters.records += len(batch)
                empty.see([found.record for found in batch])
                taken = [one for one in taken if self._is_new(one, mark, refusals)]
                if self.mapping.time is not None:
                    taken.sort(key=_time)  # listings have the newest first; composites need the oldest first
                read = [one for one in taken if not one.made.errors]
                grown = self._insist(partial(self._grow, [one.made for one in read], catalog), stop, again) or catalog
                if grown is not catalog:
                    catalog, mark = grown, self._read_by(grown).mark
                publish = partial(self._client.publish_many, [line_of(one.made.raw) for one in read])
                sending.begin(
                    partial(self._insist, publish, stop, again),
                    partial(self._settle, taken, read, mark, refusals, content, batch[-1], pace),
                    [one.made.raw["id"] for one in taken],
                )
        self._told.wrong(content.place, [] if stop.is_set() else empty.told(content.place))
        return catalog

    def _made(self, maker: EventMaker, found: Located, content: Content) -> Made:
        try:
            return maker.make(found.record)
        except PatternTooSlow as problem:
            stops = f"{problem}; nothing was published from about {found.place} on"
            raise UnreadableFeed(content.place, stops) from None

    def _is_new(self, one: Taken, mark: str, refusals: Refusals) -> bool:
        known = self._memory.known.mark(one.made)
        if known is not None and known == mark:
            if self._rejects is not None:
                return True  # to be refused once more, with the reasons
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

    def _settle(
        self, taken: list[Taken], read: list[Taken], mark: str, refusals: Refusals, content: Content, last: Located,
        pace: Pace, done: PublishedMany | None,
    ) -> None:  # fmt: skip
        """Counts, tells and remembers what became of a batch; some was refused here, some by the server. None: it was
        time to stop."""
        if done is None:
            return
        place = content.place
        by_server = {told["line"] - 1: told for told in done.refused}
        refused: list[tuple[Taken, dict[str, Any]]] = [(one, one.made.refused()) for one in taken if one.made.errors]
        for number, one in enumerate(read):
            if number in by_server:
                refused.append((one, by_server[number]))
                continue
            self._memory.published(one.made)
            if self._letters is not None:
                self._letters.settle(one.made.raw["id"], place, one.found)
                self._count_letters(self._letters)
            if one.made.left_out:
                self.counters.left_out += len(one.made.left_out)
                refusals.tell_left_out(one.found, one.made)
                self._count(one.made.faults)
        for one, told in refused:
            when = due(one.made, told)
            refusals.owe(mark, when)
            faults = one.made.faults or [f"{error['attribute']}: {error['rule']}" for error in told["errors"]]
            if self._rejects is not None:
                self._rejects.add(self.mapping.name, place, one.found, told)
            if self._letters is not None:
                self._letters.add(self.mapping.name, place, one.found, told, faults)
                if self._letters.beyond and not self.counters.not_kept:
                    kept = f"only the newest {len(self._letters):,} refused records are kept"
                    self._tell(f"{self.mapping.name}: {kept}; --rejects FILE writes all of them")
                self._count_letters(self._letters)
            if self._memory.refused(one.made, mark, when):
                self.counters.refused += 1
                refusals.tell(one.found, told)
                self._count(faults)
        self.counters.published += done.accepted
        self.counters.duplicates += done.duplicates
        pace.see(content, last)
        self._keep()

    def _count(self, faults: Iterable[str]) -> None:
        for fault in faults:
            self.counters.see(fault)

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


def _time(one: Taken) -> int:
    return Instant.parse(one.made.raw["time"]) if "time" in one.made.raw else 0


def _batches(records: Iterator[Located], size: int) -> Iterator[list[Located]]:
    """What was read before something could not be read counts too."""
    batch: list[Located] = []
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
