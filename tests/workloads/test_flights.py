"""flights: real ones, and filters drawn from among them."""

import numpy as np
import pyarrow as pa
import pytest

from tests.workloads.each import without_flights
from tidings.matching.algorithms import make_matcher
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.predicate_table import OPERATORS
from tidings.workloads import flights
from tidings.workloads.flights import ATTRIBUTES, CARRIERS, DELAYS, ORIGINS, POINTS, SPANS, Flights, FlightsMissing

pytestmark = without_flights
N = 50_000


@pytest.fixture(scope="module")
def table():
    return Flights().subscriptions(N)


@pytest.fixture(scope="module")
def events():
    return Flights().events(N)


def test_events_are_flights(events):
    columns = events.columns
    assert set(columns) == set(ATTRIBUTES)
    assert set(columns["carrier"].to_pylist()) == set(CARRIERS)
    assert set(columns["origin"].to_pylist()) == set(ORIGINS)
    assert set(columns["month"].to_pylist()) == set(range(1, 13))
    assert pa.types.is_timestamp(columns["time_hour"].type)
    assert {moment.year for moment in columns["time_hour"].slice(0, 500).to_pylist()} <= {2013, 2014}
    assert 0.01 < columns["arr_delay"].null_count / N < 0.05, "cancelled ones have none"
    assert abs(np.nanmean(columns["distance"].to_numpy()) - 1040) < 15


def test_filters_have_three_to_five_predicates(table):
    lengths = np.bincount(np.diff(table.offsets))
    assert (lengths > 0).tolist() == [False] * 3 + [True] * 3


def test_each_asks_for_points_and_one_range(table):
    owner = np.repeat(np.arange(N), np.diff(table.offsets))
    points = np.bincount(owner[table.attribute < len(POINTS)], minlength=N)
    assert set(points) == {2, 3, 4}
    signs = {name: set(table.operator[table.attribute == place]) for place, name in enumerate(ATTRIBUTES)}
    asked = {name: {OPERATORS[code] for code in codes} for name, codes in signs.items()}
    assert all(asked[name] == {"="} for name in POINTS)
    assert all(asked[name] == {">="} for name in DELAYS)
    assert all(asked[name] == {">=", "<="} for name in SPANS)
    ranged = np.bincount(owner[(table.attribute >= len(POINTS)) & (table.operator == OPERATORS.index(">="))])
    assert (ranged == 1).all()


def test_values_follow_the_data(table, events):
    asked = table.value[table.attribute == ATTRIBUTES.index("carrier")]
    found = events.columns["carrier"].indices.to_numpy()
    shares = [np.bincount(values.astype(int), minlength=16) / len(values) for values in (asked, found)]
    assert np.abs(shares[0] - shares[1]).max() < 0.02


def test_about_five_matches_a_flight_with_100_000_filters():
    workload = Flights()
    matcher = make_matcher("default", workload.catalog)
    matcher.load(box_table(workload.subscriptions(100_000)), [str(number) for number in range(100_000)])
    assert 4 < len(matcher.match(workload.events(4000))) / 4000 < 7


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(flights, "find_spec", lambda name: None)
    flights._data.cache_clear()
    with pytest.raises(FlightsMissing, match=r"tidings\[bench\]"):
        Flights().events(1)
    flights._data.cache_clear()
