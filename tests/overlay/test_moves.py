"""The rules of moves one by one: each has a test that fails without it (`tests/mutants`)."""

from tests.overlay.networks import Recording, assert_kept, journaled, network, server
from tests.overlay.test_rules import LINE, PAIR, SUBSCRIBED, WANTED, tell
from tidings.overlay.durable import Arrived, Change, Unsubscribed
from tidings.overlay.machine import receive
from tidings.overlay.messages import Ask, Departed, Move, MovedIn, MoveIn, Refused, Routed, Tick
from tidings.overlay.server import Outcome
from tidings.overlay.values import BEGINNING, Stamp, Version


def bodies(outcome: Outcome, kind: type) -> list[object]:
    routed = [message.body for _, message in outcome.sends if isinstance(message, Routed)]
    return [body for body in routed if isinstance(body, kind)]


def arrived(outcome: Outcome) -> list[Change]:
    return [change for change in outcome.changes if isinstance(change, Arrived)]


def offered(made: Recording) -> MoveIn:
    """The wish of `a`, to `b`."""
    one = server(made, "a")
    (offer,) = bodies(receive(one, Move("wish", "b"), one.now)[1], MoveIn)
    assert isinstance(offer, MoveIn)
    return offer


def test_an_offer_is_repeated_until_it_is_answered_and_then_withdrawn_once() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    offer, one = offered(made), server(made, "a")
    assert bodies(receive(one, Tick(), one.now + 1)[1], MoveIn) == []
    assert bodies(receive(one, Tick(), one.now + 6)[1], MoveIn) == [offer]
    done = tell(made, "a", "b", Routed("a", 9, MovedIn("wish", offer.version)))
    assert done.changes == [Unsubscribed("wish")]
    assert done.told == [Departed("wish")]
    assert tell(made, "a", "b", Routed("a", 9, MovedIn("wish", offer.version))).changes == []


def test_an_answer_to_an_earlier_offer_says_nothing() -> None:
    """It went to `b` and came back: what `b` said of the first time must not end the second."""
    made = network(PAIR, [SUBSCRIBED], 20)
    first = offered(made)
    tell(made, "a", "b", Routed("a", 9, MovedIn("wish", first.version)))
    made.subscribe("a", "wish", WANTED)
    second = offered(made)
    assert tell(made, "a", "b", Routed("a", 9, MovedIn("wish", first.version))).changes == []
    assert tell(made, "a", "b", Routed("a", 9, MovedIn("wish", second.version))).changes == [Unsubscribed("wish")]


def test_a_repeated_offer_is_answered_and_taken_once() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    offer = offered(made)
    first, again = (tell(made, "b", "a", Routed("b", 9, offer)) for _ in range(2))
    assert (len(arrived(first)), len(arrived(again))) == (1, 0)
    assert bodies(first, MovedIn) == bodies(again, MovedIn) == [MovedIn("wish", offer.version)]


def test_a_subscription_that_two_servers_offer_to_each_other_stays_at_one() -> None:
    """As after a restore, or where it goes back before its old server has heard that it came."""
    made = network(PAIR, [SUBSCRIBED, (10, "subscribe", "b", "wish", WANTED)], 20)
    for name, other in ("ab", "ba"):
        made.command(name, Move("wish", other))
    made.run(60)
    assert ["wish" in server(made, name).durable.subscriptions for name in "ab"] == [True, False]
    assert server(made, "a").moving == server(made, "b").moving == {}


def test_a_subscription_that_is_on_its_way_does_not_arrive() -> None:
    made = network(LINE, [SUBSCRIBED], 20)
    one = server(made, "a")
    receive(one, Move("wish", "c"), one.now)
    offer = MoveIn("b", Version(9, 9), "wish", WANTED, (), None)
    assert bodies(tell(made, "a", "b", Routed("a", 9, offer)), MovedIn) == []


def test_an_offer_of_a_later_schema_waits() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    offer = MoveIn("a", Version(9, 9), "wish", WANTED, (), None, schema=1)
    outcome = tell(made, "b", "a", Routed("b", 9, offer))
    assert (outcome.changes, outcome.sends) == ([], [])


def test_nothing_moves_to_a_server_that_cannot_be_reached() -> None:
    made = network(PAIR, [SUBSCRIBED], 20)
    one = server(made, "a")
    for subscription, to, reason in (("wish", "nowhere", "cannot be reached"), ("other", "b", "no subscription")):
        (told,) = receive(one, Move(subscription, to), one.now)[1].told
        assert isinstance(told, Refused)
        assert reason in told.reason
    assert one.moving == {}


def test_what_the_new_server_has_after_the_old_ones_marks_was_missed() -> None:
    """Its own events, and those that it took from others; not what the old server had."""
    steps = [(15, "subscribe", "b", "other", WANTED), *((20 + at, "publish", "c", f"c{at}", 5) for at in range(4))]
    steps += [(20 + at, "publish", "b", f"b{at}", 5 + 50 * (at == 3)) for at in range(4)]
    made = network(LINE, steps, 30)
    assert sorted(journaled(made, "b")) == ["b0", "b1", "b2", "b3", "c0", "c1", "c2", "c3"]
    marks = tuple((name, Stamp(server(made, name).incarnation, place)) for name, place in (("b", 1), ("c", 2)))
    (change,) = arrived(tell(made, "b", "a", Routed("b", 9, MoveIn("a", Version(9, 9), "wish", WANTED, marks, None))))
    assert isinstance(change, Arrived)
    assert sorted(event.id for event in change.missed) == ["b1", "b2", "c2", "c3"]


def test_what_the_old_server_lacked_is_asked_for_at_once() -> None:
    steps = [(20 + at, "publish", "c", f"{at}", 5) for at in range(4)]
    made = network(LINE, steps, 60)
    one = server(made, "b")
    assert one.durable.marks["c"] == one.heads["c"]
    marks = (("c", Stamp(server(made, "c").incarnation, 1)),)
    tell(made, "b", "a", Routed("b", 9, MoveIn("a", Version(9, 9), "wish", WANTED, marks, None)))
    asks = bodies(receive(one, Tick(), one.now + 0.1)[1], Ask)
    assert [(ask.mark.position, ask.head.position) for ask in asks] == [(1, 4)]  # type: ignore[attr-defined]


def test_a_subscription_moves_on_and_back_while_events_come() -> None:
    steps = [SUBSCRIBED, *((15 + at / 2, "publish", "abc"[at % 3], f"{at}", 5) for at in range(60))]
    moves = [(20, "move", "a", "wish", "b"), (24, "move", "b", "wish", "c"), (30, "move", "c", "wish", "a")]
    made = network(LINE, [*steps, *moves, (36, "move", "a", "wish", "b")], 90)
    assert_kept(made)
    assert made.subscribed["wish"][0] == "b"
    assert len(made.hosts["b"].notes["wish"]) == 60
    assert server(made, "b").durable.marks["c"] > BEGINNING
