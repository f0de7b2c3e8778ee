"""Networks for tests: quick timing, and what must hold when all is quiet."""

from collections import Counter

from tidings.overlay.durable import Arrived, Change, Journaled, Marked, Ordered
from tidings.overlay.filters import Filters
from tidings.overlay.messages import Events, Message, Request, TakeHome
from tidings.overlay.server import Server
from tidings.overlay.simulation.checks import doubled, lost, unsettled
from tidings.overlay.simulation.faults import Fault, history, play
from tidings.overlay.simulation.network import Host, Network, Step, Weather
from tidings.overlay.simulation.ranges import Ranges
from tidings.overlay.simulation.topologies import Topology
from tidings.overlay.values import Distribute, Distribution, Stamp, Timing

QUICK = Timing(ask_again=5.0, revival=2.0, longest_revival=8.0)


class Recording(Network):
    """Remembers how often each event went over each link."""

    def __init__(self, links: Topology, filters: Filters, seed: int = 0, **options: object) -> None:
        self.carried: Counter[tuple[str, str, str, Stamp]] = Counter()
        super().__init__(links, filters, seed, **options)  # type: ignore[arg-type]

    def send(self, sender: str, receiver: str, message: Message) -> None:
        if isinstance(message, Events):
            self.carried.update((sender, receiver, event.origin, event.stamp) for event in message.events)
        super().send(sender, receiver, message)


class Logged(Recording):
    """Looks at the log of orders after every transaction that changes it."""

    def _store(self, host: Host, change: Change) -> None:
        super()._store(host, change)
        if isinstance(change, Ordered):
            assert_prefixes(self)


class Watching(Logged):
    """Looks at marks, too."""

    def _store(self, host: Host, change: Change) -> None:
        super()._store(host, change)
        if isinstance(change, Marked | Arrived) or (isinstance(change, Journaled) and change.mark is not None):
            _assert_marks(self)


def network(links: Topology, steps: list[Step], until: float, timing: Timing = QUICK, seed: int = 1) -> Recording:
    made = Recording(links, Ranges(), seed, timing=timing)
    made.plan(steps)
    made.run(until)
    return made


def server(of: Network, name: str) -> Server:
    found = of.hosts[name].server
    assert found is not None
    return found


def journaled(of: Network, name: str) -> list[str]:
    return [event.id for event in of.hosts[name].disk.journal.entries]


def choose(of: Network, distribution: Distribution) -> None:
    """The first server becomes the home and orders the distribution."""
    home = min(of.hosts)
    of.command(home, TakeHome())
    of.command(home, Request("distribution", Distribute(distribution)))


def assert_kept(of: Network) -> None:
    assert unsettled(of) == []
    assert lost(of) == []
    assert doubled(of) == []


def trial(
    seed: int,
    faults: tuple[Fault, ...] = (),
    distribution: Distribution = "subscriptions",
    weather: Weather | None = None,
    skew: float = 0.0,
    kind: type[Recording] = Recording,
) -> Recording:
    """A random history, played to its end and a quiet time after it; marks are looked at on the way."""
    told = history(seed, faults, distribution=distribution)
    made = kind(told.links, Ranges(), seed, weather=weather, timing=QUICK, skew=skew)
    if distribution != "subscriptions":
        choose(made, distribution)
    for moment in range(20, 200, 20):
        made._at(float(moment), (_assert_marks, made))
    play(made, told)
    return made


def assert_prefixes(of: Network) -> None:
    """All that servers know of the schema begins what the home has ordered."""
    logs = [host.disk.orders for host in of.hosts.values()]
    longest = max(logs, key=len)
    assert all(log == longest[: len(log)] for log in logs)


def _assert_marks(of: Network) -> None:
    assert lost(of, by_marks=True) == []
