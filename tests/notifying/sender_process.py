"""`python -m tests.notifying.sender_process URL FILE BEGIN`: a real outbox in a process of its own, to be killed.

Its channel appends a line to the file for everything it is given, in one write before it answers, and fails now and
then. It prints a line when it holds the lease. Since BEGIN (microseconds) its clock runs a thousand times too fast:
neither retries nor the lease of one that was killed take long.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.outbox import Outbox
from tidings.schema import Instant
from tidings.store import Store

SPEED = 1_000


def fast_clock(begin: int) -> Callable[[], Instant]:
    return lambda: Instant(begin + (time.time_ns() // 1_000 - begin) * SPEED)


class FileChannel:
    kind = "record"

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return dict(settings)

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        ok = random.random() > 0.02
        lines = [
            f"{delivery.subscription}\t{owed.sequence}\t{owed.id}\t{delivery.id}\t{int(ok)}\n" for owed in delivery.owed
        ]
        os.write(self._file, "".join(lines).encode())
        await asyncio.sleep(random.random() * 0.01)
        return Attempt(ok, 0.01, "file", problem="" if ok else "it was told to")


async def main(url: str, path: str, begin: str) -> None:
    clock = fast_clock(int(begin))
    with Store.open(url, clock) as store:
        limits = Limits(lease=1.5 * SPEED, renew=0.2 * SPEED)
        outbox = Outbox(store, {"record": FileChannel(path)}, clock, limits=limits)
        running = asyncio.create_task(outbox.run(asyncio.Event()))
        while not outbox.is_leading:
            await asyncio.sleep(0.01)
        print("leading", flush=True)
        await running


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
