import pickle

import pyarrow as pa
import pytest

from tests.events.examples import EVERY_KIND
from tidings.events import Event, EventBatch, validate
from tidings.events.batch import OtherSchema
from tidings.schema import Attribute, growth

EVENTS = [
    validate(raw, EVERY_KIND)
    for raw in (
        {"id": "1", "event_type": "all", "attributes": {"price": 1, "brand": "mini", "tags": ["x", "y"]}},
        {
            "id": "2",
            "event_type": ["all", "free"],
            "source": "s",
            "attributes": {"price": 2.5, "category": "b"},
        },
        {"id": "3", "event_type": "none", "time": "1969-12-31T23:59:59.999999Z", "contact": "me"},
        {
            "id": "4",
            "event_type": "all",
            "attributes": {
                "price": -(2**53),
                "tags": "z",
                "whens": ["2026-05-01", "1600-01-01"],
                "brands": ["audi", "opel"],
            },
        },
    )
]


@pytest.fixture
def batch():
    return EventBatch.of(EVENTS, EVERY_KIND)


def test_events_come_back(batch):
    assert len(batch) == 4
    assert list(batch) == EVENTS
    assert [batch.event(row) for row in range(4)] == EVENTS
    assert batch.positions.to_pylist() == [1, 2, 3, 4]
    with pytest.raises(IndexError):
        batch.event(4)


def test_columns_have_one_type_per_kind(batch):
    word = pa.dictionary(pa.int32(), pa.string())
    assert {name: column.type for name, column in batch.columns.items()} == {
        "price": pa.float64(),
        "brand": word,
        "tags": pa.list_(pa.string()),
        "category": word,
        "whens": pa.list_(pa.timestamp("us", tz="UTC")),
        "brands": pa.list_(word),
    }
    assert batch.columns["brand"].dictionary.to_pylist() == ["opel", "mini", "audi"]
    assert batch.columns["brand"].indices.to_pylist() == [1, None, None, None]
    assert batch.columns["brands"].flatten().indices.to_pylist() == [2, 0]
    assert batch.columns["category"].dictionary.to_pylist() == ["a", "a > b", "c"]  # pre-order
    assert batch.event_types.to_pylist() == [[0], [0, 1], [2], [0]]
    assert batch.sources.to_pylist() == ["", "s", "", ""]


def test_parts_of_a_batch(batch):
    assert list(batch.slice(1, 3)) == EVENTS[1:3]
    assert list(batch.slice(2)) == EVENTS[2:]
    assert list(batch.slice(1, 4).slice(1, 2)) == EVENTS[2:3]
    assert list(batch.take([3, 0])) == [EVENTS[3], EVENTS[0]]
    assert batch.take([3, 0]).positions.to_pylist() == [4, 1]
    assert list(batch.filter([True, False, False, True])) == [EVENTS[0], EVENTS[3]]
    assert list(batch.slice(0, 0)) == []


def test_positions_can_be_given(batch):
    assert batch.at(10).positions.to_pylist() == [10, 11, 12, 13]
    assert batch.at([5, 7, 8, 11]).positions.to_pylist() == [5, 7, 8, 11]
    assert EventBatch.of(EVENTS, EVERY_KIND, 3).positions.to_pylist() == [3, 4, 5, 6]
    assert list(batch.at(10)) == EVENTS


def test_batches_are_joined_whatever_columns_they_have(batch):
    parts = [EventBatch.of([event], EVERY_KIND, place) for place, event in enumerate(EVENTS, 1)]
    whole = EventBatch.concat([*parts, EventBatch.of([], EVERY_KIND), batch.slice(1, 4)])
    assert list(whole) == EVENTS + EVENTS[1:]
    assert whole.positions.to_pylist() == [1, 2, 3, 4, 2, 3, 4]
    assert whole.columns["brand"].dictionary.to_pylist() == ["opel", "mini", "audi"]


def test_a_batch_travels_by_pickle(batch):
    for part in (batch, batch.slice(1, 3), batch.slice(0, 0)):
        again = pickle.loads(pickle.dumps(part))
        assert list(again) == list(part)
        assert again.positions.equals(part.positions)
    long = EventBatch.of([Event(str(n), ("none",)) for n in range(10_000)], EVERY_KIND)
    assert len(pickle.dumps(long.slice(5, 6))) < len(pickle.dumps(long)) / 20


def test_a_batch_travels_as_arrow(batch):
    arrow = batch.to_arrow()
    assert not any(pa.types.is_dictionary(field.type) for field in arrow.schema)
    assert list(EventBatch.from_arrow(arrow, EVERY_KIND)) == EVENTS
    table = pa.Table.from_batches([arrow.slice(0, 2), arrow.slice(2)])
    assert list(EventBatch.from_arrow(table.replace_schema_metadata(None), EVERY_KIND)) == EVENTS
    assert list(EventBatch.from_arrow(arrow.slice(1, 2), EVERY_KIND)) == EVENTS[1:3]


def test_ordinals_are_not_read_under_another_schema(batch):
    grown = growth.grow(EVERY_KIND, growth.CreateAttribute(Attribute("more", "number")))
    with pytest.raises(OtherSchema):
        EventBatch.from_arrow(batch.to_arrow(), grown)
    with pytest.raises(OtherSchema):
        EventBatch.concat([batch, EventBatch.of([], grown)])
