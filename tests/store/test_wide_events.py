"""Events that match very many subscriptions are kept apart from the indices (`packs`), and nobody notices: every list
is what a look at all notifications gives."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import select

from tests.store.batches import chunks_of, commit_batch
from tests.store.samples import Clock, publish, with_schema
from tests.store.test_notifications import table
from tidings.schema import Instant
from tidings.store import Notification, Store, Subscribe, Withdraw
from tidings.store.notifications import commits, packing
from tidings.store.pages import recent
from tidings.store.tables import notifications, packed, packs, unpacked

OWNERS = {"a": "ann", "b": "ann", "c": "ann", "d": "bob", "e": "bob", "n": ""}
FIRST = 13  # position of the first event


class Steps(commits.Pace):
    """So many rows in each transaction, however long it takes."""

    def note(self, rows: int, seconds: float) -> None:
        pass


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three matches are very many, and a pack is made of four events."""
    monkeypatch.setattr(packing, "MANY", 3)
    monkeypatch.setattr(packing, "MOST_EVENTS", 4)
    monkeypatch.setattr(packing, "IN_A_ROW", 2)
    monkeypatch.setattr(packing, "_AT_ONCE", 3)


def filled(store: Store, events: int) -> Store:
    """Events from `FIRST` on; b was bob's before it was ann's."""
    with_schema(store).append([Subscribe("b", "price < 3", "bob"), Withdraw("b")])
    store.append([Subscribe(id, "price < 3", owner) for id, owner in OWNERS.items() if id != "n"])
    store.append([publish(f"e{number}") for number in range(events)])
    assert store.tail() == FIRST + events - 1
    return store


def commit(
    store: Store, first: int, last: int, matches: dict[int, list[str]], rows: int = 20_000, pace: Any = None
) -> None:
    some = table(*((at, ids) for at, ids in matches.items() if first <= at <= last))
    store.commit(first, last, chunks_of(store, some, last), pace=pace or Steps(rows=rows))


def everything(store: Store) -> list[tuple[str, Notification]]:
    return store.owned_notifications(0, 10**6)[1]


def check(store: Store) -> None:
    found = everything(store)
    ends = [0, found[len(found) // 3][1].cursor if found else 1, store.last_cursor() + 1]
    for owner in ("ann", "bob"):
        for id in (None, "b"):
            mine = [one for who, one in found if who == owner and id in (None, one.subscription)]
            newest = store.newest_notification(id, owner) if id else None
            assert newest == (mine[-1] if mine and id else None)
            for limit in (2, 1_000):
                _check_pages(store, owner, id, mine, ends, limit)
    _check_sparks(store, found)


def _check_pages(
    store: Store, owner: str, id: str | None, mine: list[Notification], ends: list[int], limit: int
) -> None:
    for end in ends:
        assert store.notifications(end, limit, id, owner) == [one for one in mine if one.cursor > end][:limit]
        below = [one for one in mine[::-1] if one.cursor < end]
        assert [one.notification for one in recent.matches(store, owner, id, end, limit)] == below[:limit]
    above = [one for one in mine[::-1] if one.cursor > ends[1]]
    assert [one.notification for one in recent.matches(store, owner, id, None, limit, ends[1])] == above[:limit]


def _check_sparks(store: Store, found: list[tuple[str, Notification]]) -> None:
    ids = [id for id, owner in OWNERS.items() if owner == "ann"]
    now = max((one.stored for _, one in found), default=store.now())
    for id, counts in recent.sparks(store, "ann", ids, Instant(now + 1)).items():
        assert sum(counts) == sum(who == "ann" and one.subscription == id for who, one in found)


def random_matches(chance: random.Random, events: int) -> dict[int, list[str]]:
    return {FIRST + n: sorted(chance.sample([*OWNERS], chance.choice([0, 1, 2, 3, 4, 6]))) for n in range(events)}


@pytest.mark.parametrize("seed", range(2))
def test_every_list_is_what_a_look_at_all_gives(store: Store, seed: int) -> None:
    chance, events = random.Random(seed), 30
    matches, first, waiting = random_matches(chance, events), 1, False
    filled(store, events)
    pace = Steps()  # of a process that goes on; without it, each commit is a new one's
    while first <= store.tail():
        last = min(store.tail(), first + chance.randrange(5, 15))
        pace.rows = chance.choice([2, 3, 7, 100])
        commit(store, first, last, matches, pace.rows, pace if chance.random() < 0.7 else None)
        first = last + 1
        with store.database.reading() as connection:
            waiting |= connection.execute(select(unpacked)).first() is not None
        if chance.random() < 0.2:
            check(store)
    check(store)
    assert waiting
    assert [(one.position, one.subscription) for _, one in everything(store)] == [
        (at, id) for at, ids in sorted(matches.items()) for id in ids if id != "n"
    ]
    with store.database.reading() as connection:
        assert len(connection.execute(select(packs)).all()) >= 2
    while (left := everything(store)) and seed % 2:
        middle = left[len(left) // 2][1].position
        store.trim(most_bytes=0, needed_from=middle + 1)
        while store.forget(25):
            check(store)
    with store.database.reading() as connection:
        if seed % 2:
            store.forget(100)
            assert not any(connection.execute(select(one)).first() for one in (packs, packed, unpacked))


def test_an_event_that_is_cut_is_wide_in_all_its_parts(store: Store) -> None:
    filled(store, 3)
    matches = {FIRST: ["a", "b"], FIRST + 1: ["a", "b", "c", "d"], FIRST + 2: ["a"]}
    commit(store, 1, store.tail(), matches, rows=3)
    with store.database.reading() as connection:
        rows = connection.execute(select(notifications.c.position, notifications.c.wide)).all()
    assert {(at - FIRST, wide) for at, wide in rows} == {(0, 0), (1, 1), (2, 0)}
    check(store)


def test_what_nobody_owns_is_never_wide(store: Store) -> None:
    with_schema(store).append([publish("e")])
    commit_batch(store, 1, store.tail(), table((store.tail(), ["a", "b", "c", "d"])))
    with store.database.reading() as connection:
        assert {*connection.execute(select(notifications.c.wide)).scalars()} == {0}
        assert connection.execute(select(unpacked)).first() is None


class Killed(Exception):
    pass


@pytest.fixture
def killed_after(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """So many pieces of packs are written; then the process ends."""
    left = [10**6]
    insert = type(store.database.dialect).insert

    def watched(self: object, connection: Any, into: Any, rows: Any) -> None:
        if into is packed:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
        insert(self, connection, into, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(type(store.database.dialect), "insert", watched)
    return left


@pytest.mark.parametrize("pieces", [0, 1, 3])
def test_a_pack_that_was_not_finished_is_made_again(store: Store, killed_after: list[int], pieces: int) -> None:
    matches = random_matches(random.Random(5), 40)
    filled(store, 40)
    killed_after[0] = pieces
    with suppress(Killed):
        commit(store, 1, FIRST + 19, matches, rows=20)
    with store.database.reading() as connection:
        assert connection.execute(select(packs)).first() is None
    check(store)
    killed_after[0] = 10**6
    commit(store, 1, FIRST + 39, matches, rows=20)
    check(store)
    with store.database.reading() as connection:
        assert connection.execute(select(packs)).first() is not None
    assert len(everything(store)) == sum(id != "n" for ids in matches.values() for id in ids)


def test_a_pack_whose_first_event_is_removed_meanwhile_is_given_up(store: Store, clock: Clock) -> None:
    matches = {FIRST + n: ["a", "b", "c", "d"] for n in range(3)}
    filled(store, 3)
    commit(store, 1, store.tail(), matches)
    with store.database.reading() as connection:
        events = connection.execute(select(unpacked).order_by(unpacked.c.first)).all()
    store.trim(most_bytes=0, needed_from=FIRST + 1)
    while store.forget(2):
        pass
    store.forget(2)
    packing.pack(store.database, list(events), packing.Fresh())
    check(store)
    with store.database.reading() as connection:
        assert connection.execute(select(packs)).first() is None
        assert connection.execute(select(packed)).first() is not None
    store.forget(100)
    with store.database.reading() as connection:
        assert connection.execute(select(packed)).first() is None
