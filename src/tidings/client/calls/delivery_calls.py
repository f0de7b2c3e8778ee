"""Channels, their deliveries, and notices about them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from tidings.client import flows
from tidings.client.answers import Delivery, Page, Tried
from tidings.client.calls.twins import explained_by
from tidings.client.requests import delivery_requests
from tidings.client.sending import AsyncSender, Sender


class DeliveryCalls(Sender):
    def channel(self, id: str) -> dict[str, Any]:
        """A subscription's channel and its status: `state`, `problem`, `failing_since`."""
        return self._call(delivery_requests.channel(id))

    def pause_channel(self, id: str) -> dict[str, Any]:
        """Nothing is sent until it is resumed; nothing is lost."""
        return self._call(delivery_requests.change_channel(id, "pause"))

    def resume_channel(self, id: str) -> dict[str, Any]:
        """Sends what was held back. A disabled or unconfirmed channel is asked to confirm again."""
        return self._call(delivery_requests.change_channel(id, "resume"))

    def rotate_secret(self, id: str) -> str:
        """Creates a new secret for a webhook, shown only once. For 24 hours both secrets sign."""
        return self._call(delivery_requests.rotate_secret(id))

    def deliveries(self, id: str, state: str | None = None) -> Iterator[Delivery]:
        """Deliveries, newest first: all, or only those that are `due`, `delivered` or `dead`."""
        return self._each(flows.pages(lambda after: delivery_requests.deliveries(id, state, after), self.patience))

    def delivery(self, id: str, number: int) -> Delivery:
        """One delivery, with every attempt as `tried`."""
        return self._call(delivery_requests.delivery(id, number))

    def replay(
        self,
        id: str,
        numbers: Iterable[int] | None = None,
        *,
        failed: bool = False,
        first: int | None = None,
        last: int | None = None,
    ) -> int:
        """Sends deliveries again: by number, all dead letters, or a range of sequence numbers.

        `client.replay(id, failed=True)`; returns how many.
        """
        return self._call(delivery_requests.replay(id, numbers, failed, first, last))

    def test_delivery(self, id: str) -> Tried:
        """Sends a test at once, with the newest match or a made-up event; returns the result."""
        return self._call(delivery_requests.test_delivery(id))

    def notices(self, after: str | None = None) -> Page[dict[str, Any]]:
        """Notices about your channels, e.g. that one was disabled; those after a number, if given."""
        return self._call(delivery_requests.notices(after))

    def see_notices(self, upto: str) -> None:
        """Marks notices as seen, up to a page's `next`."""
        self._call(delivery_requests.see_notices(upto))


@explained_by(DeliveryCalls)
class AsyncDeliveryCalls(AsyncSender):
    async def channel(self, id: str) -> dict[str, Any]:
        return await self._call(delivery_requests.channel(id))

    async def pause_channel(self, id: str) -> dict[str, Any]:
        return await self._call(delivery_requests.change_channel(id, "pause"))

    async def resume_channel(self, id: str) -> dict[str, Any]:
        return await self._call(delivery_requests.change_channel(id, "resume"))

    async def rotate_secret(self, id: str) -> str:
        return await self._call(delivery_requests.rotate_secret(id))

    def deliveries(self, id: str, state: str | None = None) -> AsyncIterator[Delivery]:
        return self._each(flows.pages(lambda after: delivery_requests.deliveries(id, state, after), self.patience))

    async def delivery(self, id: str, number: int) -> Delivery:
        return await self._call(delivery_requests.delivery(id, number))

    async def replay(
        self,
        id: str,
        numbers: Iterable[int] | None = None,
        *,
        failed: bool = False,
        first: int | None = None,
        last: int | None = None,
    ) -> int:
        return await self._call(delivery_requests.replay(id, numbers, failed, first, last))

    async def test_delivery(self, id: str) -> Tried:
        return await self._call(delivery_requests.test_delivery(id))

    async def notices(self, after: str | None = None) -> Page[dict[str, Any]]:
        return await self._call(delivery_requests.notices(after))

    async def see_notices(self, upto: str) -> None:
        await self._call(delivery_requests.see_notices(upto))
