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
from tests.store.samples import with_schema
from tidings.events import Event
from tidings.store import Appender, PublishValid, Store, Subscribe, Withdraw

SECONDS = 3.0  # for what is repeated
BULK = 100_000


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
        added = store.commit_batch(first, first + size - 1, matches)
        told(f"notifications, {added:,} in one batch", added, started)


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
