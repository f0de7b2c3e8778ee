"""The thesis's chapter 8 and appendix A."""

import numpy as np
import pytest

from tidings.matching.boxes.predicate_table import OPERATORS
from tidings.schema import Kind
from tidings.workloads.thesis import ATTRIBUTES, CATALOG, EVENT_TYPES, Thesis

N = 100_000
TABLE = Thesis(seed=5).subscriptions(N)
EVENTS = Thesis(seed=5).events(N)
ATTRIBUTE, OPERATOR, VALUE = (array.reshape(N, 6) for array in (TABLE.attribute, TABLE.operator, TABLE.value))
USED = [name for name in ATTRIBUTES[1:] if CATALOG.is_used(name)]


def test_every_event_type_has_four_mandatory_and_one_optional_attribute():  # 8.1
    assert CATALOG.event_type_names == ("antique", "furniture", "surf-board", "car", "painting")
    for event_type in CATALOG.event_types:
        assert [use.mandatory for use in event_type.attributes].count(True) == 4
        assert len(event_type.attributes) == 5
        assert all(use.unique for use in event_type.attributes)


def test_nobody_uses_artist():  # appendix A
    assert set(ATTRIBUTES) - set(USED) == {"event_type", "artist"}


def test_a_subscription_belongs_to_one_type_and_has_all_its_attributes():  # 8.1
    assert np.array_equal(np.diff(TABLE.offsets), np.full(N, 6))
    assert (ATTRIBUTE[:, 0] == 0).all()
    assert (OPERATOR[:, 0] == OPERATORS.index("contains")).all()
    for ordinal, (uses, _) in enumerate(EVENT_TYPES.values()):
        rows = VALUE[:, 0] == ordinal
        assert abs(rows.mean() - 0.2) < 0.005
        assert (ATTRIBUTE[rows, 1:] == [ATTRIBUTES.index(name) for name in uses]).all()


@pytest.mark.parametrize("name", USED)
def test_operators_and_values_are_uniform_over_the_domain(name):  # 8.1
    domain = CATALOG.domain_of(name)
    rows = TABLE.attribute == ATTRIBUTES.index(name)
    operators = np.array(OPERATORS)[TABLE.operator[rows]]
    legal = {
        Kind.NUMERIC: {"=", "!=", "<", "<=", ">", ">="},
        Kind.STRING: {"contains"},
        Kind.ENUMERATED: {"=", "!="},
    }[domain.kind]
    assert set(operators) == legal
    assert all(abs((operators == operator).mean() * len(legal) - 1) < 0.06 for operator in legal)
    column = EVENTS.columns[name].drop_null()
    if domain.kind is Kind.NUMERIC:
        for drawn in (TABLE.value[rows], column.to_numpy()):
            assert (drawn.min(), drawn.max()) == (0, 2000)
            assert abs(drawn.mean() - 1000) < 15
            assert np.array_equal(drawn, np.trunc(drawn))
    else:
        size = 150 if domain.kind is Kind.STRING else len(domain.values)
        assert np.abs(np.bincount(TABLE.value[rows].astype(int)) * size / rows.sum() - 1).max() < 0.35
        found = column.value_counts().field("counts").to_numpy()
        assert len(found) == size
        assert np.abs(found * size / len(column) - 1).max() < 0.35


def test_an_event_has_one_type_and_all_its_five_attributes():  # 8.2
    types = np.array([ordinal for (ordinal,) in EVENTS.event_types.to_pylist()])
    assert np.abs(np.bincount(types) / N - 0.2).max() < 0.005
    for event in EVENTS.slice(0, 2000):
        (event_type,) = event.event_types
        assert {name for name, _ in event.attributes} == set(EVENT_TYPES[event_type][0])
