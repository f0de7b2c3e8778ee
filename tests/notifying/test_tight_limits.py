"""Many channels under tight limits, with receivers that hang, fail and go away: all arrives, in order, within them."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.notifying.owing import OWNER, find, with_channels
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.outbox import Outbox
from tidings.schema import Instant
from tidings.store import Store

TIGHT = Limits(
    at_once=8,
    per_destination=3,
    ahead=3,
    run=3,
    longest_run=6,
    lane=4,
    page=50,
    hanging=0.05,
    fresh=0.1,
)
HOSTS, CHANNELS, EVENTS = 12, 60, 12


class Moody:
    """Answers at once, slowly or not at all, fails and says 410 now and then."""

    kind = "record"

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.first: dict[str, list[int]] = defaultdict(list)  # sequence numbers, when they were first sent
        self.now: Counter[str] = Counter()
        self.most = 0

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return dict(settings)

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        (owed,) = delivery.owed
        known = self.first[delivery.subscription]
        if owed.sequence not in known:
            known.append(owed.sequence)
        self.now[settings["url"]] += 1
        self.most = max(self.most, self.now.total())
        assert self.now[settings["url"]] <= TIGHT.per_destination
        mood = self.chance.random()
        seconds = 0.15 if mood < 0.05 else self.chance.random() * 0.005
        try:
            await asyncio.sleep(seconds)
        finally:
            self.now[settings["url"]] -= 1
        if mood < 0.05:
            return Attempt(False, seconds, "", problem="it hung")
        if mood < 0.07:
            return Attempt(False, seconds, "", 410, problem="it answered 410", gone=True)
        return Attempt(mood > 0.2, seconds, "", 200 if mood > 0.2 else 500, problem="" if mood > 0.2 else "no")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_forgotten(tmp_path: Path, seed: int) -> None:
    with Store.open(tmp_path / "tidings.db") as store:  # by the real clock
        check(store, Moody(seed))


def check(store: Store, channel: Moody) -> None:
    ids = [f"s{number}" for number in range(CHANNELS)]
    for host in range(HOSTS):
        with_channels(store, *ids[host::HOSTS], url=f"https://h{host}.example/hook")
    outbox = Outbox(store, {"record": channel}, limits=TIGHT, waits=(0.02,) * 40)

    def resumed() -> int:
        """How many are still due; channels that were disabled are resumed."""
        for id in ids:
            if store.channel(id, OWNER).state == "disabled":  # type: ignore[union-attr]
                store.change_channel(id, OWNER, state="active")
        return sum(one.due for one in store.delivery_figures())

    async def run() -> None:
        stopped = asyncio.Event()
        running = asyncio.create_task(outbox.run(stopped))
        for _ in range(EVENTS // 4):
            await asyncio.to_thread(find, store, *ids, many=4)
            await asyncio.sleep(0.1)
        while await asyncio.to_thread(resumed) or sum(map(len, channel.first.values())) < CHANNELS * EVENTS:
            await asyncio.sleep(0.05)
        stopped.set()
        await running

    asyncio.run(asyncio.wait_for(run(), 100))
    for id in ids:
        assert channel.first[id] == list(range(1, EVENTS + 1))
        assert {one.state for one in store.deliveries_of(id, OWNER)} == {"delivered"}
    assert channel.most <= TIGHT.at_once * 3 // 2
