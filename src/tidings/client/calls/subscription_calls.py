"""Subscriptions, filters on trial, and the notifications they bring."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from tidings.client import flows
from tidings.client.answers import Notification, Page, StoredSubscription
from tidings.client.calls.twins import explained_by
from tidings.client.lines import EventLike, raw_event
from tidings.client.requests import subscription_requests
from tidings.client.sending import AsyncSender, Sender


class SubscriptionCalls(Sender):
    def subscribe(
        self,
        filter: str | None = None,
        *,
        composite: str | None = None,
        expiry: str | None = None,
        channel: Mapping[str, Any] | None = None,
        name: str | None = None,
        note: str | None = None,
        settled: bool = False,
    ) -> StoredSubscription:
        """`client.subscribe("price < 1300", expiry="2026-12-31T00:00:00Z").id`; `warnings` list what looks odd. Instead
        of a filter, a composite: `client.subscribe(composite="[price > 9] before [price < 5] within 1 h")`.

        A channel is `{"kind": "webhook", "url": …}`, `{"kind": "email", "address": …}` or
        `{"kind": "apprise", "url": …}`, each with `digest`, `rate` and `quiet` if you like; without a
        channel, notifications are stored for you to read. `name` and `note` are for you; names need not be unique.
        With `settled`, in a network, it returns once every reachable server knows about it, or after 30 seconds.
        """
        return self._call(subscription_requests.subscribe(filter, composite, expiry, channel, name, note, settled))

    def subscriptions(self, state: str | None = None) -> Iterator[StoredSubscription]:
        """All your subscriptions, or only those that are `active` or `paused`."""
        return self._each(flows.pages(lambda after: subscription_requests.subscriptions(after, state), self.patience))

    def subscription(self, id: str) -> StoredSubscription:
        return self._call(subscription_requests.subscription(id))

    def edit(self, id: str, **members: Any) -> StoredSubscription:
        """`client.edit(id, filter="price < 1000")`; also `composite`, `expiry`, `name`, `note` (None removes them),
        `channel`, `state`."""
        return self._call(subscription_requests.edit(id, **members))

    def pause(self, id: str) -> StoredSubscription:
        """It matches nothing until it is resumed."""
        return self.edit(id, state="paused")

    def resume(self, id: str) -> StoredSubscription:
        return self.edit(id, state="active")

    def export_subscriptions(self) -> list[dict[str, Any]]:
        """All your subscriptions, each as a line of a file: `{"id": …, "filter": …, "name": …}`."""
        return self._call(subscription_requests.export_subscriptions())

    def import_subscriptions(self, lines: Iterable[Mapping[str, Any]], *, check: bool = False) -> dict[str, Any]:
        """Takes at most 10,000 such lines. Returns counts (`accepted`, `duplicates`, `refused`) and a result per line.
        With `check`, nothing is stored."""
        return self._call(subscription_requests.import_subscriptions(lines, check))

    def unsubscribe(self, id: str) -> int:
        """Returns the journal position from which on it matches nothing."""
        return self._call(subscription_requests.unsubscribe(id))

    def test(self, filter: str, *, since: str | None = None, limit: int | None = None) -> dict[str, Any]:
        """Tries a filter before you subscribe: warnings, and what it would have matched."""
        return self._call(subscription_requests.test(filter, since, limit))

    def test_composite(self, composite: str, *, since: str | None = None, limit: int | None = None) -> dict[str, Any]:
        """Tries a composite before you subscribe: warnings, and what it would have detected."""
        return self._call(subscription_requests.test_composite(composite, since, limit))

    def waiting(self, id: str) -> dict[str, Any]:
        """The partial matches of one of your composites, and when the oldest expires."""
        return self._call(subscription_requests.waiting(id))

    def explain(
        self,
        filter: str,
        event: EventLike | None = None,
        *,
        position: int | None = None,
        id: str | None = None,
        source: str | None = None,
    ) -> dict[str, Any]:
        """Why an event matches a filter, or why not. Pass the event, or name a stored one by its position or id."""
        raw = None if event is None else raw_event(event)
        return self._call(subscription_requests.explain(filter, raw, position, id, source))

    def notifications(
        self,
        after: str | None = None,
        *,
        limit: int | None = None,
        wait: float | None = None,
        subscription: str | None = None,
    ) -> Page[Notification]:
        """One page: `items`, and `next` to continue from. `wait`: seconds to wait for the first one (at most 30)."""
        return self._call(subscription_requests.notifications(after, limit, wait, subscription))

    def stream(self, after: str = "now", *, subscription: str | None = None) -> Iterator[Notification]:
        """Every notification as it comes, from now on or after a cursor, forever. Survives server restarts.

        Keep a notification's `resume` to continue from there in another process.
        """
        return self._each(flows.stream(after, subscription, self.patience))

    def follow(self, after: str | None = None, *, subscription: str | None = None) -> Iterator[Notification]:
        """Like `stream`, but starts with the first stored notification."""
        return self._each(flows.stream(after, subscription, self.patience))


@explained_by(SubscriptionCalls)
class AsyncSubscriptionCalls(AsyncSender):
    async def subscribe(
        self,
        filter: str | None = None,
        *,
        composite: str | None = None,
        expiry: str | None = None,
        channel: Mapping[str, Any] | None = None,
        name: str | None = None,
        note: str | None = None,
        settled: bool = False,
    ) -> StoredSubscription:
        return await self._call(
            subscription_requests.subscribe(filter, composite, expiry, channel, name, note, settled)
        )

    def subscriptions(self, state: str | None = None) -> AsyncIterator[StoredSubscription]:
        return self._each(flows.pages(lambda after: subscription_requests.subscriptions(after, state), self.patience))

    async def subscription(self, id: str) -> StoredSubscription:
        return await self._call(subscription_requests.subscription(id))

    async def edit(self, id: str, **members: Any) -> StoredSubscription:
        return await self._call(subscription_requests.edit(id, **members))

    async def pause(self, id: str) -> StoredSubscription:
        return await self.edit(id, state="paused")

    async def resume(self, id: str) -> StoredSubscription:
        return await self.edit(id, state="active")

    async def export_subscriptions(self) -> list[dict[str, Any]]:
        return await self._call(subscription_requests.export_subscriptions())

    async def import_subscriptions(self, lines: Iterable[Mapping[str, Any]], *, check: bool = False) -> dict[str, Any]:
        return await self._call(subscription_requests.import_subscriptions(lines, check))

    async def unsubscribe(self, id: str) -> int:
        return await self._call(subscription_requests.unsubscribe(id))

    async def test(self, filter: str, *, since: str | None = None, limit: int | None = None) -> dict[str, Any]:
        return await self._call(subscription_requests.test(filter, since, limit))

    async def test_composite(
        self, composite: str, *, since: str | None = None, limit: int | None = None
    ) -> dict[str, Any]:
        return await self._call(subscription_requests.test_composite(composite, since, limit))

    async def waiting(self, id: str) -> dict[str, Any]:
        return await self._call(subscription_requests.waiting(id))

    async def explain(
        self,
        filter: str,
        event: EventLike | None = None,
        *,
        position: int | None = None,
        id: str | None = None,
        source: str | None = None,
    ) -> dict[str, Any]:
        raw = None if event is None else raw_event(event)
        return await self._call(subscription_requests.explain(filter, raw, position, id, source))

    async def notifications(
        self,
        after: str | None = None,
        *,
        limit: int | None = None,
        wait: float | None = None,
        subscription: str | None = None,
    ) -> Page[Notification]:
        return await self._call(subscription_requests.notifications(after, limit, wait, subscription))

    def stream(self, after: str = "now", *, subscription: str | None = None) -> AsyncIterator[Notification]:
        return self._each(flows.stream(after, subscription, self.patience))

    def follow(self, after: str | None = None, *, subscription: str | None = None) -> AsyncIterator[Notification]:
        return self._each(flows.stream(after, subscription, self.patience))
