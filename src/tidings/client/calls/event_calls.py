"""Publishing, and queries over stored events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, overload

from tidings.client import flows
from tidings.client.answers import Published, PublishedMany, StoredEvent
from tidings.client.calls.twins import explained_by
from tidings.client.flows import Tell, silent
from tidings.client.lines import EventLike, raw_event
from tidings.client.requests import event_requests
from tidings.client.sending import AsyncSender, Sender


class EventCalls(Sender):
    @overload
    def publish(self, event: EventLike) -> Published: ...
    @overload
    def publish(self, event: Sequence[EventLike]) -> PublishedMany: ...

    def publish(self, event: EventLike | Sequence[EventLike]) -> Published | PublishedMany:
        """Publishes one event, or a list of them. Events without an id get one, so a retry creates no second event.

        `client.publish({"event_type": "car", "attributes": {"price": 900, "brand": "mini"}}).position`. A
        refused event raises ServerRefused, with all its `errors`. For a list, `results` has one entry per event:
        accepted with its id and position, duplicate, or refused with its errors.
        """
        if isinstance(event, Sequence):
            return self._run(flows.publish_many(event, silent, self.patience, len(event)))
        return self._call(event_requests.publish(raw_event(event)))

    def publish_many(self, events: Iterable[EventLike | bytes | str], tell: Tell = silent) -> PublishedMany:
        """Publishes any number of events, as JSON Lines in chunks: mappings, `Event`s, or lines of JSON.

        `client.publish_many(open("events.jsonl"))`. `tell` is called with the counts so far. If the call
        raises, the events counted so far are accepted; the whole input may be sent again if the events have their own
        ids. `results` has the first 10,000.
        """
        return self._run(flows.publish_many(events, tell, self.patience))

    def event(self, position: int) -> StoredEvent:
        """The stored event at a journal position."""
        return self._call(event_requests.event(position))

    def query(
        self,
        filter: str | None = None,
        *,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredEvent]:
        """The stored events that match, in journal order; pages are fetched as you iterate.

        `for found in client.query("price < 1300", since="7d"): print(found.position, found.event)`
        """
        return self._each(flows.query(filter, since, until, limit, self.patience))

    def start_query(self, filter: str | None = None, *, since: str | None = None, until: str | None = None) -> str:
        """Starts a large query as a job on the server; returns the job's id."""
        return self._call(event_requests.start_query(filter, since, until))

    def queries(self) -> list[dict[str, Any]]:
        """Your jobs of the last day, oldest first."""
        return self._run(flows.listed(event_requests.queries, self.patience))

    def query_state(self, id: str) -> dict[str, Any]:
        """`{"state": "waiting" | "running" | "done" | "failed", "matched": …}`"""
        return self._call(event_requests.query_state(id))

    def query_events(self, id: str, *, limit: int | None = None) -> Iterator[StoredEvent]:
        """Waits for a job to finish and yields what it found; raises QueryFailed."""
        return self._each(flows.job_events(id, limit, self.patience))

    def drop_query(self, id: str) -> None:
        """Stops a job, or deletes its results."""
        self._call(event_requests.drop_query(id))


@explained_by(EventCalls)
class AsyncEventCalls(AsyncSender):
    @overload
    async def publish(self, event: EventLike) -> Published: ...
    @overload
    async def publish(self, event: Sequence[EventLike]) -> PublishedMany: ...

    async def publish(self, event: EventLike | Sequence[EventLike]) -> Published | PublishedMany:
        if isinstance(event, Sequence):
            return await self._run(flows.publish_many(event, silent, self.patience, len(event)))
        return await self._call(event_requests.publish(raw_event(event)))

    async def publish_many(self, events: Iterable[EventLike | bytes | str], tell: Tell = silent) -> PublishedMany:
        return await self._run(flows.publish_many(events, tell, self.patience))

    async def event(self, position: int) -> StoredEvent:
        return await self._call(event_requests.event(position))

    def query(
        self,
        filter: str | None = None,
        *,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[StoredEvent]:
        return self._each(flows.query(filter, since, until, limit, self.patience))

    async def start_query(
        self, filter: str | None = None, *, since: str | None = None, until: str | None = None
    ) -> str:
        return await self._call(event_requests.start_query(filter, since, until))

    async def queries(self) -> list[dict[str, Any]]:
        return await self._run(flows.listed(event_requests.queries, self.patience))

    async def query_state(self, id: str) -> dict[str, Any]:
        return await self._call(event_requests.query_state(id))

    def query_events(self, id: str, *, limit: int | None = None) -> AsyncIterator[StoredEvent]:
        return self._each(flows.job_events(id, limit, self.patience))

    async def drop_query(self, id: str) -> None:
        await self._call(event_requests.drop_query(id))
