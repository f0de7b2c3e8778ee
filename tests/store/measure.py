"""How fast the store is here: `python -m tests.store.measure [sqlite|postgresql]`, no test.

PostgreSQL is a server of its own with its usual durability; SQLite's file lies in the folder for passing files.
"""

import os
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from tests.services.postgresql import postgresql
from tests.store.batches import commit_batch
from tests.store.samples import with_schema
from tidings.events import Event
from tidings.schema import Instant
from tidings.store import SCOPES, Appender, KeptResponse, PublishValid, Store, Subscribe, Token, Withdraw
from tidings.store.clock.clock import now

SECONDS = 3.0  # for what is repeated
BULK = 100_000
NONE = pa.array([], pa.int64())
NO_LISTS = pa.array([], pa.list_(pa.string()))


def events(count: int, name: Callable[[int], str]) -> list[PublishValid]:
    return [
        PublishValid(Event(name(number), ("car",), (("brand", ("mini",)), ("price", (number,))), "site"))
        for number in range(count)
    ]


def told(what: str, count: int, started: float) -> None:
    print(f"{what:45} {count / (time.perf_counter() - started):12,.0f}/s", flush=True)


def repeated(what: str, work: Callable[[int], object]) -> None:
    started, count = time.perf_counter(), 0
    while time.perf_counter() < started + SECONDS:
        work(count)
        count += 1
    told(what, count, started)


def measure(store: Store) -> None:
    with_schema(store)
    unique = f"{os.getpid()}-{random.random()}"
    repeated("appends, one event each", lambda n: store.append(events(1, lambda _: f"{unique}-{n}")))
    for threads in (1, 8, 32):
        grouped(store, threads)
    for what, name in (("in order", "e{:09}".format), ("UUIDs", lambda _: str(uuid.uuid4()))):
        drafts = events(BULK, name)
        started = time.perf_counter()
        store.append(drafts)
        told(f"events, {BULK:,} in one append, ids {what}", BULK, started)
    started = time.perf_counter()
    store.append(drafts)
    told("duplicates, as many in one append", BULK, started)
    subscribing(store)
    started = time.perf_counter()
    rows = sum(len(batch) for batch in store.event_rows(0, store.tail()))
    told("event rows read", rows, started)
    started = time.perf_counter()
    told("spans read", sum(1 for _ in store.spans()), started)
    repeated("next_change", lambda n: store.next_change(100))
    repeated("tail", lambda n: store.tail())
    repeated("catalog", lambda n: store.catalog())
    committing(store)
    owned(store)


def grouped(store: Store, threads: int) -> None:
    """Each thread waits for its answer before it submits the next."""
    end = time.perf_counter() + SECONDS

    def publish(thread: int) -> int:
        count = 0
        while time.perf_counter() < end:
            name = f"{threads}-{thread}-{count}"
            appender.submit(events(1, name.format)).result()
            count += 1
        return count

    with Appender(store) as appender, ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        told(f"appends in groups, {threads} threads, one event each", sum(pool.map(publish, range(threads))), started)


def subscribing(store: Store) -> None:
    drafts = [Subscribe(f"s{number}", f"brand = mini and price < {number}") for number in range(BULK // 5)]
    started = time.perf_counter()
    store.append(drafts)
    told(f"subscribe, {len(drafts):,} in one append", len(drafts), started)
    started = time.perf_counter()
    store.append([Withdraw(draft.id) for draft in drafts[::2]])
    told("withdraw, half of them in one append", len(drafts) // 2, started)


def committing(store: Store) -> None:
    chance = random.Random(1)
    for size in (1_000, 20_000):
        ids = [[f"s{chance.randrange(1_000_000)}" for _ in range(20)] for _ in range(size)]
        first = store.committed() + 1
        positions = pa.array(range(first, first + size), pa.int64())
        matches = pa.table({"position": positions, "subscriptions": pa.array(ids, pa.list_(pa.string()))})
        started = time.perf_counter()
        added = commit_batch(store, first, first + size - 1, matches)
        told(f"notifications, {added:,} in one batch", added, started)


def owned(store: Store) -> None:
    """A service's load: 1,000 owners of 100 subscriptions each, a million notifications in batches of 1,000 events."""
    drafts = [Subscribe(f"o{number}", "brand = mini", owner=f"owner {number % 1_000}") for number in range(BULK)]
    store.append(drafts)
    first = store.tail() + 1
    commit_batch(store, store.committed() + 1, store.tail(), pa.table({"position": NONE, "subscriptions": NO_LISTS}))
    store.append(events(50_000, "owned {}".format))
    chance = random.Random(2)
    taken, batches = 0.0, range(first, first + 50_000, 1_000)
    for start in batches:
        ids = [[f"o{number}" for number in chance.sample(range(BULK), 20)] for _ in range(1_000)]
        positions = pa.array(range(start, start + 1_000), pa.int64())
        matches = pa.table({"position": positions, "subscriptions": pa.array(ids, pa.list_(pa.string()))})
        started = time.perf_counter()
        commit_batch(store, start, start + 999, matches)
        last = time.perf_counter() - started
        taken += last
    told("notifications with owners, a million", 20_000 * len(batches), time.perf_counter() - taken)
    told("the last 20,000 of them", 20_000, time.perf_counter() - last)
    repeated("notifications of an owner, 100", lambda n: store.notifications(limit=100, owner=f"owner {n % 1_000}"))
    repeated(
        "notifications of a subscription, 10",
        lambda n: store.notifications(limit=10, subscription=f"o{n % BULK}", owner=f"owner {n % 1_000}"),
    )
    for number in range(1_000):
        store.add_token(Token(number.to_bytes(32), "ann", "token", "", SCOPES, Instant(0), None))
    repeated("token", lambda n: store.token((n % 1_000).to_bytes(32)))
    repeated("answers kept", lambda n: store.keep_response(KeptResponse(n.to_bytes(32), b"", 200, "{}", now())))


@contextmanager
def store_of(kind: str) -> Iterator[Store]:
    if kind == "postgresql":
        with postgresql(durable=True) as server, Store.open(server.database()) as store:
            yield store
    else:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tidings.db") as store:
            yield store


if __name__ == "__main__":
    for kind in sys.argv[1:] or ("sqlite", "postgresql"):
        print(kind)
        with store_of(kind) as opened:
            measure(opened)
