"""Committing in parts: whatever the cut and wherever it is broken off, each match is stored once and in order."""

import contextlib
import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from tests.store.samples import dropped_by_account, publish, with_schema
from tidings.store import SetQuota, Store
from tidings.store.notifications.commits import CHUNK, Pace
from tidings.store.notifications.expression_errors import FailedEvent
from tidings.store.notifications.progress import Place
from tidings.store.notifications.quotas import Dropped

Row = tuple[int, str, str, int, int]
MINUTE = 100


class Few(Pace):
    """So many rows in each transaction; may break off."""

    def __init__(self, rows: int, transactions: int | None = None) -> None:
        super().__init__(rows=rows)
        self._left = transactions

    def note(self, rows: int, seconds: float) -> None:
        if self._left is not None:
            self._left -= 1
            if not self._left:
                raise KeyboardInterrupt


def chunks(rows: list[Row], size: int) -> list[Any]:
    made = [dict(zip(CHUNK.names, row, strict=True)) for row in rows]
    return [pa.RecordBatch.from_pylist(made[at : at + size], schema=CHUNK) for at in range(0, len(rows), size)]


@pytest.fixture
def filled(store: Store) -> Store:
    """Events at 6 to 25."""
    with_schema(store).append([publish(f"e{number}") for number in range(20)])
    return store


def pairs(store: Store) -> list[tuple[int, str]]:
    everything = store.notifications()
    assert [one.cursor for one in everything] == list(range(1, len(everything) + 1))
    return [(one.position, one.subscription) for one in everything]


def plain(*events: tuple[int, str]) -> list[Row]:
    """Nobody's, a letter a subscription."""
    return [(position, letter, "", MINUTE, 0) for position, letters in events for letter in letters]


BATCH = plain((6, "abcdefgh"), (7, "a"), (9, "abc"), (20, "bcdxyz"))


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 100])
def test_parts_of_any_size_give_the_same(filled: Store, rows: int) -> None:
    assert filled.commit(1, 22, chunks(BATCH, 4), pace=Few(rows), batch_limit=77) == len(BATCH)
    assert pairs(filled) == [row[:2] for row in BATCH]
    assert filled.place() == Place(22, "", 77)


@pytest.mark.parametrize("transactions", range(1, 8))
def test_what_was_broken_off_goes_on_where_it_was(filled: Store, transactions: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        filled.commit(1, 22, chunks(BATCH, 4), pace=Few(2, transactions))
    stored = pairs(filled)
    assert stored == [row[:2] for row in BATCH[: 2 * transactions]]
    last = stored[-1][0]
    whole = BATCH[2 * transactions][0] > last
    assert filled.committed() == last - 1 + whole, "its position may have more"
    first = filled.committed() + 1
    added = filled.commit(first, 22, chunks([row for row in BATCH if row[0] >= first], 5), pace=Few(3))
    assert added == len(BATCH) - len(stored)
    assert pairs(filled) == [row[:2] for row in BATCH]
    assert filled.commit(1, 22, chunks(BATCH, 4), pace=Few(3)) == 0


def test_queries_have_their_own_places_and_share_the_cursor(filled: Store) -> None:
    filled.commit(1, 10, chunks(BATCH[:9], 4))
    assert (filled.committed(), filled.committed("composites"), filled.least_committed()) == (10, 0, 10)
    filled.commit(1, 6, [], query="composites")
    assert (filled.committed(), filled.committed("composites"), filled.least_committed()) == (10, 6, 6)
    filled.commit(7, 12, chunks(plain((11, "k")), 4), query="composites")
    filled.commit(11, 12, chunks(plain((12, "a")), 4))
    assert [(one.cursor, one.subscription) for one in filled.notifications(after=9)] == [(10, "k"), (11, "a")]


def test_the_pace_follows_the_time_that_it_takes() -> None:
    pace = Pace(seconds=0.3, rows=20_000)
    pace.note(20_000, 0.05)
    assert pace.rows == 40_000, "at most twice as many at once"
    pace.note(40_000, 3.0)
    assert pace.rows == 10_000, "at least a quarter"
    pace.note(10_000, 1.0)
    assert pace.rows == 3_000
    pace.note(100, 0.001)
    assert pace.rows == 3_000, "too few to tell"


def owned(position: int, *ids: str, minute: int = MINUTE, dropped: int = 0) -> list[Row]:
    """The first letter of an id is its owner; '-' stands for those that are only counted."""
    return [(position, "" if dropped else id, id[0], minute, dropped) for id in ids]


@pytest.fixture
def limited(filled: Store) -> Store:
    filled.append([SetQuota(5), SetQuota(2, "b"), SetQuota(0, "c")])
    return filled


ROWS = [
    *owned(6, "a1", "a2", "a3", "b1", "c1"),
    *owned(7, "a1", "b1", "b2"),
    *owned(8, "a1", "a2", "b1", *(f"c{number}" for number in range(9))),
    *owned(9, "a1", "b1", minute=MINUTE + 1),
    *owned(9, "c1", minute=MINUTE + 1),
    *owned(12, *(f"a{number}" for number in range(9)), minute=MINUTE + 1),
]


def expected(rows: list[Row], quotas: dict[str, int]) -> list[tuple[int, str]]:
    """One by one."""
    counts: dict[tuple[str, int], int] = {}
    kept = []
    for position, id, owner, minute, _ in rows:
        counts[owner, minute] = counts.get((owner, minute), 0) + 1
        if not quotas[owner] or counts[owner, minute] <= quotas[owner]:
            kept.append((position, id))
    return kept


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_beyond_the_quota_matches_are_counted_and_not_stored(limited: Store, size: int) -> None:
    """The journal's default is set at 26, after these events: before, it is 100,000."""
    limited.append([publish(f"f{number}") for number in range(20)])
    rows = [(position + 28, *rest) for position, *rest in ROWS]
    limited.commit(1, 45, chunks(rows, 4), pace=Few(size))
    assert pairs(limited) == expected(rows, {"a": 5, "b": 2, "c": 0})
    dropped = len(rows) - len(pairs(limited))
    assert dropped_by_account(limited) == {"a": 1 + 5, "b": 2}
    assert dropped == limited.figures().dropped == 8
    assert [(one.account, one.quota) for one in limited.most_dropped(1)] == [("a", 5)], "the most first"
    assert limited.dropped_of("c") == Dropped("c", 0, 0), "it has no quota"
    told = {owner: [one.text for one in limited.notices_of(owner)] for owner in "abc"}
    assert [len(told[owner]) for owner in "abc"] == [2, 1, 0], "once a minute"
    assert "more than 5 times in the minute from 1970-01-01T01:40:00Z" in told["a"][0]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_quota_counts_from_its_position_on(filled: Store, size: int) -> None:
    filled.append([SetQuota(3), *(publish(f"f{number}") for number in range(3)), SetQuota(6), publish("g")])
    before, after = owned(25, "a1", "a2", "a3", "a4"), owned(27, "a5", "a6")
    rows = [*before, *after, *owned(31, "a7", "a8")]
    filled.commit(1, 31, chunks(rows, 3), pace=Few(size))
    assert pairs(filled) == [*(row[:2] for row in before)], "the sixth and seventh count as well, so the eighth is late"


@pytest.mark.parametrize("seed", range(10))
def test_what_tasks_left_out_counts_as_if_it_were_there(store: Store, seed: int) -> None:
    """Whole events of an account are left out once it has reached its quota, whatever the cut."""
    draw = random.Random(seed)
    with_schema(store).append([SetQuota(6), *(publish(f"e{number}") for number in range(20))])
    rows: list[Row] = []
    for position in range(7, 27):
        ids = sorted({f"{draw.choice('ab')}{draw.randint(0, 9)}" for _ in range(draw.randint(0, 6))})
        rows += owned(position, *ids, minute=position // 7)
    seen: dict[tuple[str, int], int] = {}
    cut: list[Row] = []
    for position in range(7, 27):
        mine = [row for row in rows if row[0] == position]
        before = dict(seen)
        for row in mine:
            seen[row[2], row[3]] = seen.get((row[2], row[3]), 0) + 1
        left = [row for row in mine if before.get((row[2], row[3]), 0) >= 6]
        for owner in sorted({row[2] for row in left}):
            count = sum(row[2] == owner for row in left)
            cut.append((position, "", owner, mine[0][3], count))
        cut += [row for row in mine if row not in left]
    assert any(row[4] for row in cut)
    with pytest.raises(KeyboardInterrupt):
        store.commit(1, 26, chunks(cut, 5), pace=Few(draw.randint(1, 4), draw.randint(1, 5)))
    first = store.committed() + 1
    store.commit(first, 26, chunks([row for row in rows if row[0] >= first], 5), pace=Few(draw.randint(1, 4)))
    assert pairs(store) == expected(rows, {"a": 6, "b": 6})
    total = {owner: sum(row[2] == owner for row in rows) for owner in "ab"}
    kept = {owner: sum(id[0] == owner for _, id in pairs(store)) for owner in "ab"}
    dropped = {owner: total[owner] - kept[owner] for owner in "ab"}
    assert dropped_by_account(store) == {owner: count for owner, count in dropped.items() if count}


FAILED = [FailedEvent(6, 2, "a"), *(FailedEvent(position, span, "b") for position in (7, 8, 20, 22) for span in (2, 3))]


@pytest.mark.parametrize("transactions", [*range(1, 8), 100])
def test_failed_expressions_are_counted_once_for_each_event(filled: Store, transactions: int) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        filled.commit(1, 22, chunks(BATCH, 4), pace=Few(2, transactions), failed=FAILED)
    reached = filled.committed()
    before = filled.expression_errors([2, 3, 4])
    assert {span: one.events for span, one in before.items()} == dict(
        Counter(one.span for one in FAILED if one.position <= reached)
    )
    filled.commit(1, 22, chunks(BATCH, 4), failed=FAILED)
    filled.commit(1, 22, chunks(BATCH, 4), failed=FAILED)
    assert filled.expression_errors([2, 3, 4]) == {2: (5, 22, "b"), 3: (4, 22, "b")}
    filled.commit(23, 25, [], failed=[FailedEvent(24, 3, "c" * 500)])
    assert filled.expression_errors([3]) == {3: (5, 24, "c" * 200)}
