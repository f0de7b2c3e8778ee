"""Whether the server is alive and ready."""

from __future__ import annotations

from typing import Any

from tidings.client.calls.twins import explained_by
from tidings.client.requests import health_requests
from tidings.client.sending import AsyncSender, Sender
from tidings.errors import ClientError


class HealthCalls(Sender):
    def healthy(self) -> bool:
        """Whether the server answers at all; never raises."""
        try:
            return self._call(health_requests.healthy())
        except ClientError:
            return False

    def ready(self) -> dict[str, Any]:
        """Whether the server accepts and matches events (`ready`), with the state of its pipeline and outbox."""
        return self._call(health_requests.ready())


@explained_by(HealthCalls)
class AsyncHealthCalls(AsyncSender):
    async def healthy(self) -> bool:
        try:
            return await self._call(health_requests.healthy())
        except ClientError:
            return False

    async def ready(self) -> dict[str, Any]:
        return await self._call(health_requests.ready())
