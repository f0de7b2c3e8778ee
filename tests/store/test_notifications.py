"""The sink: each match once, in one order, however often and in whatever pieces a batch comes."""

from typing import Any

import pyarrow as pa
import pytest

from tests.store.batches import commit_batch
from tests.store.samples import START, publish, with_schema
from tidings.schema import Instant
from tidings.store import DeadLetter, Figures, Gap, Notification, OutsideBatch, Pause, Store, Subscribe


def table(*rows: tuple[int, list[str]]) -> Any:
    positions, subscriptions = [position for position, _ in rows], [ids for _, ids in rows]
    return pa.table(
        {"position": pa.array(positions, pa.int64()), "subscriptions": pa.array(subscriptions, pa.list_(pa.string()))}
    )


@pytest.fixture
def filled(store: Store) -> Store:
    """Events at 6 to 25."""
    with_schema(store).append([publish(f"e{number}") for number in range(20)])
    return store


def pairs(store: Store) -> list[tuple[int, int, str]]:
    return [(one.cursor, one.position, one.subscription) for one in store.notifications()]


def test_notifications_stand_by_position_and_code_point(filled: Store) -> None:
    assert filled.committed() == 0
    ids = ["b", "B", "a10", "a9", "ä", "Z", "😀", "\uffff"]
    assert commit_batch(filled, 1, 10, table((7, ids), (6, ["s"]), (10, []))) == 9
    assert filled.committed() == 10
    expected = [(6, "s"), *((7, id) for id in sorted(ids))]
    assert pairs(filled) == [(cursor, *pair) for cursor, pair in enumerate(expected, 1)]
    assert filled.notifications()[0] == Notification(1, 6, "s", START)


def test_the_next_batch_goes_on(filled: Store) -> None:
    commit_batch(filled, 1, 10, table((6, ["s"])))
    assert commit_batch(filled, 11, 12, table((12, ["s", "t"])), Instant(START + 1)) == 2
    assert pairs(filled) == [(1, 6, "s"), (2, 12, "s"), (3, 12, "t")]
    assert filled.notifications()[-1].stored == START + 1


def test_a_batch_given_again_adds_nothing(filled: Store) -> None:
    batch = table((6, ["s"]), (9, ["t"]))
    assert commit_batch(filled, 1, 10, batch) == 2
    assert commit_batch(filled, 1, 10, batch) == 0
    assert commit_batch(filled, 3, 7, batch) == 0
    assert (filled.committed(), len(pairs(filled))) == (10, 2)


def test_a_batch_that_overlaps_adds_what_is_new(filled: Store) -> None:
    commit_batch(filled, 1, 8, table((6, ["s"]), (8, ["s"])))
    assert commit_batch(filled, 5, 12, table((8, ["s", "new"]), (9, ["s"]), (12, ["s"]))) == 2
    assert pairs(filled) == [(1, 6, "s"), (2, 8, "s"), (3, 9, "s"), (4, 12, "s")]


def test_several_rows_an_event(filled: Store) -> None:
    shards = pa.concat_tables([table((6, ["c"]), (7, ["b"])), table((6, ["a", "d"])), table((6, ["c"]), (7, []))])
    assert commit_batch(filled, 1, 7, shards) == 4
    assert [pair[1:] for pair in pairs(filled)] == [(6, "a"), (6, "c"), (6, "d"), (7, "b")]


def test_nothing_matched(filled: Store) -> None:
    empty = table()
    assert commit_batch(filled, 1, 9, empty) == 0
    assert commit_batch(filled, 10, 11, pa.table(empty.schema.empty_table())) == 0
    assert (filled.committed(), pairs(filled)) == (11, [])


def test_a_gap_is_refused(filled: Store) -> None:
    commit_batch(filled, 1, 8, table())
    with pytest.raises(Gap, match="only positions up to 8 are committed; continue from 9") as gap:
        commit_batch(filled, 10, 12, table((10, ["s"])))
    assert gap.value.args == (8, 10)
    assert (filled.committed(), pairs(filled)) == (8, [])


def test_what_lies_beyond_the_batch_or_the_journal_is_refused(filled: Store) -> None:
    with pytest.raises(OutsideBatch, match="position 11 is beyond 10"):
        commit_batch(filled, 1, 10, table((6, ["s"]), (11, ["s"])))
    with pytest.raises(OutsideBatch, match="position 26 is beyond 25"):
        commit_batch(filled, 1, 26, table())
    assert (filled.committed(), pairs(filled)) == (0, [])


def test_read_on_from_a_cursor(filled: Store) -> None:
    commit_batch(filled, 1, 25, table(*((position, ["s", "t", "u"]) for position in range(6, 26))))
    assert [one.cursor for one in filled.notifications(after=57)] == [58, 59, 60]
    assert [one.cursor for one in filled.notifications(after=10, limit=2)] == [11, 12]
    assert filled.notifications(after=60) == []


@pytest.mark.parametrize("after", [0, 1, 2, 3, 59, 60, 99])
def test_of_one_subscription(filled: Store, after: int) -> None:
    commit_batch(filled, 1, 25, table(*((position, ["s", "t", "u"]) for position in range(6, 26))))
    all_of_t = [one for one in filled.notifications() if one.subscription == "t"]
    assert filled.notifications(after, 5, "t") == [one for one in all_of_t if one.cursor > after][:5]
    assert filled.notifications(subscription="none") == []


def test_all_as_a_table(filled: Store) -> None:
    assert filled.notification_table().num_rows == 0
    commit_batch(filled, 1, 12, table((6, ["s"]), (9, ["s", "ü"]), (12, ["s"])))
    assert filled.notification_table().to_pydict() == {
        "position": [6, 9, 9, 12],
        "subscription": ["s", "s", "ü", "s"],
    }
    assert filled.notification_table(after_position=9).to_pydict() == {"position": [12], "subscription": ["s"]}


def test_figures(filled: Store) -> None:
    filled.append([Subscribe("a", "price < 3"), Subscribe("b", "price < 3"), Pause("b")])
    commit_batch(filled, 1, 12, table((6, ["s"]), (9, ["s", "t"])))
    filled.trim(most_bytes=0)
    filled.bury([DeadLetter("file", "1", None, "", ())])
    size = sum(len(entry.body.encode()) for entry in filled.entries() if entry.kind == "event")
    assert filled.figures() == Figures(
        journal=filled.id,
        tail=28,
        schema_version=6,
        active=1,
        paused=1,
        events=13,
        event_bytes=size,
        complete_from=13,
        committed=12,
        notifications=3,
        dead_letters=1,
        dropped=0,
        composites_lag=0,
        late=0,
        crowded=0,
    )
    assert filled.figures().lag == 16
