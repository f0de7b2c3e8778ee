"""The smallest scenarios in which simpler rules lose events."""

from itertools import count, takewhile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.overlay.networks import QUICK, Recording, assert_kept, choose, journaled, network, server
from tidings.overlay.simulation.checks import promised
from tidings.overlay.simulation.network import Step
from tidings.overlay.simulation.ranges import Range, Ranges
from tidings.overlay.simulation.topologies import Topology
from tidings.overlay.values import Timing

PAIR: Topology = {("a", "b"): 10.0}
LINE: Topology = {("a", "b"): 10.0, ("b", "c"): 10.0}
WANTED = Range(0, 9)
SUBSCRIBED: Step = (10, "subscribe", "a", "wish", WANTED)

CASES: dict[str, tuple[Topology, list[Step], dict[str, list[str]]]] = {
    "both halves of a partition settle in themselves": (
        PAIR,
        [SUBSCRIBED, (30, "cut", ("a", "b")), (60, "publish", "b", "1", 5)],
        {"a": ["1"]},
    ),
    "a relay stores nothing": (
        LINE,
        [SUBSCRIBED, (30, "crash", "a"), (45, "publish", "c", "1", 5), (50, "recover", "a")],
        {"a": ["1"], "b": []},
    ),
    "a relay restarts before its links are dead": (
        LINE,
        [SUBSCRIBED, (30, "crash", "b"), (32, "recover", "b"), (60, "publish", "c", "1", 5)],
        {"a": ["1"], "b": []},
    ),
    "subscribed while the link is cut": (
        PAIR,
        [(30, "cut", ("a", "b")), (40, "subscribe", "a", "wish", WANTED), (45, "publish", "b", "1", 5)],
        {"a": ["1"]},
    ),
    "a restored origin uses its positions again": (
        PAIR,
        [
            SUBSCRIBED,
            (20, "back_up", "b"),
            *((30 + place, "publish", "b", f"{place}", 5) for place in range(5)),
            (40, "crash", "b"),
            (41, "recover", "b"),
            (50, "cut", ("a", "b")),
            (60, "restore", "b"),
            *((61 + place, "publish", "b", f"5{place}", 5) for place in range(5)),
        ],
        {"a": [*"01234", "50", "51", "52", "53", "54"]},
    ),
    "a client moves while the origin is cut off": (
        LINE,
        [SUBSCRIBED, (30, "cut", ("b", "c")), (40, "publish", "c", "1", 5), (50, "move", "a", "wish", "b")],
        {"a": [], "b": ["1"]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    links, steps, expected = CASES[name]
    made = network(links, [*steps, (80, "heal_all")], 110)
    assert_kept(made)
    assert len(list(promised(made))) > 0
    assert {server: journaled(made, server) for server in expected} == expected


def test_published_before_interests_came_back() -> None:
    made = Recording(LINE, Ranges(), 1, timing=QUICK)
    choose(made, "advertisements")
    everything = Range(0, 99)
    made.plan([(5, "advertise", "b", "of b", everything), SUBSCRIBED, (60, "advertise", "c", "of c", everything)])
    made.plan([(60.05, "publish", "c", "1", 5), (70, "publish", "c", "2", 50)])
    made.run(100)
    assert_kept(made)
    assert journaled(made, "a") == ["1"]
    assert made.carried.total() == 0  # by repair alone


def test_a_flapping_link_changes_the_tree_rarely() -> None:
    """Three seconds up and seven down, for ten minutes: at most two changes for each wait of a minute."""
    triangle: Topology = {("a", "b"): 1.0, ("b", "c"): 2.0, ("a", "c"): 2.0}
    blows = [(20 + 10 * n + shift, what, ("a", "b")) for n in range(60) for shift, what in ((0, "cut"), (7, "heal"))]
    made = network(triangle, blows, 620, timing=Timing())
    assert server(made, "c").tree_changes <= 10
    without = network(triangle, blows, 620, timing=Timing(revival=0.0))
    assert server(without, "c").tree_changes > 60


@settings(max_examples=10, deadline=None)
@example(12.0, 6.0)
@given(st.floats(1, 70), st.floats(1, 70))
def test_any_link_that_flaps_changes_the_tree_rarely(up: float, down: float) -> None:
    """The waits are 10, 20, 40 and then 60 s, so ten minutes have room for at most twelve lives and deaths."""
    triangle: Topology = {("a", "b"): 1.0, ("b", "c"): 2.0, ("a", "c"): 2.0}
    cuts = takewhile(lambda moment: moment < 620, (20 + number * (up + down) for number in count()))
    blows = [(cut + shift, what, ("a", "b")) for cut in cuts for shift, what in ((0.0, "cut"), (down, "heal"))]
    made = network(triangle, blows, 620, timing=Timing())
    assert server(made, "c").tree_changes <= 24
