"""Prefix routing against brute force."""

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.overlay.xevent.ring import Ring, key_of

WHOLE = 1 << 64
numbers = st.integers(0, WHOLE - 1)
# Ids that share long prefixes, too: most digits are those of a few keys.
near = st.builds(lambda start, end: (start << 40 | end) % WHOLE, st.integers(0, 3), st.integers(0, 1 << 12))
rings = st.lists(numbers | near, min_size=1, max_size=120, unique=True).map(sorted)


def apart(one: int, other: int) -> float:
    return (one * 31 + other * 17) % 101


def nearest(ids: list[int], key: int, crashed: frozenset[int] = frozenset()) -> int:
    """Brute force."""
    return min(
        (peer for peer in range(len(ids)) if peer not in crashed),
        key=lambda peer: (min((ids[peer] - key) % WHOLE, (key - ids[peer]) % WHOLE), ids[peer]),
    )


@settings(max_examples=150)
@given(ids=rings, key=numbers | near, data=st.data())
def test_a_route_ends_at_the_peer_whose_id_is_nearest(ids: list[int], key: int, data: st.DataObject) -> None:
    crashed = data.draw(st.frozensets(st.integers(0, len(ids) - 1), max_size=len(ids) - 1))
    ring = Ring(ids, apart, met=3, crashed=crashed)
    start = data.draw(st.sampled_from([peer for peer in range(len(ids)) if peer not in crashed]))
    way = ring.route(start, key)
    assert way[-1] == ring.owner(key) == nearest(ids, key, crashed)
    assert crashed.isdisjoint(way)
    assert len(set(way)) == len(way)


def test_a_route_takes_as_many_hops_as_the_number_of_peers_has_digits() -> None:
    chosen = random.Random(5)
    for count in (1000, 20_000):
        ids = sorted({chosen.getrandbits(64) for _ in range(count)})
        ring = Ring(ids, apart)
        hops = [len(ring.route(chosen.randrange(count), chosen.getrandbits(64))) - 1 for _ in range(300)]
        assert max(hops) <= math.ceil(math.log(count, 16)) + 2
        assert sum(hops) / len(hops) <= math.log(count, 16) + 0.5


def test_a_hop_shares_a_digit_more_and_never_fewer() -> None:
    chosen = random.Random(6)
    ids = sorted({chosen.getrandbits(64) for _ in range(5000)})
    ring = Ring(ids, apart)
    strict = 0
    for _ in range(100):
        key = chosen.getrandbits(64)
        way = ring.route(chosen.randrange(5000), key)
        shared = [(64 - (ids[peer] ^ key).bit_length()) // 4 for peer in way[:-1]]
        assert shared == sorted(shared)
        strict += len(shared) == len(set(shared))
    assert strict > 80  # else nobody has one digit more


def test_an_entry_is_the_nearest_peer_that_was_met() -> None:
    ids = [number << 56 for number in range(256)]  # each first byte once
    whole = Ring(ids, lambda one, other: abs(other - 0x93), met=16)
    assert whole.next_hop(0x10, 0x9F << 56) == 0x93
    assert Ring(ids, lambda one, other: abs(other - 0x93), crashed={0x93}).next_hop(0x10, 0x9F << 56) == 0x92


def test_an_entry_stays_when_others_crash() -> None:
    chosen = random.Random(7)
    ids = sorted({chosen.getrandbits(64) for _ in range(2000)})
    whole, crashed = Ring(ids, apart), frozenset(chosen.sample(range(2000), 400))
    left = Ring(ids, apart, crashed=crashed)
    keys = [(peer, chosen.getrandbits(64)) for peer in range(2000) if peer not in crashed]
    same = [whole.next_hop(*one) == left.next_hop(*one) for one in keys if whole.next_hop(*one) not in crashed]
    assert sum(same) / len(same) > 0.8  # the rest met a nearer one in the place of one that is gone


def test_keys_are_hashes() -> None:
    assert key_of("/SigmodRecord") == key_of("/SigmodRecord") != key_of("/SigmodRecord/issue")
    assert 0 <= key_of("/") < WHOLE
