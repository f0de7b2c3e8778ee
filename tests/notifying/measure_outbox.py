"""How many deliveries a second go through spreading, sending by a channel that does nothing, and settling.

`python -m tests.notifying.measure_outbox [DELIVERIES] [SUBSCRIPTIONS]`
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.notifying.owing import OK, with_channels
from tests.store.batches import commit_batch
from tests.store.samples import publish
from tests.store.test_notifications import table
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.outbox.outbox import Outbox
from tidings.schema import Instant
from tidings.store import Accepted, Store


class Nothing:
    kind = "record"
    sent = 0

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return dict(settings)

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        self.sent += 1
        return OK


async def measured(store: Store, deliveries: int, channel: Nothing) -> float:
    outbox, stopped = Outbox(store, {"record": channel}), asyncio.Event()
    begun = time.perf_counter()
    running = asyncio.create_task(outbox.run(stopped))
    while channel.sent < deliveries or outbox.under_way:
        await asyncio.sleep(0.01)
    took = time.perf_counter() - begun
    stopped.set()
    await running
    return took


def main(deliveries: int, subscriptions: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "tidings.db") as store:
        ids = [f"s{number}" for number in range(subscriptions)]
        with_channels(store, *ids)
        events = -(-deliveries // subscriptions)
        outcomes = store.append([publish(f"e{number}") for number in range(events)])
        at = [outcome.position for outcome in outcomes if isinstance(outcome, Accepted)]
        count = commit_batch(store, 1, store.tail(), table(*((position, ids) for position in at)))
        took = asyncio.run(measured(store, count, Nothing()))
        delivered = sum(one.delivered for one in store.delivery_figures())
        assert delivered == count, (delivered, count)
        print(
            f"{count:,} deliveries of {subscriptions:,} subscriptions: {count / took:,.0f} deliveries/s ({took:.1f} s)"
        )


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]) if len(sys.argv) == 3 else (20_000, 1_000))
