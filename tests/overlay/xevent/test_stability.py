"""Crashes: everyone who is left is reached again, by XEvent and by SCRIBE with heartbeats."""

import random

import numpy as np
import pytest

from tidings.overlay.xevent.recovery import Periods, Recovery
from tidings.overlay.xevent.rejoining import Rejoining
from tidings.overlay.xevent.sketch import node_text
from tidings.overlay.xevent.stability import stability
from tidings.overlay.xevent.traffic import PeerSetting, World, compare, world

SMALL = PeerSetting(peers=400, paths=80, documents=6)


@pytest.fixture(scope="module")
def made() -> World:
    return world(SMALL)


def test_both_systems_deliver_everything_and_xevent_sends_less(made: World) -> None:
    (xevent, scribe, unicast), untested = compare(made)
    assert [xevent.missed, scribe.missed, unicast.missed] == [0, 0, 0]
    assert xevent.sends < scribe.sends
    assert 0 < untested < 1
    assert xevent.penalties.min() >= 1 - 1e-9  # nothing is quicker than the network below
    assert set(unicast.penalties.tolist()) == {1.0}
    assert xevent.first_penalties.mean() >= xevent.penalties.mean()
    for one in (xevent, scribe, unicast):
        assert one.stress.sum() == pytest.approx(made.peers.links)
    # A document is carried to each subscriber at least, and counted on each link of its way.
    copies = unicast.stress @ np.arange(len(unicast.stress))
    assert copies == pytest.approx(unicast.mean_stress * made.peers.links)
    assert copies > 2 * unicast.sends


def test_the_same_seed_gives_the_same_figures(made: World) -> None:
    again = world(SMALL)
    assert [one.mean_stress for one in compare(again)[0]] == [one.mean_stress for one in compare(made)[0]]
    shares = [[list(one.reached) for one in stability(each, 0.2, 2)] for each in (again, made)]
    assert shares[0] == shares[1]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_all_live_subscribers_are_reached_again(made: World, share: float) -> None:
    xevent, scribe, basic = stability(made, share, 4)
    assert xevent.whole is not None
    assert scribe.whole is not None
    assert xevent.whole <= 35
    assert scribe.whole <= 35
    assert basic.whole is None
    assert len(set(basic.reached.tolist())) == 1
    for one in (xevent, scribe):
        assert list(one.reached) == sorted(one.reached)
        assert one.reached[-1] == 1
        assert one.least <= one.reached[0] < 1
    assert xevent.reached[0] > scribe.reached[0]


def hosts(made: World, numbers: slice) -> set[int]:
    return {made.xevent.hosts[root] for root in made.tree.sketch.roots[numbers]}


def test_without_a_crash_everyone_is_reached_at_once(made: World) -> None:
    left = made.peers.after_crash(())
    for system in (Recovery(made.xevent, left, random.Random(1)), Rejoining(made.scribe, left, random.Random(1))):
        assert system.reached() == len(system.subscriptions)


def test_a_document_goes_round_a_root_that_is_gone(made: World) -> None:  # XEvent, section IV.D, last paragraph
    left = made.peers.after_crash(hosts(made, slice(None)))
    recovery = Recovery(made.xevent, left, random.Random(1))
    roots = {host: root for root, host in made.xevent.hosts.items() if root in made.tree.sketch.roots}
    lost = [one for one in recovery.subscriptions if made.xevent.hosts[one[1]] in roots]
    assert lost
    assert recovery.reached() == len(recovery.subscriptions) - len(lost)


def test_all_hosts_and_the_topic_crash(made: World) -> None:
    gone = {*made.xevent.hosts.values(), made.peers.host(node_text(()))}
    recovery = Recovery(made.xevent, made.peers.after_crash(gone), random.Random(1))
    assert recovery.reached() == 0
    recovery.run(40)
    assert recovery.reached() == len(recovery.subscriptions) > 0


def test_heartbeats_alone_bring_back_hosts_and_leases_bring_back_filters(made: World) -> None:
    left = made.peers.after_crash(hosts(made, slice(1)))
    recovery = Recovery(made.xevent, left, random.Random(1), Periods(heartbeat=1, lease=1000))
    lost = len(recovery.subscriptions) - recovery.reached()
    assert lost > 0
    recovery.run(10)
    root = made.tree.sketch.roots[0]
    assert recovery.hosts[root] == left.host(node_text(root))
    assert recovery.reached() < len(recovery.subscriptions)
    recovery.run(1010)
    assert recovery.reached() == len(recovery.subscriptions)


def test_a_lease_is_renewed_within_its_time(made: World) -> None:
    left = made.peers.after_crash(set(made.xevent.hosts.values()))
    recovery = Recovery(made.xevent, left, random.Random(1), Periods(lease=10))
    recovery.run(5)
    assert 0 < recovery.reached() < len(recovery.subscriptions)
    recovery.run(15)
    assert recovery.reached() == len(recovery.subscriptions)


def test_a_scribe_child_waits_for_three_heartbeats(made: World) -> None:
    roots = {group.root for group in made.scribe.groups.values()}
    rejoining = Rejoining(made.scribe, made.peers.after_crash(roots), random.Random(1), Periods(heartbeat=10))
    at_once = rejoining.reached()  # of a new root's own tree
    rejoining.run(20)
    assert rejoining.reached() == at_once < len(rejoining.subscriptions) / 2
    rejoining.run(33)
    assert rejoining.reached() == len(rejoining.subscriptions) > 0
