"""Networks for tests: quick timing, and what must hold when all is quiet."""

from collections import Counter

import networkx

from tidings.overlay.durable import Arrived, Change, Journaled, Marked, Ordered
from tidings.overlay.filters import Filters
from tidings.overlay.messages import Events, Message, Request, TakeHome
from tidings.overlay.server import Server
from tidings.overlay.simulation.checks import doubled, lost, unsettled
from tidings.overlay.simulation.faults import Fault, history, play
from tidings.overlay.simulation.network import Host, Network, Step, Weather
from tidings.overlay.simulation.ranges import Range, Ranges
from tidings.overlay.simulation.topologies import Topology
from tidings.overlay.values import Distribute, Distribution, Stamp, Timing

QUICK = Timing(ask_again=5.0, revival=2.0, longest_revival=8.0)


class Recording(Network):
    """Remembers how often each event went over each link, either way."""

    def __init__(self, links: Topology, filters: Filters, seed: int = 0, **options: object) -> None:
        self.carried: Counter[tuple[frozenset[str], str, Stamp]] = Counter()
        super().__init__(links, filters, seed, **options)  # type: ignore[arg-type]

    def send(self, sender: str, receiver: str, message: Message) -> None:
        if isinstance(message, Events):
            self.carried.update((frozenset((sender, receiver)), event.origin, event.stamp) for event in message.events)
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
    if isinstance(of.filters, Ranges):
        _assert_interests(of)


def _assert_interests(of: Network) -> None:
    """As an observer computes them: what is subscribed and advertised behind a link, less what another covers."""
    distribution = server(of, min(of.hosts)).distribution
    tree = networkx.Graph(server(of, min(of.hosts)).tree)
    for link in list(tree.edges):
        rest = tree.copy()
        rest.remove_edge(*link)
        for sender, receiver in (link, link[::-1]):
            behind, beyond = (networkx.node_connected_component(rest, end) for end in (sender, receiver))
            wanted = {filter for name in behind for filter in of.hosts[name].disk.subscriptions.values()}
            advertised, elsewhere = (
                {filter for name in some for filter in of.hosts[name].disk.advertisements.values()}
                for some in (behind, beyond)
            )
            if distribution == "events":
                wanted = {of.filters.everything}
            elif distribution == "advertisements":
                wanted = {one for one in wanted if any(of.filters.overlaps(one, other) for other in elsewhere)}
            held = server(of, receiver).held[sender]
            assert (held.filters, held.advertisements) == (_widest(wanted), _widest(advertised))


def _widest(ranges: set[Range]) -> tuple[Range, ...]:
    return tuple(
        sorted(
            one
            for one in ranges
            if not any(one != other and other.low <= one.low and one.high <= other.high for other in ranges)
        )
    )


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
