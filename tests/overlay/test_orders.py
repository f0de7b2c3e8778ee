"""The home orders growth; all others have a beginning of its log."""

import pytest

from tests.overlay.networks import Recording, assert_kept, network, server
from tidings.overlay.machine import receive
from tidings.overlay.messages import From, Granted, Heartbeat, HeartbeatAnswer, Left, Refused, Request, TakeHome
from tidings.overlay.simulation.network import Network, Step
from tidings.overlay.simulation.ranges import Range
from tidings.overlay.values import UNHEARD, Growth, Rule, StrikeOff, Succeed, Version

LINE = {("a", "b"): 10.0, ("b", "c"): 10.0}


def log(of: Network, name: str) -> list[str]:
    return [request for request, _ in of.hosts[name].disk.orders]


def grow(name: str) -> Request:
    return Request(name, Growth(name))


def test_two_grow_at_once_and_all_have_the_same() -> None:
    steps = [(1, "command", "b", TakeHome()), (15, "command", "a", grow("one")), (15, "command", "c", grow("two"))]
    made = network(LINE, steps, 40)
    assert_kept(made)
    assert sorted(log(made, "b")) == ["one", "two"]
    assert log(made, "a") == log(made, "b") == log(made, "c")
    answers = [made.hosts[name].told for name in "ac"]
    assert sorted(answer.version for (answer,) in answers if isinstance(answer, Granted)) == [1, 2]


def test_a_repeated_request_gets_the_same_answer() -> None:
    steps = [(1, "command", "b", TakeHome()), *((15 + n, "command", "a", grow("one")) for n in range(3))]
    made = network(LINE, steps, 40)
    assert log(made, "c") == ["one"]
    assert set(made.hosts["a"].told) == {Granted("one", 1)}


def test_growth_is_granted_once_another_server_has_it() -> None:
    made = network(LINE, [(1, "command", "b", TakeHome()), (20, "cut", *LINE), (21, "command", "b", grow("one"))], 60)
    assert log(made, "b") == ["one"]
    assert made.hosts["b"].told == []
    made.heal_all()
    made.run(100)
    assert made.hosts["b"].told == [Granted("one", 1)]


def test_growth_is_refused_while_the_home_cannot_be_reached() -> None:
    steps = [(1, "command", "c", TakeHome()), (15, "cut", ("b", "c")), (40, "command", "a", grow("one"))]
    made = network(LINE, [*steps, (41, "publish", "a", "1", 5)], 50)
    (refusal,) = made.hosts["a"].told
    assert isinstance(refusal, Refused)
    assert refusal.reason == "the home 'c' cannot be reached"
    assert made.hosts["a"].disk.journal.position == 1  # all else goes on


def test_events_wait_for_the_schema_that_they_need() -> None:
    steps = [(1, "command", "a", TakeHome()), (5, "subscribe", "c", "wish", Range(0, 9))]
    steps += [(20, "command", "a", grow("one")), (20.001, "publish", "a", "1", 5)]
    made = network(LINE, steps, 40)
    assert_kept(made)
    assert log(made, "c") == ["one"]
    assert [event.schema for event in made.hosts["c"].disk.journal.entries] == [1]


def test_a_lost_home_is_followed_and_what_strayed_is_kept_out() -> None:
    """The old home had ordered what nobody else knew; its log is no beginning of the new one's."""
    steps = [(1, "command", "a", TakeHome()), (15, "cut", ("a", "b")), (20, "command", "a", grow("lost"))]
    steps += [(40, "command", "c", TakeHome()), (50, "command", "b", grow("new")), (60, "heal_all")]
    made = network(LINE, steps, 100)
    assert (log(made, "a"), log(made, "b"), log(made, "c")) == (["lost"], ["new"], ["new"])
    assert not server(made, "b").links["a"].alive
    assert server(made, "b").tree == {("b", "c")}


def test_the_home_names_its_successor() -> None:
    steps = [(1, "command", "a", TakeHome()), (15, "command", "a", Request("next", Succeed("c")))]
    made = network(LINE, [*steps, (25, "command", "b", grow("one")), (27, "crash", "a")], 40)
    assert made.hosts["b"].disk.rule == (2, "c")
    assert made.hosts["b"].told == [Granted("one", 2)]


def test_a_server_that_is_struck_off_leaves() -> None:
    steps = [(1, "command", "a", TakeHome()), (15, "command", "a", Request("off", StrikeOff("c")))]
    made = network(LINE, steps, 60)
    assert made.hosts["c"].told == [Left("it was struck off")]
    assert server(made, "a").tree == {("a", "b")}
    assert "c" not in server(made, "a").heads


def test_the_last_other_server_can_be_struck_off_though_it_is_dead() -> None:
    """Nobody is left who could store the order, so nobody is waited for."""
    steps = [(1, "command", "a", TakeHome()), (14, "crash", "b"), (15, "command", "a", Request("off", StrikeOff("b")))]
    made = network({("a", "b"): 10.0}, steps, 20)
    assert made.hosts["a"].told == [Granted("off", 1)]


def restored_home(*steps: Step) -> Recording:
    """The home of the line, `b`, loses the order "one", which both others have, while it is cut off from them."""
    grown = [(1, "command", "b", TakeHome()), (12, "back_up", "b"), (15, "command", "b", grow("one"))]
    made = network(LINE, [*grown, (25, "cut", *LINE), (26, "restore", "b"), *steps], 100)
    assert made.hosts["b"].told.pop(0) == Granted("one", 1)
    return made


def test_a_restored_home_orders_nothing_before_it_has_what_its_neighbours_have() -> None:
    made = restored_home((27, "command", "b", grow("two")), (28, "heal_all"))
    assert_kept(made)
    assert log(made, "a") == log(made, "b") == log(made, "c") == ["one", "two"]
    assert made.hosts["b"].told == [Granted("two", 2)]


def test_a_home_that_hears_from_one_neighbour_waits_for_the_other() -> None:
    made = restored_home((30, "heal", ("b", "c")), (45, "command", "c", grow("two")), (60, "heal_all"))
    (refusal,) = made.hosts["c"].told
    assert isinstance(refusal, Refused)
    assert "has started and not heard from a yet" in refusal.reason
    assert "start a, remove the link, or run `tidings network --take-home`" in refusal.reason
    assert log(made, "a") == log(made, "c") == ["one"]


def test_the_operator_says_that_no_other_has_a_longer_log() -> None:
    made = restored_home((50, "command", "b", TakeHome()), (51, "command", "b", grow("two")))
    assert log(made, "b") == ["two"]


def test_whoever_is_struck_off_is_not_waited_for() -> None:
    order = Request("off", StrikeOff("a"))
    made = restored_home((30, "heal", ("b", "c")), (45, "command", "b", order), (50, "command", "b", grow("two")))
    assert log(made, "b") == log(made, "c") == ["one", "off", "two"]


def test_a_neighbour_whose_log_is_another_does_not_hold_up_the_home() -> None:
    """The home's is shorter, so that only the neighbour can tell."""
    steps = [
        (1, "cut", ("a", "b")),
        (2, "command", "a", TakeHome()),
        *((3, "command", "a", grow(one)) for one in "xyz"),
    ]
    steps += [(2, "command", "b", TakeHome()), (3, "command", "b", grow("one")), (10, "crash", "b"), (11, "heal_all")]
    made = network(LINE, [*steps, (30, "command", "b", grow("two"))], 50)
    assert log(made, "b") == log(made, "c") == ["one", "two"]
    assert server(made, "b").links["a"].conflict


def test_a_home_waits_for_whatever_a_neighbour_has_more() -> None:
    made = network(LINE, [(1, "command", "b", TakeHome())], 20)
    beat(made, "b", Rule(1, "b"), 1)
    receive(server(made, "b"), grow("one"), made.now + 0.2)
    assert server(made, "b").durable.orders == []


@pytest.mark.parametrize(("schema", "conflict", "ordered"), [(1, False, 0), (1, True, 1), (0, False, 1)])
def test_what_the_answer_to_a_heartbeat_says_of_the_log(schema: int, conflict: bool, ordered: int) -> None:
    made = network(LINE, [(1, "command", "b", TakeHome())], 20)
    one = server(made, "b")
    one.links["a"].level = False
    answer = HeartbeatAnswer(Version(one.incarnation, 0), one.now, schema, conflict)
    receive(one, From("a", answer), one.now + 0.1)
    receive(one, grow("one"), one.now + 0.1)
    assert len(one.durable.orders) == ordered


def test_a_server_becomes_the_home_only_with_the_log_of_the_last() -> None:
    made = network(LINE, [(1, "command", "b", TakeHome())], 20)
    assert beat(made, "c", Rule(2, "c"), 1) == Rule(1, "b")
    assert beat(made, "c", Rule(2, "c"), 0) == Rule(2, "c")


def beat(of: Network, name: str, rule: Rule, schema: int) -> Rule:
    """The rule that a server knows after a heartbeat of `b` or `a` with this one, and so many orders."""
    one = server(of, name)
    message = Heartbeat(UNHEARD, of.now, {}, {}, UNHEARD, rule, schema, "" if schema == 0 else "digest")
    receive(one, From("a" if name == "b" else "b", message), of.now + 0.1)
    return one.durable.rule
