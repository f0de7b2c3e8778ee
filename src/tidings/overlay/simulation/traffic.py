"""How much a network carries: messages for an event, filters held, delay."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean, quantiles

from tidings.overlay.simulation.checks import lost
from tidings.overlay.simulation.network import Network
from tidings.overlay.simulation.ranges import Range, Ranges
from tidings.overlay.simulation.topologies import TOPOLOGIES, Topology
from tidings.overlay.simulation.warm import warm_network
from tidings.overlay.values import Distribution, Filter, Limits

_VALUES = 100_000  # contents are 0 to one less
_BAND = _VALUES // 5  # of these, what one publisher publishes
_EVENT_EVERY = 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    topology: str = "random"
    servers: int = 100
    subscriptions: int = 1000  # spread evenly
    events: int = 200  # by a tenth of the servers
    selectivity: float = 0.01  # the mean share of events that match one subscription
    seed: int = 1
    covering: bool = True  # False: every interest holds every filter


@dataclass(frozen=True, slots=True)
class Traffic:
    distribution: str
    messages_per_event: float
    posts: int  # interests sent until all held what they should
    filters_per_server: float
    most_filters: int
    median_delay: float | None  # seconds; None: nothing crossed a link
    slowest_delay: float | None  # all but one in a hundred are quicker
    missed: int  # promised events that did not arrive
    repair: dict[str, float] = field(default_factory=dict)  # seconds, by what went wrong
    filters_uncovered: float | None = None  # for each server, if no filter covered another


class Uncovered(Ranges):
    """As if no filter covered another."""

    def reduce(self, filters: Iterable[Filter]) -> tuple[Range, ...]:
        return tuple(sorted({one for one in filters if isinstance(one, Range)}))


def topology_of(setting: Setting) -> Topology:
    return TOPOLOGIES[setting.topology](setting.servers, setting.seed)


def flooding(setting: Setting) -> Traffic:
    """Every server sends each event over all its links but the one that it came by."""
    links = len(topology_of(setting))
    return Traffic("flooding", 2 * links - (setting.servers - 1), 0, 0.0, 0, None, None, 0)


def traffic(setting: Setting, distribution: Distribution) -> Traffic:
    network = settled(setting, distribution)
    posts = network.counts["Posted"]
    held = [
        sum(len(interest.filters) for interest in host.server.held.values())
        for host in network.hosts.values()
        if host.server is not None
    ]
    publish(network, setting, network.now)
    carried = network.counts["events"]
    network.run(network.now + setting.events * _EVENT_EVERY + 10)
    delays = sorted(_delays(network))
    cuts = quantiles(delays, n=100, method="inclusive") if len(delays) > 1 else []
    return Traffic(
        distribution,
        (network.counts["events"] - carried) / setting.events,
        posts,
        fmean(held),
        max(held),
        cuts[49] if cuts else None,
        cuts[98] if cuts else None,
        len(lost(network)),
    )


def settled(setting: Setting, distribution: Distribution) -> Network:
    """A network in which all subscribed, and every interest is where it should be."""
    chosen = random.Random(setting.seed)
    filters = Ranges(_VALUES - 1) if setting.covering else Uncovered(_VALUES - 1)
    limits = Limits() if setting.covering else Limits(filters=10**9)
    network = warm_network(topology_of(setting), filters, distribution, setting.seed, limits=limits)
    names = list(network.hosts)
    for name, band in _publishers(network, setting).items():
        network.advertise(name, "band", band)
    for number in range(setting.subscriptions):
        network.subscribe(names[number % len(names)], f"subscription {number}", _wanted(chosen, setting.selectivity))
    posts = -1
    while posts != network.counts["Posted"]:
        posts = network.counts["Posted"]
        network.run(network.now + 2.5)
    return network


def _wanted(chosen: random.Random, selectivity: float) -> Range:
    """Widths differ: of ranges that are all as wide, none covers another."""
    share = min(selectivity * chosen.uniform(0, 2), 1.0) if selectivity < 1 else 1.0
    width = max(round(_VALUES * share), 1)
    low = chosen.randrange(_VALUES - width + 1)
    return Range(low, low + width - 1)


def _publishers(network: Network, setting: Setting) -> dict[str, Range]:
    """A tenth of the servers, each with a band of the values."""
    chosen = random.Random(setting.seed + 1)
    names = chosen.sample(list(network.hosts), max(setting.servers // 10, 1))
    lows = [chosen.randrange(_VALUES - _BAND + 1) for _ in names]
    return {name: Range(low, low + _BAND - 1) for name, low in zip(names, lows, strict=True)}


def publish(network: Network, setting: Setting, start: float, without: str = "", spread: float | None = None) -> None:
    chosen = random.Random(setting.seed + 2)
    bands = _publishers(network, setting)
    step = _EVENT_EVERY if spread is None else spread / setting.events
    for number in range(setting.events):
        name = chosen.choice(list(bands))
        if name != without:
            content = chosen.randint(*bands[name])
            network.plan([(start + number * step, "publish", name, f"event {number}", content)])


def _delays(network: Network) -> Iterable[float]:
    for moment, event in network.accepted.values():
        for name, arrival in network.delivered[event.key].items():
            if name != event.origin:
                yield arrival - moment
