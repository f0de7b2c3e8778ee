"""A neighbour names numbers that nobody could go above: nothing of it is believed, let alone stored."""

import pytest

from tests.overlay.networks import Recording, assert_kept, journaled, network, server
from tidings.overlay.machine import receive
from tidings.overlay.messages import (
    Answer,
    Events,
    From,
    Heartbeat,
    LinkStates,
    Message,
    MoveIn,
    Orders,
    Posted,
    Routed,
)
from tidings.overlay.simulation.ranges import Range
from tidings.overlay.values import (
    BEGINNING,
    UNHEARD,
    Event,
    Interest,
    Limits,
    LinkState,
    Rule,
    Stamp,
    Succeed,
    Version,
)

LINE = {("a", "b"): 10.0, ("b", "c"): 10.0}
ABSURD = 2**53
WANTED = Range(0, 9)
NUMBERED, PLACED = Version(ABSURD, 1), Stamp(ABSURD, 5)
EVENT = Event("s", "1", 5, "c", PLACED)


def made_network() -> Recording:
    return network(LINE, [(10, "subscribe", "a", "wish", WANTED), (15, "publish", "c", "first", 5)], 25)


def beat(**members: object) -> Heartbeat:
    plain = {"version": Version(1, 1), "sent": 0.0, "known": {}, "heads": {}, "holds": UNHEARD, "rule": Rule(0, "")}
    return Heartbeat(**plain | {"schema": 0, "digest": ""} | members)  # type: ignore[arg-type]


def lie(of: Recording, message: Message, to: str = "a", by: str = "b") -> None:
    """As if `by` had sent it."""
    of._carry_out(of.hosts[to], receive(server(of, to), From(by, message), of._clock(of.hosts[to]))[1])


def test_nothing_of_absurd_numbers_is_stored() -> None:
    made = made_network()
    one = server(made, "a")
    identity = one.states["c"].identity
    one.asked["c"] = one.heads["c"]
    lies: list[Message] = [
        beat(known={"a": NUMBERED}),
        beat(heads={"a": PLACED}),
        beat(heads={"b": PLACED, "c": PLACED, "stranger": PLACED}),
        beat(rule=Rule(ABSURD, "b")),
        LinkStates((("a", LinkState(one.identity, NUMBERED, ())),)),
        LinkStates((("c", LinkState(identity, NUMBERED, ())),)),
        Posted(Interest(NUMBERED, (WANTED,), ())),
        Events(NUMBERED, (EVENT,)),
        Orders(0, "", (("next", Succeed("b", ABSURD)),)),
        Routed("a", 9, Answer("c", one.life, (), PLACED, None)),
        Routed("a", 9, Answer("c", one.life, (EVENT,), BEGINNING, None)),
        Routed("a", 9, MoveIn("b", NUMBERED, "other", WANTED, (), None)),
        Routed("a", 9, MoveIn("b", Version(1, 1), "other", WANTED, (("c", PLACED),), None)),
    ]
    for message in lies:
        before = dict(one.states), dict(one.heads), dict(one.held), one.durable.copy(), one.incarnation
        outcome = receive(one, From("b", message), one.now)[1]
        assert outcome.changes == [], message
        assert (one.states, one.heads, one.held, one.durable, one.incarnation) == before, message
        assert not one.left


@pytest.mark.parametrize("ahead", [50 * 365 * 86_400_000, 1_000, 0])
def test_servers_go_above_what_is_believed_of_them_and_lose_nothing(ahead: int) -> None:
    """Whatever was said of the place of their last event, too."""
    made = made_network()
    made.publish("c", "second", 5)
    incarnation = server(made, "c").incarnation + ahead
    lie(made, beat(known={"c": Version(incarnation, 10**9)}, heads={"c": Stamp(incarnation, ABSURD)}), "b", "a")
    lie(made, beat(heads={"c": Stamp(incarnation, ABSURD)}), "a", "b")
    made.plan([(30, "cut", ("b", "c")), (45, "publish", "c", "third", 5), (50, "heal_all")])
    made.run(100)
    assert_kept(made)
    assert journaled(made, "a") == ["first", "second", "third"]
    assert incarnation < server(made, "c").incarnation < incarnation + 60_000


def test_homes_succeed_each_other_by_any_believable_number_of_terms() -> None:
    made = made_network()
    lie(made, beat(rule=Rule(Limits().terms, "b")))
    assert server(made, "a").durable.rule == Rule(Limits().terms, "b")
