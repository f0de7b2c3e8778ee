"""What a running service asks of its store all the time: each operation once, on a large store."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pyarrow as pa

from tests.store.batches import commit_batch
from tests.store.large_store import Size, owner, subscription
from tests.store.samples import publish
from tests.store.test_notifications import table
from tidings.notifying.outbox.delivery_sender import rhythm_of_text
from tidings.notifying.outbox.schedule import gives_up
from tidings.schema import Instant
from tidings.store import AttemptResult, Edit, Pause, Resume, Store, StoredChannel, Subscribe, Withdraw, figures
from tidings.store.exchange import journal_file
from tidings.store.journal import journal
from tidings.store.journal.entries import Constituent
from tidings.store.notifications import packing
from tidings.store.notifications.commits import CHUNK
from tidings.store.notifications.composite_batch import Changes, CompositeBatch, Detected, Early, detected_rows
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.pages import notices, oversight, owned, recent
from tidings.store.pages.event_ends import EventEnds

Operation = Callable[[Store, Size], object]
_HOLDER = "one"
_FEW = 50


def _publish(store: Store, size: Size) -> None:
    store.append([publish("new"), publish("newer")])
    store.append([publish("new")])


def _change(store: Store, size: Size) -> None:
    store.append([Subscribe("mine", "price < 3", owner(1)), Pause("mine"), Resume("mine"), Edit("mine", "price < 4")])
    store.append([Withdraw("mine"), Withdraw(subscription(3))])


def _follow(store: Store, size: Size) -> None:
    """As the planner does, from some changes ago."""
    after = size.first_subscription + size.subscriptions - _FEW
    store.tail()
    store.next_change(after)
    list(store.changes(after, store.tail()))
    list(store.spans_opened(after, store.tail()))


def _spread(store: Store, size: Size) -> None:
    now = store.now()
    store.take_lease(_HOLDER, 1_000.0)
    store.has_deliveries_to_create(now)
    store.create_deliveries(_HOLDER, now, _FEW, rhythm_of_text)


def _send(store: Store, size: Size) -> None:
    store.take_lease(_HOLDER, 1_000.0)
    now = Instant(store.now() + 10**9)
    due = store.due(now, _FEW)
    assert due
    store.due_of(due[0].subscription, due[0].owner, True, now, _FEW)
    assert store.contents([one.number for one in due])
    results = [AttemptResult(one.number, one.attempts, now, 0.1, True, "POST") for one in due]
    store.record_results(_HOLDER, results, now, gives_up)


def _disable(store: Store, size: Size) -> None:
    """A receiver that is gone: its channel is disabled, and its owner is told."""
    store.take_lease(_HOLDER, 1_000.0)
    now = Instant(store.now() + 10**9)
    (one,) = store.due(now, 1)
    gone = AttemptResult(one.number, one.attempts, now, 0.1, False, "POST", 410, problem="gone", gone=True)
    store.record_results(_HOLDER, [gone], now, gives_up)
    store.due_notices(now, 10)


def _replay(store: Store, size: Size) -> None:
    store.deliveries_of(subscription(0), owner(0), state="dead")
    assert store.replay(subscription(0), owner(0), [1]) == 1


def _commit(store: Store, size: Size) -> None:
    store.append([publish("matched")])
    matches = table((store.tail(), [subscription(number) for number in range(_FEW)]))
    commit_batch(store, store.committed() + 1, store.tail(), matches)


def _count(store: Store, size: Size) -> None:
    """As the pipeline does where accounts have quotas: a task, then the sink."""
    store.append([publish("counted")])
    ids = [subscription(number) for number in range(_FEW)]
    owners = [owner(number) for number in range(_FEW)]
    store.quotas(owners)
    columns = [[store.tail()] * _FEW, ids, owners, [1] * _FEW, [0] * _FEW]
    rows = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=CHUNK)
    store.commit(store.committed() + 1, store.tail(), [rows])
    store.dropped_of(owner(1))


def _look_whether_ready(store: Store, size: Size) -> None:
    store.figures()
    store.delivery_figures()
    store.seconds_without_outbox()
    store.clock.look()


def _export(store: Store, size: Size) -> None:
    """The beginning of each list, which is read to its end: in its own order, without sorting it first."""
    with store.database.reading() as connection:
        for query, bound in ((journal_file.ENTRIES, 0), (journal_file.REMOVED, size.tail)):
            assert next(store.database.dialect.stream(connection, query, (bound,), _FEW))


def _detect(store: Store, size: Size) -> None:
    """As the composites' query does for a batch."""
    store.append([Subscribe("pattern", composite="[price < 5] before [price > 9] within 1 h"), publish("one")])
    store.begin_composites()
    first, last = store.committed(COMPOSITES) + 1, store.tail()
    for spans in (store.living_composites, store.opened_composites, store.closed_composites):
        spans(first - 1, last)
    waiting = store.due_states(4, _FEW * 16)
    store.states_of([one.key for one in waiting])
    list(store.early_bodies(3, _FEW, last))
    store.early_size(3, _FEW, last)
    store.watermark_at(last)
    store.waits_for_time(0)
    found = Detected("pattern", "", first, (), (Constituent(0, "", "one"),), 0)
    rows = detected_rows([found], store.known_places(first, last))
    changes = Changes(waiting[:10], [], [one.key for one in waiting[10:]], [Early(3, 0, "[]")])
    store.commit_detections(CompositeBatch(first, last, _FEW, [changes], closed=[first], late=[(last, 1)]), [rows])


def _wait(store: Store, size: Size) -> None:
    """What a composite waits for, as its owner sees it."""
    store.composite_states(10_000_000, _FEW)
    store.late_events(limit=_FEW)


def _look_at_a_subscription(store: Store, size: Size) -> None:
    mine = subscription(7), owner(7)
    store.subscription(*mine)
    store.channel(*mine)
    store.deliveries_of(*mine, limit=_FEW)
    store.newest_notification(*mine)
    recent.matches(store, owner(7), subscription(7), None, _FEW)
    recent.sparks(store, owner(7), [subscription(7)], store.now())
    recent.filter_at(store, *mine, size.tail)
    recent.deliveries_made(store, *mine, Instant(0), store.now())


def _look_at_a_delivery(store: Store, size: Size) -> None:
    store.delivery(1, owner(0))
    store.attempts_of(1)


def _list_subscriptions(store: Store, size: Size) -> None:
    store.subscriptions(owner(1), limit=_FEW)
    store.count_subscriptions(owner(1))
    owned.youngest(store, owner(1), None, _FEW)
    owned.by_name(store, owner(1), "", _FEW)
    owned.signed(store, owner(1), "", _FEW)
    store.channels_of(owner(1), [subscription(1)])


def _list_matches(store: Store, size: Size) -> None:
    recent.matches(store, owner(1), None, None, _FEW)
    recent.found_events(store, owner(1), 5)
    recent.matched_at(store, owner(1), size.tail, _FEW)
    store.notifications(size.notifications - _FEW, _FEW, owner=owner(1))


def _list_wide_matches(store: Store, size: Size) -> None:
    """Events that match many subscriptions: packs of them, and some that are not packed yet."""
    events = 2 * packing.MOST_EVENTS + packing.MOST_EVENTS // 2
    ids = [subscription(number) for number in range(packing.MANY)]
    store.append([publish(f"wide{number}") for number in range(events)])
    last = store.tail()
    for first in range(last - events + 1, last + 1, 8):
        matches = table(*((position, ids) for position in range(first, min(first + 8, last + 1))))
        commit_batch(store, store.committed() + 1, min(first + 7, last), matches)
    for id in (subscription(1), None):
        recent.matches(store, owner(1), id, None, _FEW)
        recent.matches(store, owner(1), id, store.last_cursor() - packing.MANY * packing.MOST_EVENTS, _FEW)
        store.notifications(size.notifications, _FEW, id, owner(1))
        store.notifications(store.last_cursor() - 2 * packing.MANY, _FEW, id, owner(1))
    recent.sparks(store, owner(1), [subscription(1)], store.now())
    store.forget(_FEW)


def _list_notices(store: Store, size: Size) -> None:
    notices.unread(store, owner(1))
    notices.stopped(store, owner(1), _FEW)
    notices.newest(store, owner(1), None, _FEW)
    store.notices_of(owner(1), limit=_FEW)


def _operate(store: Store, size: Size) -> None:
    oversight.waiting(store, [one.subscription for one in store.troubled(_FEW)])
    oversight.newest_letters(store, _FEW)
    store.most_dropped(_FEW)
    EventEnds(store).newest(_FEW)
    EventEnds(store).oldest()


def _look_at_the_schema(store: Store, size: Size) -> None:
    with store.database.reading() as connection:
        journal.growth_before(connection, None, _FEW)


def _find_events(store: Store, size: Size) -> None:
    store.position_at(store.now())
    store.position_of("", "e10000000")
    store.events_at(range(size.tail - _FEW, size.tail))
    next(store.event_rows(size.tail - _FEW, size.tail))


def _remove(store: Store, size: Size) -> None:
    """Twice: also where nothing may go any more."""
    late = store.now()
    for _ in range(2):
        store.trim(late, limit=_FEW)
        store.owed_from()
        store.forget(_FEW)
        store.forget_spans(_FEW)
        store.forget_keys(late, _FEW)
        store.forget_letters(late, _FEW)


def _sweep(store: Store, size: Size) -> None:
    store.sweep(Instant(store.now() - 10**12), _FEW)


def _authenticate(store: Store, size: Size) -> None:
    store.token(bytes(32))
    store.account(owner(1))
    store.kept_response(bytes(32))


HOT: dict[str, Operation] = {
    "every request": _authenticate,
    "publish": _publish,
    "subscribe, pause, edit, withdraw": _change,
    "the planner looks for changes": _follow,
    "the planner reads spans": lambda store, size: list(islice(store.spans(store.committed()), _FEW)),
    "the pipeline commits a batch": _commit,
    "matches count for quotas": _count,
    "composites: a batch": _detect,
    "what a composite waits for": _wait,
    "the outbox makes deliveries": _spread,
    "the outbox sends": _send,
    "a channel is disabled": _disable,
    "a delivery is replayed": _replay,
    "a channel is set": lambda store, size: store.set_channel(StoredChannel("s1", owner(1), "webhook", {})),
    "retention removes what is old": _remove,
    "the outbox removes old deliveries": _sweep,
    "/readyz and /metrics": _look_whether_ready,
    "the pulse": lambda store, size: figures.growth(store.database),
    "live stream": lambda store, size: store.owned_notifications(size.notifications - _FEW, _FEW),
    "page of a subscription": _look_at_a_subscription,
    "page of a delivery": _look_at_a_delivery,
    "page of subscriptions": _list_subscriptions,
    "page of matches": _list_matches,
    "page of matches, wide events": _list_wide_matches,
    "page of notices": _list_notices,
    "operator's page": _operate,
    "page of the schema": _look_at_the_schema,
    "find events": _find_events,
    "an export begins": _export,
}
