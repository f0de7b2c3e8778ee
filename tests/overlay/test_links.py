"""Links die and live, weights are measured, names are kept apart; neighbours that lie."""

import pytest

from tests.overlay.networks import QUICK, Recording, assert_kept, journaled, network, server
from tidings.overlay.machine import receive
from tidings.overlay.messages import From, HeartbeatAnswer, Join, Left, LinkStates, Posted, Publish, Refused
from tidings.overlay.simulation.network import Step
from tidings.overlay.simulation.ranges import Range, Ranges
from tidings.overlay.simulation.topologies import TOPOLOGIES
from tidings.overlay.tree import mutual_links, spanning_tree
from tidings.overlay.values import Interest, LinkState, Stamp, Timing, Version

PAIR = {("a", "b"): 10.0}


def alive(of: Recording) -> bool:
    return server(of, "a").links["b"].alive


def test_alive_after_ten_seconds_of_answers_and_dead_after_five_without() -> None:
    made = network(PAIR, [(30.5, "cut", ("a", "b"))], 9, timing=Timing())
    assert not alive(made)
    made.run(14)
    assert alive(made)
    made.run(34)
    assert alive(made)
    made.run(38)
    assert not alive(made)


def test_each_death_doubles_the_wait() -> None:
    made = network(PAIR, [(20, "cut", ("a", "b")), (30, "heal", ("a", "b"))], 48, timing=Timing())
    assert not alive(made)  # 20 s now
    made.run(54)
    assert alive(made)


def test_a_late_answer_does_not_count() -> None:
    made = network(PAIR, [], 20)
    one = server(made, "a")
    one.links["b"].unanswered = 3
    for version, sent in ((Version(one.incarnation + 1, 0), 30.0), (Version(one.incarnation, 0), 1.0)):
        receive(one, From("b", HeartbeatAnswer(version, sent, 0)), 31.0)
        assert one.links["b"].unanswered == 3


def test_weights_are_round_trips_in_powers_of_two() -> None:
    made = Recording({("a", "b"): 20.0}, Ranges(), 1, timing=QUICK)
    for one, other in ("ab", "ba"):
        made.command(one, Join(other))
    made.run(20)
    assert server(made, "a").links["b"].weight == 64.0  # 40 to 48 ms
    made.links["a", "b"] = 50.0
    made.run(60)
    assert server(made, "a").links["b"].weight == 64.0
    made.run(100)  # after a minute
    assert server(made, "a").links["b"].weight == 128.0


def test_only_links_that_both_ends_list_count_by_the_greater_weight() -> None:
    states = {
        "a": LinkState("1", Version(1, 1), (("b", 1.0), ("c", 5.0))),
        "b": LinkState("2", Version(1, 1), (("a", 3.0), ("c", 4.0))),
        "c": LinkState("3", Version(1, 1), (("a", 2.0),)),
    }
    assert mutual_links(states) == {("a", "b"): 3.0, ("a", "c"): 5.0}


def test_ties_are_broken_by_names() -> None:
    assert spanning_tree({("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 1.0}) == {("a", "b"), ("a", "c")}


def test_another_identity_under_its_name_makes_a_server_leave() -> None:
    made = network(PAIR, [], 10)
    stranger = LinkState("somebody else", Version(1, 1), ())
    _, outcome = receive(server(made, "a"), From("b", LinkStates((("a", stranger),))), 11.0)
    assert outcome.told == [Left("another server is named a")]
    _, outcome = receive(server(made, "a"), Publish("s", "1", 5), 12.0)
    assert isinstance(outcome.told[0], Refused)


def test_a_server_that_hears_of_itself_goes_above_that_and_leaves_if_it_goes_on() -> None:
    made = network(PAIR, [], 10)
    one = server(made, "a")
    for number in range(1, 6):
        later = LinkState(one.identity, Version(one.incarnation + 7, 1), ())
        receive(one, From("b", LinkStates((("a", later),))), 10.0 + number)
        assert one.incarnation == later.version.incarnation + 1
        assert one.heads["a"] == Stamp(one.incarnation, 0)
    later = LinkState(one.identity, Version(one.incarnation + 7, 1), ())
    _, outcome = receive(one, From("b", LinkStates((("a", later),))), 20.0)
    assert outcome.told == [Left("another server has its name and identity")]


def test_an_interest_that_is_too_long_becomes_everything() -> None:
    made = network(PAIR, [], 20)
    many = tuple(Range(place, place) for place in range(2000))
    receive(server(made, "a"), From("b", Posted(Interest(Version(10**12, 9), many, ()))), server(made, "a").now)
    assert server(made, "a").held["b"].filters == (Range(0, 99),)


def test_an_older_interest_changes_nothing() -> None:
    made = network(PAIR, [(5, "subscribe", "b", "wish", Range(0, 9))], 20)
    held = server(made, "a").held["b"]
    receive(server(made, "a"), From("b", Posted(Interest(Version(0, 1), (), ()))), 21.0)
    assert server(made, "a").held["b"] == held


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_each_topology(topology: str) -> None:
    """Trees are SIENA's hierarchical and acyclic topologies, special cases of any graph (2.1.2)."""
    links = TOPOLOGIES[topology](12, 1)
    everyone = sorted({name for link in links for name in link})
    steps: list[Step] = [(8, "subscribe", name, name, Range(5, 9)) for name in everyone[::3]]
    steps += [(8, "subscribe", everyone[0], "all", Range(0, 50))]
    steps += [(25, "publish", name, name, 7) for name in everyone]
    made = network(links, steps, 45)
    assert_kept(made)
    assert all(sorted(journaled(made, name)) == everyone for name in everyone[::3])
    if topology in ("line", "star", "tree"):
        assert server(made, everyone[0]).tree == set(links)
