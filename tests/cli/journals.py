"""A small journal for the commands over stored events: one auction an hour, from 2026-05-01 on."""

from pathlib import Path

import pyarrow as pa

from tests.cli.conftest import EXAMPLES
from tests.services.sqlite import copied_store
from tests.store.batches import commit_batch
from tidings.schema import Instant
from tidings.schema.files import read_catalog
from tidings.schema.growth import changes_to_make
from tidings.store import Accepted, Grow, Publish, Store, Subscribe, Withdraw

BEGIN = Instant.parse("2026-05-01T00:00:00Z")
HOUR = 3_600_000_000
_EVENTS = 72
_END = Instant(BEGIN + (_EVENTS - 1) * HOUR)


def auction(n: int) -> dict[str, object]:
    attributes = {"title": f"chair n{n % 3}", "price": n, "category": "chair", "ends": "2026-06-01"}
    return {"id": f"e{n}", "event_type": "auction", "attributes": attributes}


def make_journal(folder: str = "data") -> Store:
    """Two subscriptions, events e0, e1, …, and after half of them the second one is withdrawn."""
    Path(folder).mkdir()
    return Store.open(copied_store(_filled, Path(folder) / "tidings.db"), lambda: _END)


def _filled(path: Path) -> Store:
    clock = [BEGIN]
    store = Store.open(path, lambda: clock[0])
    catalog, _ = read_catalog(str(EXAMPLES / "schema.json"))
    drafts = [Grow(change) for change in changes_to_make(catalog)]
    standing = [Subscribe("cheap", "price < 10"), Subscribe("words", "title contains 'n1'")]
    assert all(isinstance(one, Accepted) for one in store.append([*drafts, *standing]))
    for n in range(_EVENTS):
        clock[0] = Instant(BEGIN + n * HOUR)
        more = [Withdraw("words")] if n == _EVENTS // 2 else []
        assert all(isinstance(one, Accepted) for one in store.append([*more, Publish(auction(n))]))
    return store


def first_event(store: Store) -> int:
    return next(entry.position for entry in store.entries() if entry.kind == "event")


def commit(store: Store, pairs: list[tuple[int, str]]) -> None:
    schema = pa.schema([("position", pa.int64()), ("subscriptions", pa.list_(pa.string()))])
    rows = [{"position": position, "subscriptions": [id]} for position, id in pairs]
    commit_batch(store, 1, store.tail(), pa.Table.from_pylist(rows, schema))
