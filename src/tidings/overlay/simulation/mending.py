"""How long a network needs until all is well again after ten seconds of a fault, while events are published."""

from __future__ import annotations

import random
from typing import Literal

from tidings.overlay.messages import Request, TakeHome
from tidings.overlay.simulation.checks import lost
from tidings.overlay.simulation.network import Network, Weather
from tidings.overlay.simulation.traffic import Setting, publish, settled
from tidings.overlay.tree import first_hops, spanning_tree
from tidings.overlay.values import Distribution, Growth

Fault = Literal["crash", "partition", "loss", "growth"]
_LASTS = 10.0  # seconds
_LOST = 0.2  # of all messages
_HEARD = 5.0  # seconds until all know the home
_LONGEST = 600.0  # simulated seconds to wait for all to be well


def time_to_repair(setting: Setting, distribution: Distribution, fault: Fault) -> float:
    """From the end of the fault until every promised event has arrived and all schemas are equal."""
    network = settled(setting, distribution)
    if fault == "growth":
        network.command(min(network.hosts), TakeHome())
        network.run(network.now + _HEARD)
    busiest = _busiest(network)
    publish(network, setting, network.now, without=busiest if fault == "crash" else "", spread=_LASTS)
    match fault:
        case "crash":
            network.crash(busiest)
        case "partition":
            network.cut(*_heaviest_cut(network))
        case "loss":
            network.weather = Weather(loss=_LOST)
        case "growth":
            _grow(network, setting.seed)
    network.run(network.now + _LASTS)
    network.weather = Weather()
    network.heal_all()
    ended = network.now
    while network.now < ended + _LONGEST:
        network.run(network.now + 1)
        if _same_schema(network) and not lost(network):
            break
    return network.now - ended


def _busiest(network: Network) -> str:
    """The server with most links in the tree."""
    servers = {name: host.server for name, host in network.hosts.items() if host.server is not None}
    return max(servers, key=lambda name: (len(servers[name].neighbours), name))


def _heaviest_cut(network: Network) -> list[tuple[str, str]]:
    """All links between two parts of which the smaller is as large as one cut of the tree makes it."""
    tree = spanning_tree(network.links)
    best: set[str] = set()
    for one, other in sorted(tree):
        behind = {name for name, hop in first_hops(tree, one).items() if hop == other}
        smaller = min(behind, set(network.hosts) - behind, key=len)
        best = max(best, smaller, key=len)
    return [link for link in network.links if (link[0] in best) != (link[1] in best)]


def _grow(network: Network, seed: int) -> None:
    """Each second a server, drawn by chance, asks the home for growth."""
    chosen = random.Random(seed + 3)
    names = list(network.hosts)
    for second in range(int(_LASTS)):
        request = Request(f"growth {second}", Growth(f"growth {second}"))
        network.plan([(network.now + second, "command", chosen.choice(names), request)])


def _same_schema(network: Network) -> bool:
    return len({tuple(host.disk.orders) for host in network.hosts.values()}) == 1
