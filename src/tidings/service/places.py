"""How many connections there may be at once, and of these from one address: nobody should take the last place alone.

The XML daemon asks for a place when somebody connects, and gives it back when the connection is gone.
"""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv6Address, ip_address

from tidings.errors import ServiceError

_SHARE = 4  # one address may have a quarter


class TooManyConnections(ServiceError):
    """How many there may be, and the address where only its share is taken."""

    def __init__(self, most: int, address: str = "") -> None:
        super().__init__(most, address)

    def __str__(self) -> str:
        most, address = self.args
        whose = f" from {address}" if address else ""
        return f"there are {most:,} connections{whose} already, as many as may be; try again later"


class Places:
    """Of one event loop. Those who sit at this machine may have all: a proxy there speaks for everybody."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._share = max(1, most // _SHARE)
        self._taken: Counter[str] = Counter()

    def take(self, address: str) -> None:
        """Raises TooManyConnections."""
        if self._taken.total() >= self._most:
            raise TooManyConnections(self._most)
        if self._taken[address] >= self._share and not _is_loopback(address):
            raise TooManyConnections(self._share, address)
        self._taken[address] += 1

    def leave(self, address: str) -> None:
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]


def _is_loopback(address: str) -> bool:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return not address  # a socket of this machine has none
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback
