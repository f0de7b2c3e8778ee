"""What follows from the journal can be made anew from it, and a journal that does not hold together is told."""

import pytest

from tests.store.samples import AUDI, START, projections, publish, with_schema
from tidings.schema import Instant
from tidings.store import BrokenJournal, Duplicate, Edit, Pause, Resume, Store, Subscribe, Withdraw, rebuild
from tidings.store.exchange import rebuilder


@pytest.fixture
def filled(store: Store) -> Store:
    with_schema(store).append([Subscribe("a", "price < 3", "ann"), publish("e7"), Subscribe("b", "brand = mini"), AUDI])
    store.append([Pause("a"), Edit("a", "price < 4"), Resume("a"), publish("e13", brand="audi"), Withdraw("b")])
    store.append([Edit("a", delivery="sse"), Edit("a", "price < 5", expiry=Instant(START + 1_000_000))])
    return store


@pytest.mark.parametrize("at_once", [1, 2, 5, 10_000])
def test_the_same_again(filled: Store, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilder, "ENTRIES_AT_ONCE", at_once)
    before = projections(filled)
    rebuild(filled)
    assert projections(filled) == before


def test_lost_projections_come_back(filled: Store) -> None:
    before = projections(filled)
    with filled.database.writing() as connection:
        for table in ("subscriptions", "spans", "event_keys"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    assert projections(filled) != before
    rebuild(filled)
    assert projections(filled) == before
    assert filled.append([publish("e7")]) == [Duplicate(7)]


def test_an_empty_journal(store: Store) -> None:
    before = projections(store)
    rebuild(store)
    assert projections(store) == before


BREAKS = [
    ("UPDATE journal SET body = '{' WHERE position = 7", "at position 7: its body is not valid JSON"),
    ("UPDATE journal SET body = '[]' WHERE position = 7", "at position 7: its body is not a JSON object"),
    ("UPDATE journal SET schema_version = 9 WHERE position = 7", "it says schema version 9, but here it is 6"),
    ("DELETE FROM journal WHERE position = 2", "at position 2: its entry is missing"),
    ("DELETE FROM journal WHERE position = 16", "at position 16: its entry is missing"),
    (
        "UPDATE journal SET kind = 'tick' WHERE position = 6",
        "at position 10: this pause entry is incomplete or unknown: 'a'",
    ),
    ("UPDATE journal SET kind = 'resume' WHERE position = 10", "'resume' is not possible: subscription 'a'"),
    ("UPDATE journal SET kind = 'dance' WHERE position = 10", "'dance' is not possible: subscription 'a'"),
    ('UPDATE journal SET body = \'{"id":"a"}\' WHERE position = 11', "edit of subscription 'a' changes nothing"),
    ('UPDATE journal SET body = \'{"id":"b","filter":""}\' WHERE position = 6', "exists already"),
]


@pytest.mark.parametrize(("damage", "message"), BREAKS)
def test_a_broken_journal_is_told_and_nothing_is_changed(filled: Store, damage: str, message: str) -> None:
    before = projections(filled)
    with filled.database.writing() as connection:
        connection.exec_driver_sql(damage)
    with pytest.raises(BrokenJournal, match=message):
        rebuild(filled)
    assert projections(filled) == before
