"""What composites found, and what they wait for: stored together, each detection once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.notifying.owing import OWNER, with_channels
from tests.store.samples import START, Clock, dropped_by_account, publish, with_schema
from tests.store.test_channels import create
from tidings.notifying.outbox.delivery_sender import delivery_of
from tidings.store import Gap, SetQuota, Store, Subscribe, Tick
from tidings.store.journal.entries import Constituent
from tidings.store.notifications.composite_batch import Changes, CompositeBatch, Detected, Early, detected_rows
from tidings.store.notifications.waiting import State

COMPOSITE = "[price < 5] before [price > 9] within 1 h"


def found(id: str, *events: str, span: int = 6, time: int = 0, owner: str = OWNER, mark: int = 0) -> Detected:
    constituents = tuple(Constituent(START + number, "", one) for number, one in enumerate(events))
    return Detected(id, owner, span, (), constituents, START + time, mark)


def committed(store: Store, *detected: Detected, frontier: int | None = None, **changed: Any) -> int:
    first, last, closed = store.committed("composites") + 1, store.tail(), changed.pop("closed", ())
    rows = detected_rows(detected, store.known_places(first, last))
    return store.commit_detections(CompositeBatch(first, last, frontier, [Changes(**changed)], closed), [rows])


@pytest.fixture
def posted(store: Store) -> Store:
    """A composite at position 6 and events a, b, c after it."""
    with_schema(store)
    store.append([Subscribe("s", composite=COMPOSITE, owner=OWNER), *(publish(id) for id in "abc")])
    assert store.begin_composites()
    return store


def test_a_detection_is_stored_once(posted: Store) -> None:
    assert committed(posted, found("s", "a", "b"), found("s", "a", "c"), found("s")) == 3
    posted.append([Tick()])
    assert committed(posted, found("s", "a", "b"), found("s", "b", "c"), found("s", "a", "b", time=1)) == 2
    told = posted.notifications(owner=OWNER)
    assert [one.cursor for one in told] == [1, 2, 3, 4, 5]
    assert sorted(one.position for one in told) == [6, 8, 8, 9, 9]  # without events, where the subscription stands
    known = posted.detections(one.detection for one in told)
    assert len(known) == 5
    one = next(found for found in known.values() if len(found.events) == 2)
    assert [event.position for event in one.events] == [7, posted.position_of("", one.events[1].id)]


def test_a_batch_follows_on_the_one_before(posted: Store) -> None:
    committed(posted)
    assert posted.commit_detections(CompositeBatch(6, posted.tail(), None, [Changes(gone=["x"])])) == 0
    with pytest.raises(Gap):
        posted.commit_detections(CompositeBatch(posted.tail() + 2, posted.tail() + 2, None))


def test_states_are_kept_by_key_until_their_span_ends(posted: Store) -> None:
    keys = ['["6"]', '["6","x"]', '["61","x"]', '["6","y"]']
    committed(posted, states=[State(key, 3, due, "{}") for due, key in enumerate(keys)])
    assert sorted(one.key for one in posted.due_states(3, 1)) == sorted(keys[:2])
    assert posted.due_states(2, 9) == []
    posted.append([Tick()])
    committed(posted, states=[State(keys[0], 3, None, "[]")], gone=[keys[3]])
    assert {one.key: (one.due, one.body) for one in posted.states_of(keys)} == {
        keys[0]: (None, "[]"),
        keys[1]: (1, "{}"),
        keys[2]: (2, "{}"),
    }
    posted.append([Tick()])
    committed(posted, closed=[6])
    assert [one.key for one in posted.states_of(keys)] == [keys[2]]


def test_early_matches_wait_for_their_tenth_of_a_second(posted: Store) -> None:
    committed(posted, early=[Early(1, 10, "a"), Early(1, 12, "c"), Early(2, 10, "b")])
    upto = posted.tail()
    assert list(posted.early_bodies(1, 11, upto)) == ["a"]
    assert list(posted.early_bodies(1, 11, upto - 1)) == []
    assert posted.early_size(1, 12, upto) == 2
    posted.append([Tick()])
    committed(posted, frontier=1_150_000, early=[Early(1, 11, "later"), Early(1, 12, "d")])
    upto = posted.tail()
    assert list(posted.early_bodies(1, 12, upto)) == ["later", "c", "d"]
    assert list(posted.early_bodies(2, 12, upto)) == []


def test_detections_have_a_quota_of_their_own(posted: Store) -> None:
    """That of the place where they became known: the first five before it was set, the others where time went on."""
    posted.append([SetQuota(2, OWNER), Tick()])
    later = int(posted.watermark_at(posted.tail()) or 0)
    early = [found("s", "a", time=time, mark=0) for time in range(5)]
    assert committed(posted, *early, *(found("s", "b", time=time, mark=later + 1) for time in range(5))) == 5
    assert dropped_by_account(posted) == {OWNER: 5}


def test_a_detection_is_as_old_as_its_batch(posted: Store) -> None:
    """Its events may be long gone."""
    committed(posted)
    posted.commit(1, posted.tail(), [])
    assert posted.trim(most_bytes=0) == 3
    posted.append([publish("d")])
    assert committed(posted, found("s", "a", "b")) == 1
    assert posted.forget() == 0
    posted.commit(posted.tail(), posted.tail(), [])
    assert posted.trim(most_bytes=0) == 1
    assert posted.forget() == 1
    assert posted.detections(["", "x"]) == {}


def test_a_delivery_has_the_constituents(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    store.append([publish(id) for id in "ab"])
    store.append([Subscribe("other", composite=COMPOSITE)])
    store.begin_composites()
    assert committed(store, found("s", "a", "b"), found("s", span=store.tail(), time=7)) == 2
    sent = [delivery_of(one) for one in store.contents([number for _, number in create(store, clock)])]
    pair, silence = sorted((one.owed[0] for one in sent if one is not None), key=lambda owed: owed.sequence)
    assert pair.event["id"] == "b"
    assert pair.detection is not None
    assert [event["id"] for event in pair.detection["events"]] == ["a", "b"]
    assert silence.detection is not None
    assert (silence.event["event_type"], silence.detection["events"]) == ([], [])
    assert len({pair.id, silence.id} | {one.detection for one in store.notifications()}) == 2
