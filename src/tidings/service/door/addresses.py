"""Whose address counts: behind a proxy that we trust, the one that it names; of IPv6, the network of 64 bits.

One customer has a /64 at least, so limits by single addresses of IPv6 would limit nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_FORWARDED_FOR = b"x-forwarded-for"
_FORWARDED = b"forwarded"


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """What limits are counted by: an IPv4 address, the /64 of an IPv6 address, or the text as it is."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(IPv6Network((int(found) >> 64 << 64, 64)))
    return str(found)


class Proxies:
    """Those whose word about an address is believed."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._networks: list[IPv4Network | IPv6Network] = [ip_network(one, strict=False) for one in trusted]
        self._trusts = lru_cache(maxsize=10_000)(self._is_trusted)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def trusts(self, address: str) -> bool:
        return bool(self._networks) and self._trusts(address)

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Who really asks: the last address that no trusted proxy has.

        Only what trusted proxies appended is believed, so the headers are read from their end. A client can send the
        header that the proxy does not set: where both are there and disagree, the proxy's own address counts.
        """
        if not self.trusts(peer):
            return peer
        lists: dict[bytes, list[str]] = {}
        for name, value in headers:
            if name == _FORWARDED_FOR:
                lists.setdefault(name, []).extend(part.strip() for part in value.decode("latin-1").split(","))
            elif name == _FORWARDED:
                lists.setdefault(name, []).extend(map(_forwarded_for, value.decode("latin-1").split(",")))
        named = {self._last_stranger(hops, peer) for hops in lists.values()}
        return named.pop() if len(named) == 1 else peer

    def _last_stranger(self, hops: list[str], peer: str) -> str:
        last = peer
        for hop in reversed(hops):
            address = _address(hop)
            if address is None:
                break  # nobody's word counts beyond it
            last = address
            if not self.trusts(address):
                break
        return last

    def _is_trusted(self, address: str) -> bool:
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return any(found in network for network in self._networks)


def _forwarded_for(element: str) -> str:
    """RFC 7239: the `for` of one hop."""
    for pair in element.split(";"):
        name, _, value = pair.strip().partition("=")
        if name.lower() == "for":
            return value.strip().strip('"')
    return ""


def _address(hop: str) -> str | None:
    """Without a port and brackets; None if it is not an address."""
    text = hop
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        ip_address(text)
    except ValueError:
        return None
    return text
