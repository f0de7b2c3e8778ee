"""Today's tools give naive's counts, or say why they do not."""

import numpy as np
import pytest

from tests.workloads.each import each_workload
from tidings.bench.agreement import naive_answers
from tidings.bench.grid import LARGEST, UNBOUND, Grid, NoGrid
from tidings.bench.peers import PEERS, java, make_peer
from tidings.bench.peers.measurement import measure_peer
from tidings.bench.peers.rules import RuleEngine, rule_text
from tidings.workloads import LeSubscribe, Thesis

QUICK = [name for name in PEERS if name not in ("spark-sql", "event-ruler", "lucene-monitor")]


def counts_of(name, workload, subscriptions=200, events=60):
    table, batch = workload.subscriptions(subscriptions), workload.events(events)
    grid, peer = Grid.of(table, batch), make_peer(name)
    if reason := peer.unavailable() or peer.unable(grid):
        pytest.skip(reason)
    peer.load(grid)
    try:
        return peer.counts(0, events), peer.counts(events // 2, events), naive_answers(table, batch).counts
    finally:
        peer.close()


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("kind", each_workload())
def test_counts_are_those_of_naive(name, kind):
    found, rest, expected = counts_of(name, kind())
    assert np.array_equal(found, expected)
    assert np.array_equal(rest, expected[30:])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PEERS if name not in QUICK])
@pytest.mark.parametrize("kind", each_workload())
def test_counts_of_those_that_need_a_jvm(name, kind):
    found, rest, expected = counts_of(name, kind())
    assert np.array_equal(found, expected)
    assert np.array_equal(rest, expected[30:])


def test_the_grid():
    workload = LeSubscribe()
    grid = Grid.of(workload.subscriptions(300), workload.events(50))
    assert grid.low.shape == grid.high.shape == (6, 300)
    assert grid.events.shape == (6, 50)
    left_out = grid.low == UNBOUND
    assert (grid.high[left_out] == LARGEST).all()
    assert grid.excluding == []
    assert Grid.of(Thesis().subscriptions(300), Thesis().events(50)).excluding != []
    assert grid.first(10).subscriptions == 10
    assert " and " in rule_text(grid, int(np.argmax((~left_out).sum(0))))


def test_several_excluded_values_are_no_grid():
    table = Thesis().subscriptions(1)
    brand = table.attributes.index("brand")
    made = type(table)(
        table.catalog, table.attributes, table.vocabularies, np.array([0, 2]), np.full(2, brand, np.int16),
        np.ones(2, np.int8), np.array([0.0, 1.0]),
    )  # fmt: skip
    with pytest.raises(NoGrid, match="excludes several values of 'brand'"):
        Grid.of(made, Thesis().events(5))


def test_who_tests_filter_by_filter_is_extrapolated(monkeypatch):
    monkeypatch.setattr(RuleEngine, "most", 50)
    workload = LeSubscribe()
    grid = Grid.of(workload.subscriptions(500), workload.events(20))
    measured = measure_peer("rule-engine", grid, seconds=0.2)
    if measured.result.events_per_s is None:
        pytest.skip(measured.result.note)
    assert "only 50 subscriptions, extrapolated" in measured.result.note
    assert measured.answers is None


def test_who_is_not_there_says_so(monkeypatch):
    workload = LeSubscribe()
    grid = Grid.of(workload.subscriptions(10), workload.events(5))
    monkeypatch.setattr(java.shutil, "which", lambda command: None)
    assert measure_peer("event-ruler", grid).result.note == "not available: needs java"
    monkeypatch.setattr("tidings.bench.peers.duckdb_join.find_spec", lambda name: None)
    assert "pip install 'tidings[bench]'" in measure_peer("duckdb", grid).result.note


def test_who_cannot_express_it_says_so():
    grid = Grid.of(Thesis().subscriptions(200), Thesis().events(5))
    assert measure_peer("prototype", grid).result.note == "cannot express !="
