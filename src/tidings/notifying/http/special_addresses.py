"""Addresses that are not public: of this machine, of private networks, and others that no webhook may reach."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# The special-purpose registries of IANA. `ipaddress.is_global` differs between releases of Python and calls some
# multicast addresses global, so they are listed.
_SPECIAL_4 = {
    ip_network(network): kind
    for kind, networks in {
        "a loopback": ("127.0.0.0/8",),
        "a private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        "a link-local": ("169.254.0.0/16",),
        "a carrier's shared": ("100.64.0.0/10",),
        "an unspecified": ("0.0.0.0/8",),
        "a multicast": ("224.0.0.0/4",),
        "a reserved": ("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4"),
        "a documentation": ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
    }.items()
    for network in networks
}
_SPECIAL_6 = {
    ip_network(network): kind
    for kind, networks in {
        "a loopback": ("::1/128",),
        "an unspecified": ("::/128",),
        "a private": ("fc00::/7",),
        "a link-local": ("fe80::/10",),
        "a multicast": ("ff00::/8",),
        "a 6to4": ("2002::/16",),  # nobody receives there any more, and what it leads to is hidden
        "a Teredo": ("2001::/32",),
        "a documentation": ("2001:db8::/32", "3fff::/20"),
        "a reserved": ("2001::/23",),
    }.items()
    for network in networks
}
_UNICAST_6 = ip_network("2000::/3")  # all that is given out; what lies outside is not for the public
_NAT64 = ip_network("64:ff9b::/96")


@lru_cache(4_096)
def special(text: str) -> str | None:
    """What keeps an address from being public, such as 'a private'; None: nothing."""
    try:
        address = ip_address(text)
    except ValueError:
        return "an unreadable"
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif address in _NAT64:  # on a network without IPv4 every IPv4 host has such an address
            address = IPv4Address(int(address) & 0xFFFF_FFFF)
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in _SPECIAL_4.items() if address in network), None)
    if address.scope_id is not None:
        return "a link-local"
    kind = next((kind for network, kind in _SPECIAL_6.items() if address in network), None)
    return kind if kind is not None or address in _UNICAST_6 else "a reserved"
