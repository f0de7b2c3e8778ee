"""What the pipeline would store, found by the specification: for tests to which Spark does not matter."""

import pyarrow as pa

from tests.pipeline.oracle import notifications_of
from tests.store.batches import commit_batch
from tidings.store import Store

_TABLE = pa.schema([("position", pa.int64()), ("subscriptions", pa.list_(pa.string()))])


def match_all(store: Store) -> int:
    """Everything that is in the journal and not committed yet; answers how many notifications that makes."""
    done, tail = store.committed(), store.tail()
    pairs = [{"position": at, "subscriptions": [id]} for at, id in notifications_of(store) if done < at <= tail]
    return commit_batch(
        store, done + 1, tail, pa.Table.from_pylist(sorted(pairs, key=lambda one: one["position"]), _TABLE)
    )
