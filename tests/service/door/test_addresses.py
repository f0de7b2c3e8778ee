"""Whose address counts, behind proxies and for IPv6."""

import pytest

from tidings.service.door.addresses import Proxies, network_of

PROXIES = Proxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
    ],
)
def test_ipv6_counts_by_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        ("192.0.2.9", {b"x-forwarded-for": b"203.0.113.5"}, "192.0.2.9"),  # no proxy of ours
        ("127.0.0.1", {}, "127.0.0.1"),
        ("127.0.0.1", {b"x-forwarded-for": b"203.0.113.5"}, "203.0.113.5"),
        ("127.0.0.1", {b"x-forwarded-for": b"1.1.1.1, 203.0.113.5, 10.1.2.3"}, "203.0.113.5"),  # the first is made up
        ("127.0.0.1", {b"x-forwarded-for": b"10.9.9.9, 10.1.2.3"}, "10.9.9.9"),
        ("127.0.0.1", {b"x-forwarded-for": b"203.0.113.5, unknown"}, "127.0.0.1"),
        ("::ffff:127.0.0.1", {b"x-forwarded-for": b"203.0.113.5:4711"}, "203.0.113.5"),
        ("127.0.0.1", {b"forwarded": b'for=1.1.1.1, for="[2001:db8::7]:99";proto=https'}, "2001:db8::7"),
        ("127.0.0.1", {b"forwarded": b"for=_hidden"}, "127.0.0.1"),
        (
            "127.0.0.1",
            {b"forwarded": b"for=1.1.1.1", b"x-forwarded-for": b"203.0.113.5"},
            "127.0.0.1",
        ),  # one is wrong
        ("127.0.0.1", {b"forwarded": b"for=203.0.113.5", b"x-forwarded-for": b"203.0.113.5"}, "203.0.113.5"),
    ],
)
def test_who_asks(peer: str, headers: dict[bytes, bytes], client: str) -> None:
    assert PROXIES.client(peer, headers.items()) == client


def test_nobody_is_trusted_unless_named() -> None:
    assert not Proxies(())
    assert Proxies(()).client("127.0.0.1", [(b"x-forwarded-for", b"203.0.113.5")]) == "127.0.0.1"
