"""Queries over copies of the journal by column: the same answers as its rows give, whatever happened to either."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.test_history import FILTERS, Hours, commit
from tidings.events import validate
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.pipeline.batch import query
from tidings.pipeline.batch.query import STORED, is_for_spark, matching, scan
from tidings.schema import Instant
from tidings.schema.growth import AppendNode, AppendValue
from tidings.store import Grow, Store
from tidings.store.journal import event_columns

_STRETCH = 32


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_columns, "STRETCH", _STRETCH)
    monkeypatch.setattr(query, "STRETCH", _STRETCH)
    monkeypatch.setattr(query, "_PAYLOADS", 7)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db", Hours()) as made:
        made.append([*opening(), *Market(seed=3).drafts(300, changes=0.2)])
        yield made


def check(store: Store, after: int = 0, upto: int | None = None) -> None:
    """Every filter gives what the specification gives."""
    catalog, upto = store.catalog(), store.tail() if upto is None else upto
    for text in FILTERS:
        filter = Filter.parse(text, catalog)
        wanted = [
            (entry.position, int(entry.accepted), entry.body)
            for entry in store.entries(after, upto)
            if entry.kind == "event"
            and matches(filter.tree, validate(json.loads(entry.body), catalog).bindings(), catalog)
        ]
        found = pa.Table.from_batches(matching(store, filter, after, upto), STORED)
        assert [(row["position"], row["accepted"], row["payload"]) for row in found.to_pylist()] == wanted, text
        alone = pa.Table.from_batches(matching(store, filter, after, upto, payloads=False), STORED)
        assert alone.column("position").to_pylist() == [position for position, _, _ in wanted]


def looked_at(store: Store, after: int, upto: int) -> list[int]:
    pieces = scan(store, Filter.parse("price < 30", store.catalog()), after, upto)
    return [position for rows, _ in pieces for position in rows.column("position").to_pylist()]


def test_the_first_query_copies_and_later_ones_read_the_copy(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    check(store)
    whole = store.tail() // _STRETCH
    assert store.copied_stretches(0, 99) == {*range(whole)}
    read: list[int] = []
    pages = Store.event_rows

    def counted(store: Store, after: int, *rest: int) -> Iterator[object]:
        read.append(after)
        return pages(store, after, *rest)

    monkeypatch.setattr(Store, "event_rows", counted)
    list(matching(store, Filter.parse("price < 30", store.catalog()), 0, store.tail(), payloads=False))
    assert read == [_STRETCH * whole]  # what comes after the last whole stretch
    check(store)


@pytest.mark.parametrize(("after", "upto"), [(0, 64), (40, 41), (33, 250), (64, 128), (5, 5), (90, 80), (31, 33)])
def test_parts_of_the_journal(store: Store, after: int, upto: int) -> None:
    events = [entry.position for entry in store.entries() if entry.kind == "event"]
    for _ in range(2):  # from the journal, and from the copies
        assert looked_at(store, after, upto) == [position for position in events if after < position <= upto]
        check(store, after, upto)


def test_the_journal_goes_on(store: Store) -> None:
    check(store)
    store.append([*Market(seed=4, source="other").drafts(100, changes=0)])
    check(store)


def test_a_copy_made_before_the_schema_grew(store: Store) -> None:
    check(store)
    catalog = store.catalog()
    listed = next(domain for domain in catalog.domains if domain.values and not domain.open)
    tree = next(domain for domain in catalog.domains if domain.hierarchy.nodes)
    changes = [AppendValue(listed.name, "brand new"), AppendNode(tree.name, "aaa", tree.hierarchy.nodes[0])]
    store.append([Grow(change) for change in changes])
    assert store.catalog().version == catalog.version + 2
    check(store)


def test_after_events_were_removed(store: Store) -> None:
    check(store)
    commit(store, set())
    assert store.trim(most_bytes=0, needed_from=100) > 50
    assert store.copied_stretches(0, 99) == {*range(99 // _STRETCH, store.tail() // _STRETCH)}
    check(store)
    assert min(looked_at(store, 0, store.tail())) >= 100


def test_a_stretch_with_an_event_that_cannot_be_read_is_not_copied(store: Store, tmp_path: Path) -> None:
    broken = [entry.position for entry in store.entries() if entry.kind == "event"][40]
    with sqlite3.connect(tmp_path / "tidings.db") as database:
        database.execute("update journal set body = '{' where position = ?", (broken,))
    database.close()
    for _ in range(2):
        found = pa.Table.from_batches(
            matching(store, Filter.parse("price >= 0", store.catalog()), 0, store.tail()), STORED
        )
        assert found.filter(found.column("problem").is_valid()).column("position").to_pylist() == [broken]
    assert event_columns.stretch_of(broken) not in store.copied_stretches(0, 99)


def test_a_store_that_cannot_be_written_is_only_read(store: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///file:{tmp_path / 'tidings.db'}?mode=ro&uri=true") as reader:
        check(reader)
    assert store.copied_stretches(0, 99) == set()


def test_a_stretch_of_large_events_is_not_copied(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "_MOST_BYTES", 1000)
    check(store)
    assert store.copied_stretches(0, 99) == set()


def test_what_was_removed_after_it_was_found_is_not_given(store: Store) -> None:
    check(store)
    commit(store, set())
    pieces = scan(store, Filter.parse("price >= 0", store.catalog()), 0, store.tail())
    next(pieces)
    store.trim(before=Instant(store.now()))
    assert sum(len(found) for _, found in pieces) < 20


def test_spark_is_for_much_that_nobody_has_copied(store: Store) -> None:
    tail = store.tail()
    assert is_for_spark(store, 0, tail, 200)
    assert not is_for_spark(store, 0, tail, tail + 1)
    check(store)
    assert not is_for_spark(store, 0, tail, 200)
    assert not is_for_spark(store, 0, tail)


@pytest.mark.slow
def test_on_postgresql(postgresql_url: str) -> None:
    with Store.open(postgresql_url, Hours()) as store:
        store.append([*opening(), *Market(seed=3).drafts(300, changes=0.2)])
        check(store)
        assert store.copied_stretches(0, 99) == {*range(store.tail() // _STRETCH)}
        check(store, 40, 200)
        commit(store, set())
        assert store.trim(most_bytes=0, needed_from=100) > 50
        check(store)
