"""Le Subscribe, section 4, sentence by sentence. 200,000 rows: three standard errors of a half are 0.0034."""

import numpy as np
import pytest

from tidings.matching.boxes.predicate_table import OPERATORS
from tidings.workloads.le_subscribe import ATTRIBUTES, LeSubscribe, NotAProbability

N = 200_000
TABLE = LeSubscribe(seed=5).subscriptions(N)
EVENTS = LeSubscribe(seed=5).events(N)


def predicates(table, name):
    rows = table.attribute == ATTRIBUTES.index(name)
    return np.array(OPERATORS)[table.operator[rows]], table.value[rows]


def test_one_type_of_event_with_six_optional_attributes():
    (event_type,) = LeSubscribe.catalog.event_types
    assert len(event_type.attributes) == 6
    assert not any(use.mandatory for use in event_type.attributes)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_each_attribute_is_present_in_half_of_the_events_and_in_32_of_63_subscriptions(name):
    assert abs(1 - EVENTS.columns[name].null_count / N - 0.5) < 0.004
    assert abs((TABLE.attribute == ATTRIBUTES.index(name)).sum() / N - 32 / 63) < 0.004


def test_presence_is_independent():
    sets = np.bincount(np.add.reduceat(1 << TABLE.attribute.astype(np.int64), TABLE.offsets[:-1]), minlength=64)
    assert sets[0] == 0
    assert np.abs(sets[1:] / (N / 63) - 1).max() < 0.08
    assert abs(np.diff(TABLE.offsets).mean() - 3 * 64 / 63) < 0.01


@pytest.mark.parametrize("name", ATTRIBUTES[:3])
def test_strings_have_200_values_and_only_equality(name):
    operators, values = predicates(TABLE, name)
    assert set(operators) == {"="}
    assert np.abs(np.bincount(values.astype(int), minlength=200) * 200 / len(values) - 1).max() < 0.25
    found = EVENTS.columns[name].drop_null().value_counts()
    assert len(found) == 200
    assert set(found.field("values").to_pylist()) == set(TABLE.vocabularies[0])


@pytest.mark.parametrize("name", ATTRIBUTES[3:])
def test_numbers_have_5000_values_and_any_comparison(name):
    operators, values = predicates(TABLE, name)
    share = {operator: (operators == operator).mean() for operator in set(operators)}
    assert share.keys() == {"=", "<", "<=", ">", ">="}
    assert abs(share.pop("=") - 0.5) < 0.006
    assert all(abs(part - 0.125) < 0.005 for part in share.values())
    for drawn in (values, EVENTS.columns[name].drop_null().to_numpy()):
        assert (drawn.min(), drawn.max()) == (0, 4999)
        assert np.array_equal(drawn, np.trunc(drawn))
        assert abs(drawn.mean() - 2499.5) < 25
        assert np.abs(np.histogram(drawn, 50)[0] * 50 / len(drawn) - 1).max() < 0.1


@pytest.mark.parametrize("equality", [0.0, 0.2, 1.0])
def test_p_is_the_share_of_equality_predicates_on_numbers(equality):
    table = LeSubscribe(equality, seed=5).subscriptions(N)
    numeric = table.attribute >= 3
    assert abs((table.operator[numeric] == 0).mean() - equality) < 0.005
    assert (table.operator[~numeric] == 0).all()
    assert np.array_equal(table.value, TABLE.value), "p changes the operators only"


def test_p_is_a_probability():
    with pytest.raises(NotAProbability, match="from 0 to 1"):
        LeSubscribe(equality=1.5)
