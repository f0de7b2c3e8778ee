"""The counters of deliveries by kind of channel agree with what there is, whatever becomes of a delivery."""

from sqlalchemy import text

from tests.notifying.owing import OWNER, find, with_channels
from tests.store.samples import Clock
from tests.store.test_channels import create, done, settle
from tidings.schema import Instant
from tidings.store import Store, StoredChannel

COUNTED = (
    "SELECT c.kind, count(*) FROM deliveries d JOIN channels c ON c.subscription = d.subscription "
    "AND c.owner = d.owner WHERE d.state = 'due' GROUP BY c.kind"
)


def due(store: Store) -> dict[str, int]:
    with store.database.reading() as connection:
        counted: dict[str, int] = dict(connection.execute(text(COUNTED)).all())
    assert {one.kind: one.due for one in store.delivery_figures() if one.due} == counted
    return counted


def test_they_agree(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    with_channels(store, "digest", digest={"count": 2})
    find(store, "s", "t", "digest", many=3)
    assert due(store) == {}
    create(store, clock)
    assert due(store) == {"record": 8}  # three each, and two digests, one of which is open
    sent, retried, dead = (one.number for one in store.deliveries_of("s", OWNER, newest=False))
    again = done(retried, ok=False, problem="no", due=clock.time)
    settle(store, clock, done(sent), again, done(dead, ok=False, problem="given up"))
    assert due(store) == {"record": 6}
    settle(store, clock, done(sent))  # a second time, when it is no longer due
    assert due(store) == {"record": 6}
    assert store.replay("s", OWNER) == 3
    assert due(store) == {"record": 8}
    store.set_channel(StoredChannel("s", OWNER, "email", {"address": "a@example.org"}))
    assert due(store) == {"record": 5, "email": 3}
    store.change_channel("t", OWNER, state="paused")
    clock.tick(40 * 86_400)
    assert store.sweep(Instant(clock.time - 30 * 86_400_000_000)) > 0
    assert due(store) == {"record": 2, "email": 3}
