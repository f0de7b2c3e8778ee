"""The rules of advertisements one by one: each has a test that fails without it (`tests/mutants`)."""

from tests.overlay.networks import QUICK, Recording, choose, journaled, server
from tests.overlay.test_rules import LINE, SUBSCRIBED, WANTED
from tidings.overlay.messages import Refused, Withdraw
from tidings.overlay.simulation.ranges import Range, Ranges

ADVERTISED = (12, "advertise", "c", "mine", Range(5, 20))


def by_advertisements(*steps: tuple[object, ...], until: float = 30) -> Recording:
    made = Recording(LINE, Ranges(), 1, timing=QUICK)
    choose(made, "advertisements")
    made.plan(steps)
    made.run(until)
    assert all(server(made, name).distribution == "advertisements" for name in "abc")
    return made


def test_an_interest_goes_only_towards_what_may_match() -> None:
    made = by_advertisements(SUBSCRIBED, ADVERTISED, (12, "subscribe", "a", "other", Range(50, 60)))
    assert server(made, "b").held["a"].filters == (WANTED,)
    assert server(made, "c").held["b"].filters == (WANTED,)
    assert server(made, "a").held["b"].filters == ()


def test_advertisements_reach_all_and_do_not_come_back() -> None:
    made = by_advertisements(ADVERTISED)
    assert server(made, "a").held["b"].advertisements == (Range(5, 20),)
    assert server(made, "b").held["c"].advertisements == (Range(5, 20),)
    assert server(made, "b").held["a"].advertisements == server(made, "c").held["b"].advertisements == ()


def test_what_is_withdrawn_is_withdrawn_everywhere_and_interests_follow() -> None:
    made = by_advertisements(SUBSCRIBED, ADVERTISED, (20, "command", "c", Withdraw("mine")))
    assert server(made, "a").held["b"].advertisements == ()
    assert server(made, "c").held["b"].filters == ()


def test_an_event_outside_is_refused_and_one_inside_comes_even_before_the_interest() -> None:
    early = [(10.5, "publish", "c", "early", 6), (12.01, "publish", "c", "quick", 6)]
    made = by_advertisements(SUBSCRIBED, ADVERTISED, *early, (20, "publish", "c", "outside", 30), until=60)
    refused = [told.command.id for told in made.hosts["c"].told if isinstance(told, Refused)]  # type: ignore[union-attr]
    assert refused == ["early", "outside"]
    assert journaled(made, "a") == ["quick"]
