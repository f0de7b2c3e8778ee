"""What neighbours make up is bounded or ignored: names, answers, numbers."""

import math
from dataclasses import replace

from tests.overlay.networks import journaled, network, server
from tests.overlay.test_rules import LINE, PAIR, SUBSCRIBED, WANTED, tell
from tidings.overlay import orders
from tidings.overlay.machine import receive
from tidings.overlay.messages import (
    Answer,
    Heartbeat,
    HeartbeatAnswer,
    LinkStates,
    MoveIn,
    Orders,
    Routed,
    TakeHome,
    Tick,
)
from tidings.overlay.orders import append_known
from tidings.overlay.values import UNHEARD, Gap, Growth, LinkState, Rule, Stamp, StrikeOff, Version


def test_an_answer_that_nobody_asked_for_changes_nothing() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    answer = Answer("stranger", server(made, "a").life, (), Stamp(7, 50), Gap("stranger", 0, 1))
    assert tell(made, "a", "b", Routed("a", 9, answer)).changes == []


def test_nothing_more_is_asked_of_a_server_that_was_struck_off() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    one, incarnation = server(made, "a"), server(made, "b").incarnation
    one.asked["b"] = Stamp(incarnation, 99)
    partial = Routed("a", 9, Answer("b", one.life, (), Stamp(incarnation, 1), None))
    assert len(tell(made, "a", "b", partial).changes) == 1
    tell(made, "a", "b", Orders(0, "", (("r", StrikeOff("b")),)))
    assert tell(made, "a", "b", partial).changes == []
    assert "b" not in {*one.durable.marks, *one.heads, *one.asked, *one.behind}
    receive(one, Tick(), one.now + 60)


def test_orders_are_sent_as_many_as_fit_into_a_message() -> None:
    made = network(PAIR, [], 20)
    one = server(made, "a")
    one.limits, one.size_of_order = replace(one.limits, batch=10, bytes=50), lambda order: len(str(order.change))
    made.command("a", TakeHome())
    append_known(one, tuple((str(place), Growth("x" * 20)) for place in range(25)))
    append_known(one, (("long", Growth("x" * 100)), ("last", Growth("x"))))
    one.outcome()
    for begin in (0, 24, 25):
        orders._send(one, "b", begin)
    sent = [message for _, message in one.outcome().sends if isinstance(message, Orders)]
    assert [[request for request, _ in each.orders] for each in sent] == [["0", "1"], ["24"], ["long"]]
    made.run(60)
    assert server(made, "b").durable.orders == one.durable.orders


def test_names_that_somebody_makes_up_are_bounded() -> None:
    made = network(LINE, [(10, "subscribe", "a", "wish", WANTED)], 20)
    one = server(made, "a")
    one.limits = replace(one.limits, servers=10)
    for kind in "xyz":
        heads = {f"{kind}{number}": Stamp(1, 1) for number in range(8)}
        states = tuple((name, LinkState("made-up", Version(1, 1), ())) for name in heads)
        beat = Heartbeat(Version(1, 1), 0.0, {}, heads, UNHEARD, Rule(0, ""), 0, "")
        tell(made, "a", "b", beat)
        tell(made, "a", "b", LinkStates(states))
    offer = MoveIn("b", Version(9, 9), "other", WANTED, tuple((f"m{n}", Stamp(1, 1)) for n in range(20)), None)
    tell(made, "a", "b", Routed("a", 9, offer))
    assert (len(one.heads), len(one.states), len(one.durable.marks)) == (10, 10, 9)
    assert {"b", "c"} <= one.heads.keys()
    made.plan([(25, "publish", "c", "1", 5)])
    made.run(40)
    assert journaled(made, "a") == ["1"]


def test_links_that_somebody_makes_up_are_bounded() -> None:
    made = network(LINE, [], 20)
    one = server(made, "a")
    one.limits = replace(one.limits, listed=50)
    names = [f"x{number}" for number in range(20)]
    weights = tuple((name, 1.0) for name in names)
    for number in (1, 2):
        states = tuple((name, LinkState("made-up", Version(1, number), weights)) for name in names)
        tell(made, "a", "b", LinkStates(states))
    assert sum(len(state.weights) for state in one.states.values()) <= 50
    assert one.states["x0"].version == Version(1, 2)  # one that replaces another needs no more room
    assert {"b", "c"} <= one.states.keys()


def test_an_answer_to_no_heartbeat_does_not_count() -> None:
    made = network(PAIR, [], 20)
    one = server(made, "a")
    for sent in (math.inf, math.nan, one.now + 100):
        before = one.links["b"].answered
        tell(made, "a", "b", HeartbeatAnswer(Version(one.incarnation, 1), sent, 0))
        assert one.links["b"].answered == before
