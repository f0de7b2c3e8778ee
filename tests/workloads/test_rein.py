"""rein: ten two-sided ranges of a given width, on events that bind everything."""

import numpy as np
import pytest

from tidings.matching.boxes.predicate_table import OPERATORS
from tidings.workloads.rein import DOMAIN, NotARangeWorkload, Rein

N = 20_000


def ranges(workload, n=N):
    """The attributes, lower and upper ends of each filter's ranges."""
    table = workload.subscriptions(n)
    assert (np.diff(table.offsets) == 20).all()
    assert [OPERATORS[code] for code in table.operator[:2]] == [">=", "<="]
    attribute = table.attribute.reshape(n, 10, 2)
    assert (attribute[:, :, 0] == attribute[:, :, 1]).all()
    value = table.value.reshape(n, 10, 2)
    return attribute[:, :, 0], value[:, :, 0], value[:, :, 1]


@pytest.mark.parametrize(("attributes", "width"), [(20, 0.5), (40, 0.1)])
def test_ten_ranges_of_the_width_on_different_attributes(attributes, width):
    attribute, low, high = ranges(Rein(attributes, width))
    assert (np.diff(attribute, axis=1) > 0).all(), "different and ascending"
    assert np.abs(np.bincount(attribute.ravel()) * attributes / attribute.size - 1).max() < 0.05
    assert (high - low == width * DOMAIN - 1).all()
    assert low.min() >= 0
    assert high.max() < DOMAIN
    room = DOMAIN * (1 - width)
    assert np.abs(np.histogram(low, 20, (0, room))[0] * 20 / low.size - 1).max() < 0.06


def test_zipf_gives_every_octave_as_many():
    _, low, high = ranges(Rein(zipf=True))
    assert (high - low == DOMAIN / 2 - 1).all()
    assert high.max() < DOMAIN
    octaves = np.bincount(np.log2(low.ravel() + 1).astype(int))
    assert np.abs(octaves[:18] / octaves[:18].mean() - 1).max() < 0.06


def test_events_bind_all_attributes_uniformly():
    batch = Rein().events(N)
    assert len(batch.columns) == 20
    for column in batch.columns.values():
        assert column.null_count == 0
        values = column.to_numpy()
        assert np.abs(np.histogram(values, 10, (0, DOMAIN))[0] * 10 / N - 1).max() < 0.1


def test_filters_and_events_are_drawn_in_parts(monkeypatch):
    from tidings.workloads import rein

    whole = Rein().subscriptions(1000)
    monkeypatch.setattr(rein, "_FILTERS_AT_ONCE", 300)
    parts = Rein().subscriptions(1000)
    assert np.array_equal(whole.value, parts.value)
    assert np.array_equal(whole.attribute, parts.attribute)


@pytest.mark.parametrize(("attributes", "width"), [(9, 0.5), (20, 0), (20, 1.5)])
def test_what_it_cannot_be(attributes, width):
    with pytest.raises(NotARangeWorkload, match="at least 10 attributes"):
        Rein(attributes, width)
