"""A store in which something is owed, a channel that records what it is given, and turns of an outbox till it rests."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.store.batches import commit_batch
from tests.store.samples import Clock, publish, with_schema
from tests.store.test_notifications import table
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.outbox import Outbox
from tidings.schema import Instant
from tidings.store import Accepted, Store, StoredChannel, StoredDelivery, Subscribe

OWNER = "ann"
DAY = 86_400
OK = Attempt(True, 0.01, "POST somewhere", 200)
FAILED = Attempt(False, 0.01, "POST somewhere", 500, "oh no", "it answered 500")
GONE = Attempt(False, 0.01, "POST somewhere", 410, "", "it answered 410", gone=True)


@dataclass
class Recorder:
    """A channel that answers as `answer` says, and remembers what it was given, when, and with which settings."""

    kind: str = "record"
    answer: Callable[[OutgoingDelivery], Attempt] = lambda delivery: OK
    sent: list[OutgoingDelivery] = field(default_factory=list)
    times: list[Instant] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    hanging: dict[str, asyncio.Event] = field(default_factory=dict)  # by subscription: answered when it is set
    under_way: int = 0
    most_under_way: int = 0

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return dict(settings)

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        self.sent.append(delivery)
        self.times.append(now)
        self.settings.append(dict(settings))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            if delivery.subscription in self.hanging:
                await self.hanging[delivery.subscription].wait()
            return self.answer(delivery)
        finally:
            self.under_way -= 1

    def sequences(self, subscription: str = "s") -> list[int]:
        return [
            owed.sequence for delivery in self.sent if delivery.subscription == subscription for owed in delivery.owed
        ]


def with_channels(store: Store, *ids: str, owner: str = OWNER, **settings: Any) -> Store:
    """Subscriptions, each with a channel of its own destination."""
    if store.tail() == 0:
        with_schema(store)
    for id in ids:
        store.set_channel(StoredChannel(id, owner, "record", {"address": id, **settings}))
    outcomes = store.append([Subscribe(id, "price < 100", owner, delivery="record") for id in ids])
    assert all(isinstance(outcome, Accepted) for outcome in outcomes), outcomes
    return store


def find(store: Store, *ids: str, many: int = 1) -> list[int]:
    """So many new events, each of which all these subscriptions match; their positions."""
    first = store.tail() + 1
    outcomes = store.append([publish(f"e{first + number}") for number in range(many)])
    positions = [outcome.position for outcome in outcomes if isinstance(outcome, Accepted)]
    assert len(positions) == many
    commit_batch(store, store.committed() + 1, store.tail(), table(*((at, list(ids)) for at in positions)))
    return positions


def outbox_of(
    store: Store, channel: Recorder, clock: Clock, limits: Limits | None = None, holder: str = "one"
) -> Outbox:
    return Outbox(store, {channel.kind: channel}, clock, lambda: 0.5, limits, holder)


async def settled(outbox: Outbox, hanging: int = 0) -> None:
    """Turns until nothing is left to do now but what hangs."""
    calm = 0
    while calm < 2:
        busy = await outbox.turn()
        for _ in range(5):
            await asyncio.sleep(0)
        calm = 0 if busy or outbox.under_way > hanging else calm + 1


def play(outbox: Outbox, *steps: Coroutine[Any, Any, Any]) -> None:
    """These, one after the other, and then the end of the outbox."""

    async def all_of_them() -> None:
        try:
            for step in steps:
                await step
        finally:
            await outbox.close()

    asyncio.run(all_of_them())


def send_all(store: Store, channel: Recorder, clock: Clock, limits: Limits | None = None) -> None:
    """Everything that is due now."""
    outbox = outbox_of(store, channel, clock, limits)
    play(outbox, settled(outbox))


def deliveries(store: Store, subscription: str = "s", owner: str = OWNER) -> list[StoredDelivery]:
    return store.deliveries_of(subscription, owner, newest=False)


def states(store: Store, subscription: str = "s") -> list[tuple[str, int]]:
    return [(one.state, one.attempts) for one in deliveries(store, subscription)]
