"""Workloads on disk: what is written is read back, and nothing half-written is ever seen."""

import json
from dataclasses import replace

import pytest

from tests.workloads.each import each_workload
from tidings.events import EventBatch, read_events, validate, write_event
from tidings.events.files.reading import UnknownForm
from tidings.language import Filter
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.files import read_catalog
from tidings.workloads import LeSubscribe, Thesis, files
from tidings.workloads.files import FORMS, write_events, write_subscriptions, write_workload
from tidings.workloads.lines import NotForCsv

each = pytest.mark.parametrize("kind", each_workload())
forms = pytest.mark.parametrize("form", FORMS)

ODD = Catalog(
    domains=(
        Domain("text", Kind.STRING),
        Domain("number", Kind.NUMERIC),
        Domain("colour", Kind.ENUMERATED, values=("red", 'deep "blue"')),
        Domain("moment", Kind.TIME),
    ),
    attributes=(
        Attribute("the, title", "text"),
        Attribute("tags", "text"),
        Attribute("sizes", "number"),
        Attribute("colours", "colour"),
        Attribute("sold", "moment"),
        Attribute("never", "number"),
    ),
    event_types=(
        EventType(
            "sale",
            (
                AttributeUse("the, title", mandatory=False),
                AttributeUse("tags", mandatory=False, unique=False),
                AttributeUse("sizes", mandatory=False, unique=False),
                AttributeUse("colours", mandatory=False, unique=False),
                AttributeUse("sold", mandatory=False),
            ),
        ),
        EventType("gift"),
    ),
)
RAW = [
    {
        "id": "e1",
        "event_type": ["sale", "gift"],
        "attributes": {"the, title": 'say "hi", \\ and\nbye', "sizes": 1},
    },
    {
        "id": "é,2",
        "source": "site",
        "time": "2026-05-01T10:00:00.5Z",
        "event_type": ["gift"],
        "attributes": {},
    },
    {
        "id": "e3",
        "contact": "me@here",
        "event_type": ["sale"],
        "attributes": {"tags": ["a", "b c"], "the, title": ""},
    },
    {
        "id": "e4",
        "event_type": ["sale"],
        "attributes": {"colours": ["red", 'deep "blue"'], "sizes": [1.5, -2], "sold": "2026-01-01T00:00:00Z"},
    },
]


def events_in(path, catalog):
    readings = list(read_events(path, catalog))
    assert not any(reading.refused or reading.duplicates for reading in readings)
    return [event for reading in readings for event in reading.batch]


@each
@forms
def test_a_workload_comes_back(kind, form, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 300)  # so that parts must fit together
    workload = kind(seed=7)
    made = write_workload(workload, tmp_path / "new" / "folder", 1000, 700, form)
    assert read_catalog(made.schema) == (workload.catalog, ())
    subscriptions = [json.loads(line) for line in made.subscriptions.read_text().splitlines()]
    assert [one["id"] for one in subscriptions] == [f"s{i}" for i in range(1, 1001)]
    assert [one["filter"] for one in subscriptions] == list(workload.subscriptions(1000).texts())
    assert all(Filter.parse(one["filter"], workload.catalog) for one in subscriptions[:100])
    assert events_in(made.events, workload.catalog) == list(workload.events(700))
    assert sorted(path.name for path in made.schema.parent.iterdir()) == sorted(path.name for path in made)


@each
def test_each_json_line_is_the_raw_event(kind, tmp_path):
    workload = kind(seed=7)
    write_events([workload.events(500)], workload.catalog, tmp_path / "events.jsonl")
    text = (tmp_path / "events.jsonl").read_text().replace(".000000Z", "Z")  # whole columns of times keep all digits
    raw = [json.loads(line) for line in text.splitlines()]
    assert raw == list(files.raw_events(workload, 500))
    assert [validate(one, workload.catalog) for one in raw] == list(workload.events(500))


@forms
def test_odd_texts_several_values_and_the_envelope_come_back(form, tmp_path):
    events = [validate(raw, ODD) for raw in RAW]
    batch = EventBatch.of(events, ODD)
    parts = [batch.slice(0, 1), EventBatch.of(events[1:2], ODD), batch.slice(2)]
    assert write_events(parts, ODD, tmp_path / f"events.{form}") == 4
    assert events_in(tmp_path / f"events.{form}", ODD) == events


def test_odd_events_as_json_lines_are_what_write_event_says(tmp_path):
    events = [validate(raw, ODD) for raw in RAW]
    write_events([EventBatch.of(events, ODD)], ODD, tmp_path / "events.jsonl")
    written = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [validate(raw, ODD) for raw in written] == events
    assert written[2] == write_event(events[2])


def test_csv_cannot_hold_a_bar_among_several_values(tmp_path):
    event = validate({"id": "e", "event_type": "sale", "attributes": {"tags": "a|b"}}, ODD)
    with pytest.raises(NotForCsv, match="write JSON Lines"):
        write_events([EventBatch.of([event], ODD)], ODD, tmp_path / "events.csv")
    assert not list(tmp_path.iterdir())


def test_filters_with_quotes_are_escaped(tmp_path):
    table = replace(LeSubscribe(seed=7).subscriptions(50), vocabularies=(('a "b" \\ c\n',) * 200,) * 3 + ((),) * 3)
    assert write_subscriptions([table], tmp_path / "s.jsonl") == 50
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    assert [json.loads(line)["filter"] for line in lines] == [table.text(i) for i in range(50)]


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("old")

    def batches():
        yield Thesis().events(10)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        write_events(batches(), Thesis.catalog, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_forms_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UnknownForm, match="parquet"):
        write_workload(Thesis(), tmp_path / "w", 1, 1, form="parket")
    with pytest.raises(UnknownForm):
        write_events([], Thesis.catalog, tmp_path / "events")
    assert not list(tmp_path.iterdir())


@forms
def test_no_events_at_all(form, tmp_path):
    assert write_events([], Thesis.catalog, tmp_path / f"events.{form}") == 0
    assert (tmp_path / f"events.{form}").exists()
