"""Random histories: what was promised is kept, whatever happens."""

import copy
import random

import networkx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.overlay.networks import QUICK, Logged, Watching, assert_kept, choose, journaled, network, server, trial
from tidings.overlay.machine import receive
from tidings.overlay.messages import From, Granted, Publish, Request, Subscribe, Tick
from tidings.overlay.simulation.faults import FAULTS, history, play
from tidings.overlay.simulation.network import Weather
from tidings.overlay.simulation.ranges import Range, Ranges
from tidings.overlay.values import Distribution, Growth, Succeed

SEEDS = st.integers(0, 2**32)
DISTRIBUTIONS = st.sampled_from(("events", "subscriptions", "advertisements"))
few = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@few
@given(SEEDS, DISTRIBUTIONS)
def test_nothing_is_lost_or_doubled(seed: int, distribution: Distribution) -> None:
    assert_kept(trial(seed, FAULTS, distribution))


@few
@given(SEEDS, st.floats(0, 0.1), st.floats(0, 0.2), st.floats(0, 0.2))
def test_messages_lost_doubled_and_out_of_order(seed: int, loss: float, doubled: float, overtaken: float) -> None:
    """With clocks up to an hour apart. The weather clears for the end, or a heartbeat may just be lost."""
    made = trial(seed, FAULTS, weather=Weather(loss, doubled, overtaken=overtaken), skew=3600)
    made.weather = Weather()
    made.run(made.now + 40)
    assert_kept(made)


@few
@given(SEEDS)
def test_without_faults_once_settled_each_origin_is_in_order_and_no_event_crosses_a_link_twice(seed: int) -> None:
    told = history(seed, ())
    steps = [(8, *step[1:]) for step in told.steps if step[1] == "subscribe"]
    steps += [(15 + step[0], *step[1:]) for step in told.steps if step[1] == "publish"]
    made = network(told.links, steps, 160, seed=seed)
    assert_kept(made)
    assert set(made.carried.values()) <= {1}
    for host in made.hosts.values():
        for origin in host.disk.journal.taken:
            stamps = [event.stamp for event in host.disk.journal.entries if event.origin == origin]
            assert stamps == sorted(stamps)
    journals = [host.disk.journal for host in made.hosts.values()]
    assert made.carried.total() >= sum(map(len, (taken for journal in journals for taken in journal.taken.values())))


@settings(few, max_examples=5)
@given(SEEDS)
def test_schemas_are_prefixes_of_the_homes_and_equal_in_the_end(seed: int) -> None:
    """Growth is asked for at random servers while links are cut and servers crash; what is refused is not ordered."""
    chosen = random.Random(seed)
    told = history(seed, ("cut", "crash", "partition"))
    made = Watching(told.links, Ranges(), seed, timing=QUICK)
    choose(made, "subscriptions")
    for number in range(12):
        name, request = chosen.choice(list(made.hosts)), Request(f"growth {number}", Growth(f"growth {number}"))
        made.plan([(chosen.uniform(5, 110), "command", name, request)])
    play(made, told)
    assert_kept(made)
    assert len({tuple(host.disk.orders) for host in made.hosts.values()}) == 1
    granted = {one.request for host in made.hosts.values() for one in host.told if isinstance(one, Granted)}
    assert granted <= {name for name, _ in server(made, min(made.hosts)).durable.orders}
    assert granted


@settings(few, max_examples=5)
@example(14)  # forks where a restored home orders at once,
@example(84)  # and this where a server becomes the home before it has the log
@given(SEEDS)
def test_the_log_never_forks_though_servers_are_restored_and_homes_change(seed: int) -> None:
    chosen = random.Random(seed)
    told = history(seed, ("cut", "crash", "partition"))
    made = Logged(told.links, Ranges(), seed, weather=Weather(0.1, 0.1), timing=QUICK)
    choose(made, "subscriptions")
    names = list(made.hosts)
    orders = [Growth(f"growth {number}") for number in range(12)] + [Succeed(chosen.choice(names)) for _ in range(12)]
    for number, order in enumerate(orders):
        asked = Request(f"request {number}", order)
        made.plan([(chosen.uniform(5, 110), "command", chosen.choice(names), asked)])
    saved, restored = chosen.uniform(10, 90), chosen.choice(names)
    made.plan([(saved, "back_up", restored), (saved + chosen.uniform(1, 20), "restore", restored)])
    play(made, told)
    made.weather = Weather()
    made.run(made.now + 40)
    assert len({tuple(host.disk.orders) for host in made.hosts.values()}) == 1


@few
@given(SEEDS)
def test_the_tree_is_the_minimum_spanning_tree(seed: int) -> None:
    made = trial(seed, ("cut", "crash"))
    graph = networkx.Graph()
    ranked = {link: rank for rank, link in enumerate(sorted(made.links, key=lambda link: (made.links[link], link)))}
    graph.add_edges_from((*link, {"weight": rank}) for link, rank in ranked.items())  # ties as the names break them
    expected = {tuple(sorted(link)) for link in networkx.minimum_spanning_tree(graph).edges}
    assert all(server(made, name).tree == expected for name in made.hosts)


@pytest.mark.parametrize("victim", ["a", "b", "c"])
def test_a_crash_between_any_two_writes(victim: str) -> None:
    line = {("a", "b"): 10.0, ("b", "c"): 10.0}
    steps = [(8, "subscribe", "a", "wish", Range(0, 9)), (20, "cut", ("a", "b")), (40, "heal", ("a", "b"))]
    steps += [(15 + 5 * place, "publish", "c", f"{place}", place) for place in range(8)]
    steps += [(50, "move", "a", "wish", "b"), (75, "move", "a", "wish", "b")]  # the client repeats it, or is refused
    for writes in range(12):
        crash = [(12, "crash_within", victim, writes), (60, "crash", victim), (61, "heal_all")]
        made = network(line, [*steps, *crash], 100)
        assert_kept(made)
        assert [name for name, host in made.hosts.items() if host.disk.subscriptions] == ["b"]


def test_receive_behaves_as_a_pure_function() -> None:
    made = network({("a", "b"): 10.0}, [(5, "subscribe", "a", "wish", Range(0, 9))], 20)
    before = server(made, "b")
    for message in (Tick(), Publish("s", "1", 5), Subscribe("x", Range(3, 4))):
        one, other = copy.deepcopy(before), copy.deepcopy(before)
        sent = receive(one, message, before.now + 30)[1]
        assert sent == receive(other, message, before.now + 30)[1]
        assert sent.sends or sent.changes
        assert one.durable == other.durable
    assert "1" not in journaled(made, "b")


def test_a_run_is_a_function_of_its_seed() -> None:
    one, other = trial(7, FAULTS), trial(7, FAULTS)
    assert one.counts == other.counts
    assert {name: host.disk for name, host in one.hosts.items()} == {n: host.disk for n, host in other.hosts.items()}


def test_what_is_forgotten_is_reported() -> None:
    steps = [(10, "subscribe", "a", "wish", Range(0, 9)), (20, "cut", ("a", "b"))]
    steps += [(25 + place, "publish", "b", f"{place}", 5) for place in range(6)]
    made = network({("a", "b"): 10.0}, [*steps, (40, "forget", "b", 2), (50, "heal_all")], 80)
    assert_kept(made)
    assert journaled(made, "a") == ["4", "5"]
    assert [(gap.origin, gap.after, gap.through) for gap in made.hosts["a"].disk.gaps] == [("b", 0, 4)]


def test_strangers_are_not_heard() -> None:
    made = network({("a", "b"): 10.0}, [], 10)
    outcome = receive(server(made, "a"), From("mallory", next(iter(_messages(made)))), 11.0)[1]
    assert (outcome.changes, outcome.sends, outcome.told) == ([], [], [])


def _messages(made):  # type: ignore[no-untyped-def]
    return [
        message for _, message in receive(copy.deepcopy(server(made, "b")), Tick(), server(made, "b").now + 10)[1].sends
    ]


@pytest.mark.slow
def test_hundreds_of_histories() -> None:
    for seed in range(400):
        weather = Weather(0.02, 0.05, overtaken=0.05 * (seed % 4 == 3)) if seed % 2 else None
        distribution: Distribution = ("subscriptions", "advertisements", "events")[seed % 3]  # type: ignore[assignment]
        made = trial(seed, FAULTS, distribution, weather, kind=Watching)
        made.weather = Weather()
        made.run(made.now + 40)
        assert_kept(made)
