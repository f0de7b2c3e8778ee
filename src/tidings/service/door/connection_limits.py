"""How many connections there may be at once, and of these from one address: nobody should take the last place alone.

HTTP and the XML daemon ask for a place when somebody connects, and give it back when the connection is gone.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from tidings.errors import Explained, ServiceError
from tidings.service.door.addresses import Proxies, network_of

_SHARE = 4  # one address may have a quarter


class TooManyConnections(Explained, ServiceError):
    """How many there may be, and the address, or /64, where only its share is taken."""

    most: int
    address: str
    template = "there are {most!n} connections{whose}, the most allowed; try again later"

    @property
    def whose(self) -> str:
        return f" from {self.address}" if self.address else ""


class ConnectionLimits:
    """Of one event loop. Trusted proxies and those who sit at this machine may have all: they speak for everybody."""

    def __init__(self, most: int, proxies: Proxies | None = None) -> None:
        self._most = most
        self._proxies = proxies or Proxies(())
        self._share = max(1, most // _SHARE)
        self._taken: dict[str, int] = {}
        self._all = 0

    def take(self, address: str) -> None:
        """Raises TooManyConnections."""
        network = network_of(address)
        taken = self._taken.get(network, 0)
        if taken >= self._share and not (_is_loopback(address) or self._proxies.trusts(address)):
            raise TooManyConnections(self._share, network)
        if self._all >= self._most:
            raise TooManyConnections(self._most, "")
        self._taken[network] = taken + 1
        self._all += 1

    def leave(self, address: str) -> None:
        network = network_of(address)
        self._taken[network] -= 1
        self._all -= 1
        if not self._taken[network]:
            del self._taken[network]


def _is_loopback(address: str) -> bool:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return not address  # a socket of this machine has none
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback
