"""Timing: the floor, the limit, how many events fit."""

import time

import pytest

from tidings.bench.agreement import built
from tidings.bench.floor import floor_ns
from tidings.bench.growth import BASE, Rarer, exponent, narrower
from tidings.bench.measurement import MATCHES_AT_ONCE, TRIES, TookTooLong, planned, time_limit
from tidings.bench.table import markdown, number, plain
from tidings.matching.boxes.bulk import box_table


def test_the_floor_is_the_time_of_a_write():
    assert 0.01 < floor_ns(5_000_000) < 10
    assert floor_ns(0) == 0


def test_a_time_limit_interrupts():
    started = time.perf_counter()
    with pytest.raises(TookTooLong, match=r"not done within 0\.05 s"), time_limit(0.05):
        time.sleep(5)
    assert time.perf_counter() - started < 4
    with time_limit(0.05):
        pass
    time.sleep(0.06)  # nothing is left to ring


@pytest.mark.parametrize(("seconds_an_event", "rows"), [(1e-6, 1000), (0.01, 285), (10, 1)])
def test_slow_ones_get_fewer_events(seconds_an_event, rows):
    found, at_once = planned(lambda n: (n * seconds_an_event, 100 * n), 1000, seconds=10)
    assert found == pytest.approx(rows, abs=1)
    assert found * seconds_an_event * TRIES <= 10 or found == 1
    assert at_once == MATCHES_AT_ONCE // 100


def test_exponents():
    assert exponent([(n, 3 * n**0.5) for n in (10, 100, 1000)]) == pytest.approx(0.5)


def test_growth_keeps_the_number_of_matches():
    few, many = Rarer.to(BASE), Rarer.to(10 * BASE)
    assert (few.scale, many.scale) == (1, 10)
    assert len(set(many.subscriptions(500).vocabularies[0])) == 10 * len(set(few.subscriptions(1).vocabularies[0]))
    assert narrower(BASE).width == 0.5
    assert narrower(1024 * BASE).width == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (1234567, "1,230,000"), (45.678, "45.7"), (0.0123, "0.0123"), (0.00001, "1.0e-05")],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_tables():
    assert markdown(("a", "b", "c"), [("x|y", "1", "n")]).splitlines()[2] == "| x\\|y | 1 | n |"
    assert plain(("a", "b", "c"), [("long", "1", "n")]).splitlines() == ["a     b  c", "long  1  n"]


@pytest.mark.parametrize("workload", [Rarer.to, narrower])
def test_ten_times_the_subscriptions_have_as_many_matches(workload):
    means = []
    for size in (BASE, 10 * BASE):
        made = workload(size)
        matcher = built("default", made.catalog, box_table(made.subscriptions(size)), [str(i) for i in range(size)])
        means.append(len(matcher.match(made.events(2000))) / 2000)
    assert means[1] == pytest.approx(means[0], rel=0.3)


def test_a_benchmark_says_how_many_threads_there_are():
    """Else the default algorithm would try several, and "one thread" would not be true."""
    made = Rarer()
    for threads in (1, 2):
        matcher = built("default", made.catalog, box_table(made.subscriptions(5)), list("abcde"), threads)
        assert matcher._threads.number(10**6) == threads
