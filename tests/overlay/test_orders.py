"""The home orders growth; all others have a beginning of its log."""

from tests.overlay.networks import assert_kept, network, server
from tidings.overlay.messages import Granted, Left, Refused, Request, TakeHome
from tidings.overlay.simulation.network import Network
from tidings.overlay.simulation.ranges import Range
from tidings.overlay.values import Growth, StrikeOff, Succeed

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
