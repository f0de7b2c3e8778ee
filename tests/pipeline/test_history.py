"""The journal asked again: queries equal the specification, replay equals what must come out, here and on Spark."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.market import Market, opening
from tests.pipeline.oracle import notifications_of
from tests.pipeline.test_word_counts import SCHEMA as STORIES
from tests.pipeline.test_word_counts import publish
from tests.store.batches import commit_batch
from tidings.events import validate
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.pipeline.batch import history_frames
from tidings.pipeline.batch.history import NOTIFIED, differences, replayed
from tidings.pipeline.batch.query import STORED, matching
from tidings.pipeline.spark.job_failed import JobFailed
from tidings.pipeline.spark.session import LocalStoreOnly
from tidings.pipeline.word_counts import count_stored
from tidings.schema import Attribute, AttributeUse, Domain, EventType, Instant, Kind
from tidings.schema.growth import CreateAttribute, CreateDomain, CreateEventType, changes_to_make
from tidings.store import Accepted, Grow, Publish, Store, Subscribe

HOUR = 3_600_000_000
BEGIN = Instant.parse("2026-05-01T00:00:00Z")
FILTERS = [
    "price < 30",
    "offers > 20 and offers < 30",
    "category under 'furniture' and not (brand = 'mini')",
    "title contains 'red' and price > 50",
    "offers contains 7 or event.id = 'e3'",
    "event_type = 'sale' and event.source = 'market' and not (title exists)",
    "event.time exists or price = 1",
]
TEXTS = [
    "title starts with 're' and title not ends with 'i' and price > 20",
    "title like '_e%mi_i'",
    'title contains (red near[0] t* or "old mini") and title contains (not new)',
    "event_type cesql 'brand = ''mini'' AND LENGTH(title) > 7'",
]


class Hours:
    """A clock that goes on by an hour each time it is asked."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> Instant:
        self.now = Instant(self.now + HOUR)
        return self.now


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Schema, subscriptions that come and go, some 500 events, and the notifications that follow."""
    with Store.open(tmp_path_factory.mktemp("history") / "tidings.db", Hours()) as made:
        assert all(isinstance(outcome, Accepted) for outcome in made.append(opening()))
        made.append([Subscribe(text, text) for text in TEXTS])
        drafts = list(Market(seed=3).drafts(700, changes=0.25))
        for first in range(0, len(drafts), 20):
            assert all(isinstance(outcome, Accepted) for outcome in made.append(drafts[first : first + 20]))
        commit(made, notifications_of(made))
        yield made


def commit(store: Store, pairs: set[tuple[int, str]]) -> None:
    rows = [{"position": position, "subscriptions": [id]} for position, id in sorted(pairs)]
    schema = pa.schema([("position", pa.int64()), ("subscriptions", pa.list_(pa.string()))])
    commit_batch(store, 1, store.tail(), pa.Table.from_pylist(rows, schema))


@pytest.fixture(params=["here", "on Spark"])
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SparkSession | None:
    monkeypatch.setattr(history_frames, "_STRETCH", 100)  # several stretches, and not all of them at once
    return None if request.param == "here" else request.getfixturevalue("spark")


def table(batches: Iterator[Any], schema: Any) -> Any:
    return pa.Table.from_batches(batches, schema)


def test_queries(store: Store, session: SparkSession | None) -> None:
    catalog = store.catalog()
    entries = [entry for entry in store.entries() if entry.kind == "event"]
    for text in FILTERS + TEXTS:
        filter = Filter.parse(text, catalog)
        wanted = [e for e in entries if matches(filter.tree, validate(json.loads(e.body), catalog).bindings(), catalog)]
        found = table(matching(store, filter, 0, store.tail(), session), STORED)
        assert found.column("position").to_pylist() == [entry.position for entry in wanted], text
        assert found.column("accepted").to_pylist() == [int(entry.accepted) for entry in wanted]
        assert found.column("payload").to_pylist() == [entry.body for entry in wanted]
        assert found.column("problem").null_count == len(wanted) > 0
        if text != FILTERS[0] and session is not None:
            continue
        middle = [entry.position for entry in wanted if 200 < entry.position <= 400]
        assert table(matching(store, filter, 200, 400, session), STORED).column("position").to_pylist() == middle


def test_similarity_is_compared_under_the_statistics_of_each_position(
    tmp_path: Path, session: SparkSession | None
) -> None:
    with Store.open(tmp_path / "tidings.db", Hours()) as store:
        store.append([Grow(change) for change in changes_to_make(STORIES)])
        store.append([Subscribe("s", "body ~ 'bank rates' at least 0.7")])
        publish(store, ["bank rates", "bank", "rates", "coal"])
        count_stored(store, "body")  # both words are as frequent
        publish(store, ["bank"] * 20, 4)
        before = store.tail()
        count_stored(store, "body")  # now one is everywhere
        publish(store, ["bank", "rates"], 24)
        filter = Filter.parse("body ~ 'bank rates' at least 0.7", store.catalog())
        events = [entry.position for entry in store.entries() if entry.kind == "event"]
        wanted = [position for position in events if position <= before and position != events[3]] + events[-1:]
        found = table(matching(store, filter, 0, store.tail(), session), STORED)
        assert found.column("position").to_pylist() == wanted
        again = table(replayed(store, 0, store.tail(), session), NOTIFIED)
        assert again.column("position").to_pylist() == wanted


def test_replay_is_what_must_come_out(store: Store, session: SparkSession | None) -> None:
    found = table(replayed(store, 0, store.committed(), session), NOTIFIED)
    pairs = list(zip(found.column("position").to_pylist(), found.column("subscription").to_pylist(), strict=True))
    assert pairs == sorted(notifications_of(store))
    assert len(pairs) > 500
    assert {id for _, id in pairs} >= set(TEXTS)
    names = {entry.position: json.loads(entry.body)["id"] for entry in store.entries() if entry.kind == "event"}
    assert found.column("event").to_pylist() == [names[position] for position, _ in pairs]
    assert set(found.column("source").to_pylist()) == {"market"}
    assert [len(part) for part in differences(store, 0, store.committed(), found.to_batches())] == [0, 0]
    later = table(replayed(store, 300, 500, session), NOTIFIED)
    assert later.column("position").to_pylist() == [position for position, _ in pairs if 300 < position <= 500]
    assert [len(part) for part in differences(store, 300, 500, later.to_batches())] == [0, 0]


def test_differences(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db", Hours()) as store:
        store.append([*opening(), *Market(seed=5).drafts(200)])
        right = notifications_of(store)
        lost, invented = sorted(right)[3], (sorted(right)[0][0], "nobody")
        commit(store, right - {lost} | {invented})
        missing, unexpected = differences(store, 0, store.tail(), replayed(store, 0, store.tail()))
    assert missing.to_pylist() == [{"position": lost[0], "subscription": lost[1]}]
    assert unexpected.to_pylist() == [{"position": invented[0], "subscription": invented[1]}]


def test_where_events_were_removed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db", Hours()) as store:
        for draft in [*opening(), *Market(seed=7).drafts(100)]:
            store.append([draft])
        right = notifications_of(store)
        commit(store, right)
        assert store.trim(before=Instant(BEGIN + 60 * HOUR)) > 10
        after = store.complete_from() - 1
        assert after > 20
        found = table(replayed(store, after, store.committed()), NOTIFIED)
        pairs = set(zip(found.column("position").to_pylist(), found.column("subscription").to_pylist(), strict=True))
        assert pairs == {pair for pair in right if pair[0] > after}
        assert [len(part) for part in differences(store, after, store.committed(), found.to_batches())] == [0, 0]


def test_an_event_that_cannot_be_read_is_told_and_stops_nothing(tmp_path: Path, session: SparkSession | None) -> None:
    with Store.open(tmp_path / "tidings.db", Hours()) as store:
        store.append([*opening(), *Market(seed=9).drafts(50, changes=0)])
        first, second = [entry.position for entry in store.entries() if entry.kind == "event"][:2]
        with sqlite3.connect(tmp_path / "tidings.db") as database:
            database.execute("update journal set body = '{' where position = ?", (first,))
            database.execute("update journal set body = '{}' where position = ?", (second,))
        database.close()
        for text in ("price >= 0", "not (title contains 'zebra')", "not (price exists)"):
            found = table(matching(store, Filter.parse(text, store.catalog()), 0, store.tail(), session), STORED)
            told = found.filter(found.column("problem").is_valid())
            assert told.column("position").to_pylist() == [first, second], text
            assert "is not an event" in told.column("problem")[0].as_py()
            assert (len(found) > 2) == (text != "not (price exists)")
        again = table(replayed(store, 0, store.tail(), session), NOTIFIED)
        assert again.column("problem").drop_null().to_pylist() == told.column("problem").to_pylist()


def test_attributes_with_the_names_of_columns(tmp_path: Path, session: SparkSession | None) -> None:
    names = ("time", "id", "source", "position", "Position", "payload", "c0", "`x`.y")
    uses = tuple(AttributeUse(name, mandatory=False, unique=name != "payload") for name in names)
    with Store.open(tmp_path / "tidings.db", Hours()) as store:
        changes = [CreateDomain(Domain("n", Kind.NUMERIC)), *(CreateAttribute(Attribute(name, "n")) for name in names)]
        drafts = [Grow(change) for change in (*changes, CreateEventType(EventType("t", uses)))]
        rows = [{"id": name, "event_type": "t", "attributes": {name: 5}} for name in names]
        assert all(isinstance(one, Accepted) for one in store.append([*drafts, *map(Publish, rows)]))
        for name in names:
            quoted = '"' + name.replace('"', '""') + '"'
            filter = Filter.parse(f"{quoted} > 4 and event.id != 'x'", store.catalog())
            found = table(matching(store, filter, 0, store.tail(), session), STORED)
            assert [json.loads(payload)["id"] for payload in found.column("payload").to_pylist()] == [name]


def test_nothing_to_read(tmp_path: Path, session: SparkSession | None) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append(opening())
        filter = Filter.parse("price > 1", store.catalog())
        assert len(table(matching(store, filter, 0, store.tail(), session), STORED)) == 0
        assert len(table(matching(store, filter, 5, 5, session), STORED)) == 0
        assert len(table(replayed(store, 0, 0, session), NOTIFIED)) == 0


def test_a_store_that_workers_cannot_read(spark: SparkSession, tmp_path: Path) -> None:
    with Store.open(tmp_path / "tidings.db") as store:
        store.append([*opening(), *Market(seed=1).drafts(30)])
        filter = Filter.parse("price > 1", store.catalog())
        elsewhere = _Elsewhere()
        with pytest.raises(LocalStoreOnly, match="spark://host:7077"):
            list(matching(store, filter, 0, store.tail(), elsewhere))  # type: ignore[arg-type]
        store.url = "sqlite:////no/such/place/tidings.db"
        with pytest.raises(JobFailed, match="no/such/place"):
            list(matching(store, filter, 0, store.tail(), spark))


class _Elsewhere:
    """A session whose workers are on other machines, as far as its settings say."""

    conf: ClassVar = {"spark.master": "spark://host:7077"}
