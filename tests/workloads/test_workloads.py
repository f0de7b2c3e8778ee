"""What holds of every workload: reproducible, independent, valid."""

import numpy as np
import pytest

from tests.workloads.each import each_workload
from tidings.events import validate
from tidings.language import Filter
from tidings.workloads import WORKLOADS
from tidings.workloads.draws import Draws
from tidings.workloads.files import raw_events

each = pytest.mark.parametrize("kind", each_workload())
ARRAYS = ("offsets", "attribute", "operator", "value")


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS)


def test_names():
    assert list(WORKLOADS) == ["le-subscribe", "thesis", "rein", "flights"]
    assert all(kind.name == name for name, kind in WORKLOADS.items())


@each
def test_the_seed_decides(kind):
    assert same(kind(seed=7).subscriptions(500), kind(seed=7).subscriptions(500))
    assert not same(kind(seed=7).subscriptions(500), kind(seed=8).subscriptions(500))
    assert list(kind(seed=7).events(200)) == list(kind(seed=7).events(200))
    assert list(kind(seed=7).events(200)) != list(kind(seed=8).events(200))


@each
def test_the_first_k_of_n_are_those_of_k_and_start_goes_on(kind):
    workload = kind(seed=7)
    whole, events = workload.subscriptions(900), list(workload.events(300))
    assert same(whole.slice(0, 400), workload.subscriptions(400))
    assert same(whole.slice(400, 900), workload.subscriptions(500, start=400))
    assert list(workload.events(100)) == events[:100]
    tail = workload.events(200, start=100)
    assert list(tail) == events[100:]
    assert tail.positions.to_pylist() == list(range(101, 301))


@each
def test_none_at_all(kind):
    assert len(kind().subscriptions(0)) == 0
    assert len(kind().events(0)) == 0


@each
def test_every_filter_parses_to_itself(kind):
    table = kind(seed=7).subscriptions(3000)
    assert len(table) == 3000
    for i, text in enumerate(table.texts()):
        assert text == table.text(i)
        assert Filter.parse(text, table.catalog).text == text


@each
def test_every_event_is_valid_and_comes_back_from_its_raw_form(kind):
    workload = kind(seed=7)
    events = list(workload.events(1000))
    assert [validate(raw, workload.catalog) for raw in raw_events(workload, 1000)] == events
    assert next(raw_events(workload, 1, start=41))["id"] == "e42"


def test_draws_never_change():
    # Benchmarks of different years are compared by these numbers: a change here makes another workload.
    assert Draws(1, "events", 5).below(1000, "column").tolist() == FIRST_DRAWS
    assert Draws(1, "events", 2, start=3).below(1000, "column").tolist() == FIRST_DRAWS[3:]


FIRST_DRAWS = [624, 942, 792, 137, 12]


def test_draws_are_independent_and_uniform():
    draws = Draws(3, "events", 100_000)
    one, other = draws.below(10, "a"), draws.below(10, "b")
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.01
    assert abs(np.corrcoef(one, Draws(3, "subscriptions", 100_000).below(10, "a"))[0, 1]) < 0.01
    assert np.abs(np.bincount(one, minlength=10) / 10_000 - 1).max() < 0.05
    assert draws.below(np.arange(1, 100_001), "c").max() < 100_000
    assert not draws.happens(0.0, "d").any()
    assert draws.happens(1.0, "d").all()
    assert abs(draws.happens(0.3, "d").mean() - 0.3) < 0.01
