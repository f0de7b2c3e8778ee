"""Random histories of a network: subscriptions, events, and what goes wrong meanwhile."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from tidings.overlay.simulation.network import Network, Step
from tidings.overlay.simulation.ranges import Range
from tidings.overlay.simulation.topologies import Topology, names
from tidings.overlay.tree import Link
from tidings.overlay.values import Distribution

Fault = Literal["cut", "crash", "partition", "restore", "move", "repetition", "forget"]
FAULTS: tuple[Fault, ...] = ("cut", "crash", "partition", "restore", "move", "repetition", "forget")
END = 120.0  # of what happens; after it everything is healed


@dataclass(frozen=True, slots=True)
class History:
    links: Topology
    steps: tuple[Step, ...]


def history(
    seed: int, faults: tuple[Fault, ...], servers: int = 0, distribution: Distribution = "subscriptions"
) -> History:
    """Three to eight servers, unless their number is given."""
    chosen = random.Random(seed)
    everyone = names(servers or chosen.randint(3, 8))
    links = _links(chosen, everyone)
    steps: list[Step] = []
    if distribution == "advertisements":
        for name in everyone:
            moment = chosen.choice((chosen.uniform(0, 5), chosen.uniform(20, 90)))
            filter = Range(0, 99) if chosen.random() < 0.5 else _filter(chosen)
            steps.append((moment, "advertise", name, f"by {name}", filter))
    steps += _clients(chosen, everyone, faults)
    kinds = [fault for fault in faults if fault not in ("move", "repetition")]
    for _ in range(chosen.randint(1, 4) if kinds else 0):
        steps += _fault(chosen, chosen.choice(kinds), everyone, sorted(links))
    return History(links, tuple(sorted([*steps, (END, "heal_all")], key=lambda step: step[0])))


def play(network: Network, told: History, quiet: float = 80.0) -> None:
    network.plan(told.steps)
    network.run(END + quiet)


def _links(chosen: random.Random, everyone: list[str]) -> Topology:
    links: Topology = {}
    for place in range(1, len(everyone)):
        links[everyone[chosen.randrange(place)], everyone[place]] = chosen.choice((10.0, 20.0, 80.0))
    for _ in range(chosen.randint(0, len(everyone))):
        one, other = sorted(chosen.sample(everyone, 2))
        links.setdefault((one, other), chosen.choice((10.0, 20.0, 80.0)))
    return links


def _filter(chosen: random.Random) -> Range:
    low = chosen.randint(0, 90)
    return Range(low, min(99, low + chosen.choice((3, 10, 30, 60))))


def _clients(chosen: random.Random, everyone: list[str], faults: tuple[Fault, ...]) -> list[Step]:
    steps: list[Step] = []
    for number in range(chosen.randint(2, 8)):
        name, subscription = chosen.choice(everyone), f"subscription {number}"
        moment = chosen.choice((chosen.uniform(8, 12), chosen.uniform(8, 100)))
        steps.append((moment, "subscribe", name, subscription, _filter(chosen)))
        if chosen.random() < 0.3:
            steps.append((chosen.uniform(moment + 5, 115), "unsubscribe", name, subscription))
        elif "move" in faults and chosen.random() < 0.5:
            moment, there = chosen.uniform(moment + 8, 115), chosen.choice(everyone)
            steps.append((moment, "move", name, subscription, there))
            for _ in range(chosen.randrange(3)):  # on from there, perhaps back
                here, moment, there = there, moment + chosen.uniform(0.1, 20), chosen.choice((name, *everyone))
                steps.append((min(moment, 115), "move", here, subscription, there))
    for number in range(chosen.randint(20, 60)):
        moment, content = chosen.uniform(15, END), chosen.randint(0, 99)
        steps.append((moment, "publish", chosen.choice(everyone), f"event {number}", content))
        if "repetition" in faults and chosen.random() < 0.3:
            later = moment + chosen.uniform(0, 9)
            steps.append((min(later, END), "publish", chosen.choice(everyone), f"event {number}", content))
    return steps


def _fault(chosen: random.Random, kind: Fault, everyone: list[str], links: list[Link]) -> list[Step]:
    start = chosen.uniform(20, 105)
    end = start + chosen.choice((chosen.uniform(0.3, 4), chosen.uniform(6, 15), chosen.uniform(15, 60)))
    name = chosen.choice(everyone)
    match kind:
        case "cut":
            link = chosen.choice(links)
            return [(start, "cut", link), (end, "heal", link)]
        case "crash":
            return [(start, "crash_within", name, chosen.randrange(6)), (end, "crash", name), (end, "recover", name)]
        case "restore":
            return [(chosen.uniform(16, start), "back_up", name), (start, "restore", name)]
        case "forget":
            return [(start, "forget", name, chosen.randrange(4))]
        case _:
            side = set(chosen.sample(everyone, chosen.randint(1, len(everyone) - 1)))
            between = [link for link in links if (link[0] in side) != (link[1] in side)]
            return [(start, "cut", *between), (end, "heal", *between)]
