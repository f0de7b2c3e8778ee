"""Who may connect while many are connected."""

import pytest

from tidings.service.door.connection_limits import ConnectionLimits, TooManyConnections


def test_one_address_has_a_quarter_and_others_have_theirs() -> None:
    places = ConnectionLimits(8)
    for address in ("192.0.2.1", "192.0.2.1", "2001:db8::1"):
        places.take(address)
    with pytest.raises(TooManyConnections, match=r"there are 2 connections from 192[.]0[.]2[.]1, the most"):
        places.take("192.0.2.1")
    places.take("192.0.2.2")
    places.leave("192.0.2.1")
    places.take("192.0.2.1")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", ""])
def test_this_machine_may_have_all_places_but_no_more(address: str) -> None:
    places = ConnectionLimits(8)
    for _ in range(8):
        places.take(address)
    with pytest.raises(TooManyConnections, match="there are 8 connections, the most"):
        places.take("192.0.2.1")
    places.leave(address)
    places.take("192.0.2.1")


def test_a_single_place_is_somebodys() -> None:
    places = ConnectionLimits(1)
    places.take("192.0.2.1")
    with pytest.raises(TooManyConnections):
        places.take("192.0.2.2")
