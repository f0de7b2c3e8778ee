"""Several servers in a network under random blows: servers killed, links cut, while all publish and all subscribe.

    python -m tidings.torture.network --minutes 10

Afterwards everything is healed, and each journal is compared with what the others accepted: nothing lost, nothing
doubled, nothing that nobody asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tidings.torture.sites import Site, Way, until

SCHEMA: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/schema/domains", {"name": "money", "kind": "numeric"}),
    ("/v1/schema/attributes", {"name": "price", "domain": "money"}),
    ("/v1/schema/event-types", {"name": "offer", "attributes": [{"name": "price"}]}),
)
_SETTLE = 300.0  # seconds for everything to come after the last blow
_PAUSE = (0.05, 0.3)  # seconds between two publishes at one server
_CALM = (2.0, 6.0)  # seconds between blows
_DOWN = (0.5, 8.0)  # seconds that a server is down, or a link cut; both may be at once
Links = tuple[tuple[int, int], ...]


def offer(id: str, price: float) -> dict[str, object]:
    return {"id": id, "source": "s", "event_type": "offer", "attributes": {"price": price}}


def ring(count: int) -> Links:
    """A ring with a chord."""
    return (*((place, (place + 1) % count) for place in range(count)), (0, count // 2))


@dataclass
class Found:
    """`owed` are the pairs of an event and a server that must have it. `delays` are seconds from an event's acceptance
    until another server had it, while all was well."""

    accepted: int = 0
    unclear: int = 0  # publishes that were not answered: the event may or may not be there
    owed: int = 0
    kills: int = 0
    cuts: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    phantoms: list[str] = field(default_factory=list)
    schemas: int = 0  # different ones at the end
    settled_after: float = 0.0


class Trial:
    def __init__(self, folder: Path, count: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.sites = [Site(f"site-{place}", folder) for place in range(count)]
        self.ways: list[Way] = []
        self.found = Found()
        self.prices: dict[str, tuple[int, float]] = {}  # by id: who accepted it, and its price
        self.unclear: dict[str, tuple[int, float]] = {}

    async def link(self, links: Links) -> None:
        await asyncio.gather(*(site.start() for site in self.sites))
        for path, body in SCHEMA:
            await self.sites[0].ask("POST", path, body)
        for left, right in links:
            way = Way(self.sites[left])
            await way.start()
            self.ways.append(way)
            await self.sites[right].join(self.sites[left], way.url)
        await until(self._all_reached, "all servers reach each other", _SETTLE)
        for place, site in enumerate(self.sites):
            await site.subscribe(f"price >= {20 * place} and price < {20 * place + 30}")

    async def _all_reached(self) -> bool:
        for site in self.sites:
            with suppress(httpx.HTTPError):
                told = await site.network()
                if sum(one["reached"] for one in told["servers"]) == len(self.sites):
                    continue
            return False
        return True

    def wanted(self, place: int, price: float) -> bool:
        return 20 * place <= price < 20 * place + 30

    async def publish(self, place: int, end: float) -> None:
        number = 0
        while time.monotonic() < end:
            await asyncio.sleep(self.random.uniform(*_PAUSE))
            batch = {f"{place}-{number + step}": float(self.random.randrange(130)) for step in range(5)}
            number += len(batch)
            mine = {id: (place, price) for id, price in batch.items()}
            try:
                await self.sites[place].publish([offer(id, price) for id, price in batch.items()])
                self.prices |= mine
            except httpx.HTTPError:
                self.unclear |= mine

    async def strike(self, end: float) -> None:
        """Servers are killed and started again, and meanwhile links are cut and healed."""
        await asyncio.gather(self._kill(end), self._cut(end))

    async def _kill(self, end: float) -> None:
        while time.monotonic() < end:
            await asyncio.sleep(self.random.uniform(*_CALM))
            victim = self.random.choice(self.sites)
            await asyncio.to_thread(victim.kill)
            self.found.kills += 1
            await asyncio.sleep(self.random.uniform(*_DOWN))
            await victim.start()

    async def _cut(self, end: float) -> None:
        while time.monotonic() < end:
            await asyncio.sleep(self.random.uniform(*_CALM))
            way = self.random.choice(self.ways)
            way.cut()
            self.found.cuts += 1
            await asyncio.sleep(self.random.uniform(*_DOWN))
            way.heal()

    async def grow(self) -> None:
        """At two servers at once, while blows fall; what is refused is repeated."""

        async def one(place: int, name: str) -> None:
            for _ in range(60):
                with suppress(httpx.HTTPError):
                    if name in str(await self.sites[place].ask("GET", "/v1/schema")):
                        return  # perhaps only the answer was lost
                    await self.sites[place].ask("POST", "/v1/schema/attributes", {"name": name, "domain": "money"})
                    return
                await asyncio.sleep(2)

        await asyncio.gather(one(1, "weight"), one(len(self.sites) - 1, "height"))

    def owed(self, place: int) -> set[str]:
        return {id for id, (at, price) in self.prices.items() if at == place or self.wanted(place, price)}

    def is_settled(self) -> bool:
        return all(self.owed(place) <= {id for _, id in site.journal()} for place, site in enumerate(self.sites))

    async def check(self) -> None:
        found = self.found
        found.accepted, found.unclear = len(self.prices), len(self.unclear)
        with suppress(TimeoutError):
            found.settled_after = await until(self.is_settled, "everything has come", _SETTLE)
        known = self.prices | self.unclear
        schemas = set()
        for place, site in enumerate(self.sites):
            journal = site.journal()
            owed = self.owed(place)
            found.owed += sum(self.prices[id][0] != place for id in owed)
            found.lost += [f"{id} at {site.name}" for id in sorted(owed - {id for _, id in journal})]
            found.doubled += [f"{id} at {site.name}" for (_, id), times in journal.items() if times > 1]
            strange = [id for _, id in journal if id not in known or not self._may_have(place, *known[id])]
            found.phantoms += [f"{id} at {site.name}" for id in strange]
        await until(self._is_grown, "the schemas are equal", 120)
        for site in self.sites:
            schemas.add(json.dumps(await site.ask("GET", "/v1/schema"), sort_keys=True))
        found.schemas = len(schemas)

    def _may_have(self, place: int, at: int, price: float) -> bool:
        return at == place or self.wanted(place, price)

    async def _is_grown(self) -> bool:
        texts = [str(await site.ask("GET", "/v1/schema")) for site in self.sites]
        return all("weight" in text and "height" in text for text in texts)

    async def stop(self) -> None:
        for way in self.ways:
            await way.stop()
        await asyncio.gather(*(site.stop() for site in self.sites), return_exceptions=True)
        for site in self.sites:
            site.kill()


async def run(folder: Path, minutes: float, seed: int, links: Links) -> Found:
    trial = Trial(folder, 1 + max(place for link in links for place in link), seed)
    try:
        await trial.link(links)
        end = time.monotonic() + minutes * 60
        publishing = (trial.publish(place, end) for place in range(len(trial.sites)))
        await asyncio.gather(trial.strike(end), trial.grow(), *publishing)
        await trial.check()
        return trial.found
    finally:
        await trial.stop()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m tidings.torture.network", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--servers", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="for the data folders, which are kept")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tidings-network-") as passing:
        folder = given.folder or Path(passing)
        found = asyncio.run(run(folder, given.minutes, given.seed, ring(given.servers)))
    sys.stdout.write(json.dumps(vars(found), indent=2) + "\n")
    return 1 if found.lost or found.doubled or found.phantoms or found.schemas != 1 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
