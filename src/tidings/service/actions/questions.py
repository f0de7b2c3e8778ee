"""Questions about filters and stored events: explain, try a filter, search, and queries that run as jobs.

Those that need the matchers go to processes beside the service (`inquiries`), large ones to a job (`jobs`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from tidings.schema import Instant
from tidings.service.actions.filters import EVERYTHING
from tidings.service.gateway import Gateway
from tidings.service.workers import composite_trial, event_search, filter_trial, questions
from tidings.service.workers.composite_trial import CompositeTried, WaitNow
from tidings.service.workers.event_search import Sought, Wanted
from tidings.service.workers.feed_guess import Answers, FeedGuess, Sample, guess_feed
from tidings.service.workers.filter_trial import Trial
from tidings.service.workers.inquiries import Inquiries, start_worker
from tidings.service.workers.jobs import Jobs
from tidings.service.workers.query_files import Query
from tidings.service.workers.questions import SCANNED, Found, StoredEvent, Tried
from tidings.store import Standing

LARGE = 1_000_000  # positions; a search over more of them without paging becomes a job
PAGE = 100
_NEW = "new"  # the id of an event to explain that has none; the gateway would give it one


@dataclass(frozen=True, slots=True)
class EventAsked:
    """The event to explain, by one of these: a raw event, a position, an id of a source."""

    raw: dict[str, Any] | None = None
    position: int | None = None
    source: str = ""
    id: str | None = None


@dataclass(frozen=True, slots=True)
class SearchAsked:
    """`limit`: the size of a page; None: the default size, or a job. `after`: where the page before ended."""

    filter: str = ""
    begin: Instant | None = None
    end: Instant | None = None
    after: int = 0
    limit: int | None = None
    newest_first: bool = False
    as_job: bool = False


class Questions:
    """Of one event loop. Neither process nor thread is started before the first question."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._store = gateway.store
        self.start_worker = start_worker  # how a process of the inquiries is started
        self._inquiries: Inquiries | None = None
        self._jobs: Jobs | None = None
        self._searches: dict[tuple[str, Wanted], asyncio.Future[Sought]] = {}  # under way

    @property
    def inquiries(self) -> Inquiries:
        if self._inquiries is None:
            self._inquiries = Inquiries(self._store.url, start=self.start_worker)
        return self._inquiries

    @property
    def jobs(self) -> Jobs:
        if self._jobs is None:
            settings = self._gateway.settings
            self._jobs = Jobs(settings.data / "queries", self._store.url, settings.spark_master, self._store.clock.now)
        return self._jobs

    async def close(self) -> None:
        if self._inquiries is not None:
            await self._inquiries.close()
        if self._jobs is not None:
            await asyncio.to_thread(self._jobs.close)

    async def explain(self, owner: str, filter: str, event: EventAsked) -> dict[str, Any]:
        """Why it matches, or why not. Raises LanguageError, RefusedEvent, NoSuchEvent; and, as all that follow, Busy,
        TookTooLong or NoAnswer."""
        ask = self.inquiries.ask
        if event.raw is not None:
            most_values = self._gateway.settings.values_per_attribute
            return await ask(owner, questions.explain, filter, {"id": _NEW, **event.raw}, most_values)
        if event.position is not None:
            return await ask(owner, questions.explain_stored, filter, event.position)
        assert event.id is not None
        return await ask(owner, questions.explain_published, filter, event.source, event.id)

    async def try_on_period(self, owner: str, filter: str, begin: Instant, end: Instant, newest: int) -> Tried:
        """What is odd about a filter, and which stored events it would have matched. Raises LanguageError."""
        return await self.inquiries.ask(owner, questions.test, owner, filter, begin, end, newest)

    async def try_on_newest(self, owner: str, filter: str, last: int) -> Trial:
        """How many of the `last` events of the types that it can match it matches, and the newest of these. Raises
        LanguageError."""
        return await self.inquiries.ask(owner, filter_trial.tried, filter, last)

    async def try_composite(
        self, owner: str, composite: str, begin: Instant | None, end: Instant, newest: int, last: int = SCANNED
    ) -> CompositeTried:
        """What a composite would have detected in stored events. Raises LanguageError."""
        most_waiting = self._gateway.settings.waiting_instances
        return await self.inquiries.ask(owner, composite_trial.tried, composite, begin, end, newest, last, most_waiting)

    async def waiting(self, owner: str, standing: Standing) -> tuple[WaitNow, ...]:
        """What a composite waits for. Raises NotComposite."""
        return await self.inquiries.ask(owner, composite_trial.waiting, standing)

    async def covered_by(self, owner: str, filter: str, besides: str = "") -> str:
        """Another subscription of the owner that finds all of it already, or ''. Raises LanguageError."""
        return await self.inquiries.ask(owner, filter_trial.covering, owner, filter, besides)

    async def guess_feed(self, owner: str, sample: Sample, answers: Answers | None) -> FeedGuess:
        """How a file would be read, and what corrections do to it. Raises FeedError or SchemaError."""
        return await self.inquiries.ask(owner, guess_feed, sample, answers)

    async def search(self, owner: str, asked: SearchAsked) -> Found | Query:
        """Stored events that match, a page of them or a job. Raises LanguageError or TooManyQueries."""
        after, upto = await self._gateway.read(questions.scope, self._store, asked.begin, asked.end)
        paged = asked.limit is not None or bool(asked.after)
        if asked.as_job or (asked.filter and not paged and upto - after > LARGE):
            first = max(after, asked.after)
            text = await self.inquiries.ask(owner, questions.canonical, asked.filter or EVERYTHING)
            return await self._gateway.read(self.jobs.submit, owner, text, first, max(first, upto))
        if asked.newest_first:
            upto = min(upto, asked.after - 1) if asked.after else upto
        else:
            after = max(after, asked.after)
        bounds = (after, upto, asked.limit or PAGE, asked.newest_first)
        return await self.inquiries.ask(owner, questions.search, asked.filter, *bounds)

    async def find(self, owner: str, wanted: Wanted) -> Sought:
        """Stored events that match, by when they happened, the last first. Raises LanguageError."""
        return await asyncio.shield(self._search(owner, wanted))

    async def find_soon(self, owner: str, wanted: Wanted, seconds: float) -> Sought | None:
        """None where they are not found within that many seconds: the search goes on, and the next request for the same
        meanwhile waits for it. Raises LanguageError."""
        done, _ = await asyncio.wait({search := self._search(owner, wanted)}, timeout=seconds)
        return search.result() if done else None

    def _search(self, owner: str, wanted: Wanted) -> asyncio.Future[Sought]:
        key = owner, wanted
        if key not in self._searches:
            search = asyncio.ensure_future(self.inquiries.ask(owner, event_search.sought, wanted))
            self._searches[key] = search
            search.add_done_callback(lambda done: self._searched(key, done))
        return self._searches[key]

    def _searched(self, key: tuple[str, Wanted], done: asyncio.Future[Sought]) -> None:
        del self._searches[key]
        if not done.cancelled():
            done.exception()  # raised where it is awaited, unless nobody waits any more

    async def stored(self, position: int) -> StoredEvent:
        """Raises NoSuchEvent."""
        return await self._gateway.read(questions.stored, self._store, position)

    async def queries(self, owner: str) -> list[Query]:
        return await self._gateway.read(self.jobs.queries, owner)

    async def query(self, owner: str, id: str) -> Query:
        """Raises NoSuchQuery."""
        return await self._gateway.read(self.jobs.query, owner, id)

    async def query_events(self, owner: str, id: str, after: int, limit: int) -> tuple[list[bytes], int | None]:
        """Raises NoSuchQuery or QueryNotDone."""
        return await self._gateway.read(self.jobs.page, owner, id, after, limit)

    async def remove_query(self, owner: str, id: str) -> None:
        """Raises NoSuchQuery."""
        await self._gateway.read(self.jobs.remove, owner, id)
