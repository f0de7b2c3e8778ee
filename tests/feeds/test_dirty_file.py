"""A file with 2 % of each fault that real files have: every fault is counted under its name, nothing else is refused,
and what was refused arrives once the mapping is mended."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import Map
from tests.feeds.dirty_cars import FAULTS, FIELDS, MODELS, REFUSED, ROWS, SHARE, DirtyCars, dirty_cars
from tests.service.conftest import Service, on_sqlite
from tidings.client import Client
from tidings.feeds import Feed, propose
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.memory.rejects import Rejects
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.language import Filter
from tidings.pipeline.batch.query import matching
from tidings.store import Store

MENDED = {
    **FIELDS,
    "price": {"from": "price", "kind": "numeric", "pattern": "([0-9][0-9,]*)", "mandatory": True},
    "category": {**FIELDS["category"], "grow": True},
}


def prepared(client: Client, mapping: Mapping, clean: bytes) -> None:
    """The schema that a clean file of the same cars asks for."""
    records = list(read_records(Content("clean", clean), mapping.layout, mapping.paths))
    for change in changes(propose(mapping, records).catalog, client.schema()):
        client.grow(change)


def found(store: Store, text: str) -> int:
    filter = Filter.parse(text, store.catalog())
    return sum(len(some) for some in matching(store, filter, 0, store.tail()))


def written(cars: DirtyCars, form: str) -> bytes:
    return cars.csv() if form == "csv" else cars.json_lines()


@on_sqlite
@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ("csv", 2_000),
        ("json", 2_000),
        pytest.param("csv", ROWS, marks=pytest.mark.slow),
        pytest.param("json", ROWS, marks=pytest.mark.slow),
    ],
)
def test_every_fault_is_counted_under_its_name_and_nothing_else_refused(
    form: str, rows: int, service: Service, ann: Client, mapped: Map, tmp_path: Path
) -> None:
    cars = dirty_cars(rows, as_json=form == "json")
    each = int(rows * SHARE)
    file = tmp_path / f"cars.{form}"
    file.write_bytes(written(cars, form))
    keys: dict[str, Any] = {"file": file.name, "event_type": "used_car", "id": "no"}
    mapping = mapped(**keys, fields=FIELDS)
    prepared(ann, mapping, written(dirty_cars(500, share=0), form))
    rejects = Rejects(tmp_path / "rejects.jsonl")
    feed = Feed(mapping, ann, state=tmp_path / "state", rejects=rejects)
    counters = feed.once()
    rejects.close()
    wanted: Counter[str] = Counter()
    for fault, count in cars.planted.items():
        assert count == each
        if FAULTS[fault]:
            wanted[FAULTS[fault]] += count
    assert counters.faults == wanted
    assert counters.refused == len(REFUSED) * each
    assert counters.left_out == sum(wanted.values()) - counters.refused
    assert counters.published == rows - counters.refused
    assert (counters.duplicates, counters.failures) == (0, 0)
    refused = [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text().splitlines()]
    assert len(refused) == counters.refused
    first = 2 if form == "csv" else 1  # the line of the first row
    for one in refused:
        row = one["line"] - first
        assert (one["id"], one["file"]) == (cars.rows[row]["no"], str(file))
        assert cars.faults[row] in REFUSED

    mended = mapped(**keys, fields=MENDED)
    again = Feed(mended, ann, print, state=tmp_path / "state").once()
    assert (again.published, again.refused, again.failures) == (counters.refused, 0, 0)
    assert again.published + counters.published == rows
    for brand in (*MODELS, "tesla"):  # each has a model 'andere', but for tesla, which nobody had seen before
        expected = sum(count for path, count in cars.models.items() if path.startswith(f"{brand} > "))
        assert found(service.store, f"model under '{brand}'") == found(service.store, f"make = '{brand}'") == expected
    assert found(service.store, "not (damaged exists)") == each
