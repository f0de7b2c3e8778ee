"""How long an event needs over one link between two servers of this machine, and how many cross it in a second.

    python -m tidings.torture.link_speed --events 50000 [--subscriptions 1000]

Both servers are whole processes without a pipeline. The latency is from the answer to the publisher until the event is
in the other server's journal; the rate is that of the other journal, from the first event to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tidings.torture.network import SCHEMA, offer
from tidings.torture.sites import Site, until

_BATCH = 1_000
_LOOK = 0.002  # seconds


async def measure(folder: Path, events: int, looks: int, subscriptions: int = 1) -> dict[str, float]:
    athens, berlin = Site("athens", folder), Site("berlin", folder)
    try:
        await asyncio.gather(athens.start(), berlin.start())
        for path, body in SCHEMA:
            await athens.ask("POST", path, body)
        await berlin.join(athens)

        async def alive() -> bool:
            return [one["state"] for one in (await athens.network())["links"]] == ["alive"]

        await until(alive, "the link is alive")
        for number in reversed(range(subscriptions)):  # none covers another, and one matches
            high = 10 * (number + 1)
            await athens.subscribe(f"price >= {high - 10} and price < {high}", wait=number == 0)
        delays = [await _delay(athens, berlin, number) for number in range(looks)]
        return {
            "median_seconds": round(statistics.median(delays), 4),
            "longest_seconds": round(max(delays), 4),
            "subscriptions": subscriptions,
            "events": events,
            "events_per_second": round(await _rate(athens, berlin, events)),
        }
    finally:
        for site in (athens, berlin):
            await site.stop()


async def _delay(to: Site, at: Site, number: int) -> float:
    await at.publish([offer(f"one {number}", 5)])
    began = time.perf_counter()
    with sqlite3.connect(f"file:{to.folder / 'tidings.db'}?mode=ro", uri=True) as database:
        while _count(database) <= number:
            await asyncio.sleep(_LOOK)
    taken = time.perf_counter() - began
    await asyncio.sleep(0.1)
    return taken


async def _rate(to: Site, at: Site, events: int) -> float:
    """The times of acceptance in the journal say how quick it was, so looking at it does not slow it down."""
    before = to.journal().total()
    for start in range(0, events, _BATCH):
        await at.publish([offer(f"many {start + step}", 5) for step in range(_BATCH)])
    with sqlite3.connect(f"file:{to.folder / 'tidings.db'}?mode=ro", uri=True) as database:
        await until(lambda: _count(database) >= before + events, "all have come", 300)
        query = "SELECT accepted FROM journal WHERE kind = 'event' ORDER BY position"
        accepted = [row[0] for row in database.execute(query)][before:]
    first = sum(time == accepted[0] for time in accepted)  # came together with the first
    return float((len(accepted) - first) / ((accepted[-1] - accepted[0]) / 1e6))


def _count(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT events FROM about").fetchone()[0])


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser("python -m tidings.torture.link_speed", description=__doc__)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--looks", type=int, default=40)
    parser.add_argument("--subscriptions", type=int, default=1, help="with so many filters in the interest")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tidings-network-") as folder:
        found = asyncio.run(measure(Path(folder), given.events, given.looks, given.subscriptions))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
