"""Rules of the machine one by one: each has a test that fails without it (`tests/mutants`)."""

import pytest

from tests.overlay.networks import QUICK, Recording, assert_kept, journaled, network, server
from tidings.overlay.machine import receive
from tidings.overlay.messages import (
    Answer,
    Ask,
    Events,
    Follow,
    Found,
    From,
    Granted,
    Heartbeat,
    LinkStates,
    Message,
    MoveIn,
    Posted,
    Probe,
    Query,
    Refused,
    Request,
    Routed,
    Settle,
    Settled,
    Subscribe,
    TakeHome,
    Taken,
    Tick,
    Unsubscribe,
)
from tidings.overlay.server import Outcome, Server
from tidings.overlay.simulation.ranges import Range, Ranges
from tidings.overlay.values import BEGINNING, Event, Growth, Interest, Limits, LinkState, Stamp, Version

PAIR = {("a", "b"): 10.0}
LINE = {("a", "b"): 10.0, ("b", "c"): 10.0}
WANTED = Range(0, 9)
SUBSCRIBED = (10, "subscribe", "a", "wish", WANTED)


def tell(of: Recording, to: str, by: str, message: object) -> Outcome:
    one = server(of, to)
    return receive(one, From(by, message), one.now + 0.1)[1]  # type: ignore[arg-type]


def asked(origin: Server, mark: Stamp, head: Stamp, **more: object) -> Answer:
    ask = Ask("a", Version(1, 0), (WANTED,), mark, head, frozenset(more.pop("has", ())))  # type: ignore[call-overload]
    outcome = receive(origin, From("a", Routed(origin.name, 9, ask)), origin.now)[1]
    ((_, routed),) = [send for send in outcome.sends if isinstance(send[1], Routed)]
    assert isinstance(routed, Routed)
    assert isinstance(routed.body, Answer)
    return routed.body


def published(count: int, limits: Limits | None = None) -> Recording:
    made = Recording(PAIR, Ranges(), 1, timing=QUICK, limits=limits)
    made.plan([(15 + place, "publish", "b", f"{place}", 5 + 50 * (place % 2)) for place in range(count)])
    made.run(15 + count + 5)
    return made


def test_an_answer_moves_the_mark_to_the_head_that_was_named() -> None:
    """Not to the origin's newest: the asker may have subscribed to more since."""
    made = published(6)
    origin = server(made, "b")
    answer = asked(origin, BEGINNING, Stamp(origin.incarnation, 3))
    assert answer.mark == Stamp(origin.incarnation, 3)
    assert [event.id for event in answer.events] == ["0", "2"]


def test_what_the_asker_has_is_not_sent_again() -> None:
    made = published(6)
    origin = server(made, "b")
    answer = asked(origin, BEGINNING, Stamp(origin.incarnation, 6), has=(Stamp(origin.incarnation, 3),))
    assert [event.id for event in answer.events] == ["0", "4"]


def test_a_full_answer_moves_the_mark_to_its_end() -> None:
    made = published(6, Limits(batch=2))
    origin = server(made, "b")
    answer = asked(origin, BEGINNING, Stamp(origin.incarnation, 6))
    assert (answer.mark.position, [event.id for event in answer.events]) == (3, ["0", "2"])


def test_an_answer_looks_at_a_bounded_number_of_events() -> None:
    made = published(6, Limits(scanned=4))
    origin = server(made, "b")
    answer = asked(origin, BEGINNING, Stamp(origin.incarnation, 6))
    assert (answer.mark.position, [event.id for event in answer.events]) == (4, ["0", "2"])


def test_a_mark_of_an_earlier_incarnation_counts_to_where_a_later_one_began() -> None:
    made = network(PAIR, [(15 + place, "publish", "b", f"{place}", 5) for place in range(4)], 25)
    before = server(made, "b").incarnation
    made.crash("b")
    made.recover("b")
    made.run(30)
    made.publish("b", "later", 5)
    made.run(40)
    origin = server(made, "b")
    answer = asked(origin, Stamp(before, 99), Stamp(origin.incarnation, 5))
    assert [event.id for event in answer.events] == ["later"]


def test_many_missed_events_come_in_several_questions() -> None:
    limits = Limits(batch=3, has=4, scanned=5)
    made = Recording(PAIR, Ranges(), 1, timing=QUICK, limits=limits)
    made.plan([SUBSCRIBED, *((14 + place / 10, "publish", "b", f"x{place}", 5) for place in range(9))])
    made.plan([(20, "cut", ("a", "b"))])
    made.plan([(25 + place / 10, "publish", "b", f"{place}", 5) for place in range(30)])
    made.plan([(40, "heal_all")])
    made.run(75)
    assert_kept(made)
    assert len(journaled(made, "a")) == 39


def test_answers_to_an_earlier_life_are_ignored() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    one = server(made, "a")
    mark = one.asked["b"] = Stamp(server(made, "b").incarnation, 50)
    for life in (Version(one.incarnation - 1, 0), Version(one.incarnation, one.moved_in + 1)):
        outcome = tell(made, "a", "b", Routed("a", 9, Answer("b", life, (), mark, None)))
        assert outcome.changes == []
    outcome = tell(made, "a", "b", Routed("a", 9, Answer("b", one.life, (), mark, None)))
    assert len(outcome.changes) == 1


def test_an_answer_does_not_lower_a_mark() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    one, incarnation = server(made, "a"), server(made, "b").incarnation
    one.asked["b"] = Stamp(incarnation, 50)
    for position in (50, 40):
        tell(made, "a", "b", Routed("a", 9, Answer("b", one.life, (), Stamp(incarnation, position), None)))
        assert one.durable.marks["b"] == Stamp(incarnation, 50)


def test_a_subscription_that_moves_in_lowers_marks_to_those_of_its_old_server() -> None:
    made = network(LINE, [SUBSCRIBED], 20)
    one = server(made, "a")
    before = one.life
    one.durable.marks |= {"b": Stamp(7, 50), "c": Stamp(7, 20)}
    offer = MoveIn("b", Version(9, 9), "other", WANTED, (("b", Stamp(7, 60)), ("c", Stamp(7, 10))), None)
    tell(made, "a", "b", Routed("a", 9, offer))
    assert (one.durable.marks["b"], one.durable.marks["c"]) == (Stamp(7, 50), Stamp(7, 10))
    assert one.life > before  # answers to what was asked before must not raise them


def test_events_of_a_later_schema_wait() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    event = Event("s", "1", 5, "b", Stamp(server(made, "b").incarnation, 1), schema=1)
    outcome = tell(made, "a", "b", Events(Version(9, 9), (event,)))
    assert (outcome.changes, outcome.sends) == ([], [])
    life = server(made, "a").life
    server(made, "a").asked["b"] = Stamp(server(made, "b").incarnation, 1)
    answer = Answer("b", life, (event,), Stamp(server(made, "b").incarnation, 1), None)
    assert tell(made, "a", "b", Routed("a", 9, answer)).changes == []
    assert asked_of_a_later_schema(made) == []


def asked_of_a_later_schema(made: Recording) -> list[object]:
    ask = Ask("b", Version(1, 0), (WANTED,), BEGINNING, Stamp(10**9, 1), frozenset(), schema=1)
    return list(tell(made, "a", "b", Routed("a", 9, ask)).sends)


def test_a_replayed_announcement_changes_nothing() -> None:
    made = network(LINE, [], 20)
    known = server(made, "a").states["c"]
    old = LinkState(known.identity, Version(known.version.incarnation, known.version.number - 1), ())
    outcome = tell(made, "a", "b", LinkStates((("c", old),)))
    assert server(made, "a").states["c"] == known
    assert outcome.sends == []


def test_whoever_lacks_a_link_state_is_sent_it() -> None:
    made = network(LINE, [], 20)
    one = server(made, "b")
    beat = Heartbeat(Version(1, 1), one.now, {}, {}, Version(0, 0), one.durable.rule, 0, "")
    sends = tell(made, "b", "a", beat).sends
    (states,) = [message for _, message in sends if isinstance(message, LinkStates)]
    assert {name for name, _ in states.states} == {"a", "b", "c"}


def test_an_interest_is_sent_until_it_is_held() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    one = server(made, "a")
    for holds, expected in ((Version(0, 0), 1), (one.posted["b"].version, 0)):
        beat = Heartbeat(Version(1, 1), one.now, one.known or {}, dict(one.heads), holds, one.durable.rule, 0, "")
        posted = [message for _, message in tell(made, "a", "b", beat).sends if isinstance(message, Posted)]
        assert len(posted) == expected


def test_an_interest_of_a_later_schema_waits() -> None:
    made = network(PAIR, [], 20)
    held = server(made, "a").held["b"]
    tell(made, "a", "b", Posted(Interest(Version(10**12, 1), (WANTED,), (), schema=1)))
    assert server(made, "a").held["b"] == held


def test_acknowledgements_count_only_for_what_was_sent_in_this_life() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    origin = server(made, "b")
    event = Event("s", "1", 5, "b", Stamp(origin.incarnation, 1))
    receive(origin, Follow((event,)), origin.now)
    queue = origin.queues["a"]
    assert len(queue.waiting) == 1
    for version in (Version(origin.incarnation - 1, queue.sent), Version(origin.incarnation, queue.sent - 1)):
        assert tell(made, "b", "a", Taken(version)).sends == []
        assert len(queue.waiting) == 1
    assert [type(message) for _, message in receive(origin, Tick(), origin.now + 2)[1].sends].count(Events) == 1
    tell(made, "b", "a", Taken(Version(origin.incarnation, queue.sent)))
    assert not queue.waiting


class Thankless(Recording):
    """Until the fiftieth second no acknowledgement of `c` arrives."""

    def send(self, sender: str, receiver: str, message: Message) -> None:
        if not isinstance(message, Taken) or sender != "c" or self.now > 50:
            super().send(sender, receiver, message)


@pytest.mark.parametrize("limits", [Limits(queued=3), Limits(queued_bytes=35)])
def test_a_neighbour_that_acknowledges_nothing_does_not_fill_the_memory(limits: Limits) -> None:
    made = Thankless(LINE, Ranges(), 1, timing=QUICK, limits=limits)
    made.plan([(1, "subscribe", "c", "wish", Range(0, 9))])
    made.plan([(20 + number / 10, "publish", "a", f"e{number}", 5) for number in range(10)])
    made.run(19)
    server(made, "b").size_of = lambda _content: 10
    made.run(23)
    queue = server(made, "b").queues["c"]
    assert (len(queue.waiting), queue.bytes) == (3, 30)
    made.run(100)
    assert_kept(made)
    assert sorted(journaled(made, "c")) == [f"e{number}" for number in range(10)]
    assert queue.bytes == 0


def test_an_event_is_passed_on_once_and_not_back() -> None:
    made = network(LINE, [SUBSCRIBED, (10, "subscribe", "c", "other", WANTED)], 25)
    event = Event("s", "1", 5, "a", Stamp(server(made, "a").incarnation, 1))
    for expected in (["c"], []):
        sends = tell(made, "b", "a", Events(Version(1, 1), (event,))).sends
        assert [name for name, message in sends if isinstance(message, Events)] == expected
        assert len(server(made, "b").queues["c"].waiting) == 1


def test_settled_means_that_everybody_in_reach_holds_it() -> None:
    made = network(LINE, [(20.05, "subscribe", "a", "wish", WANTED), (20.05, "command", "a", Settle("here"))], 20.1)
    for step in range(100):
        made.run(20.1 + step / 20)
        if made.hosts["a"].told:
            break
    assert made.hosts["a"].told == [Settled("here")]
    assert server(made, "c").held["b"].filters == (WANTED,)
    assert 20.2 < made.now < 25


def test_a_probe_waits_for_the_interest_that_it_is_about() -> None:
    made = network(LINE, [SUBSCRIBED], 25)
    held = server(made, "c").held["b"].version
    assert tell(made, "c", "b", Probe("x", Version(held.incarnation, held.number + 1))).sends == []
    assert len(tell(made, "c", "b", Probe("x", held)).sends) == 1


def test_a_query_asks_all_servers_in_reach() -> None:
    steps = [(15, "publish", name, f"{name}{place}", 5 + place) for name in "abc" for place in range(8)]
    made = network(LINE, [*steps, (30, "command", "a", Query("q", WANTED, 3))], 40)
    told = {one.server: one for one in made.hosts["a"].told if isinstance(one, Found)}
    found = {name: [event.id for event in one.events] for name, one in told.items()}
    assert found == {name: [f"{name}{place}" for place in (2, 3, 4)] for name in "abc"}  # the newest
    assert not any(one.all for one in told.values())
    made.command("a", Query("all", WANTED, 99))
    made.run(50)
    assert all(one.all and len(one.events) == 5 for one in made.hosts["a"].told[3:])  # type: ignore[union-attr]


def test_the_home_refuses_what_cannot_be() -> None:
    made = network(LINE, [(1, "command", "a", TakeHome())], 20)
    server(made, "a").refuses = lambda order: "no" if order == Growth("bad") else ""
    for at in "ac":
        made.command(at, Request(f"bad of {at}", Growth("bad")))
        made.command(at, Request(f"good of {at}", Growth("good")))
    made.run(40)
    for at in "ac":
        told = made.hosts[at].told
        assert [one.reason for one in told if isinstance(one, Refused)] == ["no"]
        assert [one.request for one in told if isinstance(one, Granted)] == [f"good of {at}"]
    assert len(made.hosts["c"].disk.orders) == 2


def test_what_is_wanted_follows_subscriptions_however_they_come_and_go() -> None:
    """One that is covered changes nothing; one that went, even one that covered others, takes what only it wanted."""
    made = network(PAIR, [], 20)
    one = server(made, "a")
    for number, (subscription, filter, expected) in enumerate(
        (
            ("wide", Range(0, 50), (Range(0, 50),)),
            ("inner", Range(10, 20), (Range(0, 50),)),
            ("beside", Range(60, 70), (Range(0, 50), Range(60, 70))),
            ("wide", None, (Range(10, 20), Range(60, 70))),
            ("beside", None, (Range(10, 20),)),
        )
    ):
        made.command("a", Unsubscribe(subscription) if filter is None else Subscribe(subscription, filter))
        made.run(22 + 2 * number)
        assert one.wanted == server(made, "b").held["a"].filters == expected
