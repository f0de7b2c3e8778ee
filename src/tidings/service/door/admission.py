"""Rate limits and authentication, in the order in which they protect each other; one for HTTP and XML.

    no token, or one that was never seen ──> a permit of the address ──> the store ──> a permit of the account

A token that was valid lately costs its address nothing, so callers who share an address with somebody guessing tokens
are not held up. A new one takes a permit before the store is asked, and gives it back when it turns out to be valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.service.door.addresses import network_of
from tidings.service.door.callers import Caller, digest_of
from tidings.service.door.rate_limits import Throttle
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.service.gateway import Gateway


class Admission:
    """Of one gateway, in its event loop."""

    def __init__(self, gateway: Gateway, settings: Settings) -> None:
        self._gateway = gateway
        self._callers = gateway.callers
        self._by_account = Throttle(settings.requests_per_second)
        self._by_address = Throttle(settings.guest_requests_per_second)

    def at_once(self, token: str) -> Caller | None:
        """The owner of a token that was valid a moment ago; None: `admit` must look it up. Raises TooManyRequests."""
        caller = self._callers.remembered(digest_of(token))
        if caller is not None:
            self._by_account.take(caller.username)
        return caller

    async def admit(self, token: str | None, address: str) -> Caller:
        """Whose token it is, or the guest. Raises TooManyRequests or UnknownToken."""
        if not token:
            self._by_address.take(network_of(address))
            return self._gateway.guest
        caller = self.at_once(token)
        if caller is None:
            caller = await self._looked_up(digest_of(token), address)
            self._by_account.take(caller.username)
        return caller

    async def _looked_up(self, digest: bytes, address: str) -> Caller:
        if self._callers.was_known(digest):
            return await self._gateway.read(self._callers.look_up, digest)
        network = network_of(address)
        self._by_address.take(network)
        caller = await self._gateway.read(self._callers.look_up, digest)
        self._by_address.give_back(network)
        return caller
