"""A modelled network: it carries messages between machines, late, lost or doubled as told, and stores their changes.

A simulated server has a disk. It crashes between two transactions, starts again from the disk, or from a backup.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidings.overlay.durable import Accepted, Arrived, Change, Durable, Journaled, Marked, Subscribed, apply
from tidings.overlay.filters import Filters
from tidings.overlay.machine import receive, start
from tidings.overlay.messages import (
    Advertise,
    Command,
    Events,
    Forget,
    From,
    Join,
    Message,
    Move,
    Publish,
    Subscribe,
    Tick,
    Told,
    Unsubscribe,
)
from tidings.overlay.server import Outcome, Server
from tidings.overlay.tree import Link
from tidings.overlay.values import Event, Filter, Key, Limits, Stamp, Timing

_EPOCH = 1_000_000.0
Step = tuple[Any, ...]  # the time, the name of a method of `Network`, its arguments


@dataclass(frozen=True, slots=True)
class Weather:
    """How messages fare."""

    loss: float = 0.0  # share
    doubled: float = 0.0  # share; the second comes up to `late` seconds after, out of order
    late: float = 8.0
    jitter: float = 0.2  # share of the delay
    overtaken: float = 0.0  # share; these come up to `late` seconds later, after what was sent after them


@dataclass(slots=True)
class Host:
    """A simulated server, up or down, and what is on its disk."""

    name: str
    disk: Durable = field(default_factory=Durable)
    notes: dict[str, set[Key]] = field(default_factory=dict)  # events notified, by subscription
    server: Server | None = None
    backup: tuple[Durable, dict[str, set[Key]]] | None = None
    writes_left: int | None = None  # until it crashes
    told: list[Told] = field(default_factory=list)
    skew: float = 0.0  # of its clock, in seconds


class Network:
    def __init__(
        self,
        links: Mapping[Link, float],
        filters: Filters,
        seed: int = 0,
        weather: Weather | None = None,
        timing: Timing | None = None,
        limits: Limits | None = None,
        skew: float = 0.0,
    ) -> None:
        self.links, self.filters = dict(links), filters
        self.weather, self.timing, self.limits = weather or Weather(), timing or Timing(), limits or Limits()
        self.random = random.Random(seed)
        self.now = 0.0
        self.counts: Counter[str] = Counter()
        self.accepted: dict[tuple[str, Stamp], tuple[float, Event]] = {}
        self.subscribed: dict[str, tuple[str, Filter, float]] = {}  # where, what, since when
        self.lived: dict[str, set[str]] = {}  # the servers that a subscription has moved away from
        self.first_marked: dict[tuple[str, str], float] = {}
        self.delivered: dict[Key, dict[str, float]] = {}  # when an event came to which server's journal
        self.cut_links: set[Link] = set()
        self._waiting: list[tuple[float, int, Any]] = []
        self._last: dict[Link, float] = {}
        self._serial = 0
        self.hosts = {name: Host(name) for name in sorted({name for link in links for name in link})}
        for host in self.hosts.values():
            host.skew = self.random.uniform(-skew, skew)
            self.recover(host.name)
            self._at(self.random.random() * self.timing.heartbeat, (self._tick, host.name))

    # -- time

    def _at(self, moment: float, what: Any) -> None:
        self._serial += 1
        heapq.heappush(self._waiting, (moment, self._serial, what))

    def plan(self, steps: Iterable[Step]) -> None:
        for moment, method, *arguments in steps:
            self._at(moment, (getattr(self, method), *arguments))

    def run(self, until: float) -> None:
        while self._waiting and self._waiting[0][0] <= until:
            self.now, _, (method, *arguments) = heapq.heappop(self._waiting)
            method(*arguments)
        self.now = until

    def _tick(self, name: str) -> None:
        self.command(name, Tick())
        self._at(self.now + self.timing.heartbeat, (self._tick, name))

    def _clock(self, host: Host) -> float:
        """Far from zero: an incarnation is a time, and a clock that began below zero would not order them."""
        return _EPOCH + self.now + host.skew

    # -- messages

    def command(self, name: str, command: Command) -> None:
        """A server that is down hears nothing."""
        host = self.hosts[name]
        if host.server is not None:
            self._carry_out(host, receive(host.server, command, self._clock(host))[1])

    def _carry_out(self, host: Host, outcome: Outcome) -> None:
        for change in outcome.changes:
            if host.writes_left is not None:
                if host.writes_left == 0:
                    self.crash(host.name)
                    return
                host.writes_left -= 1
            self._store(host, change)
        for neighbour, message in outcome.sends:
            self.send(host.name, neighbour, message)
        host.told += outcome.told

    def send(self, sender: str, receiver: str, message: Message) -> None:
        weather = self.weather
        self.counts[type(message).__name__] += 1
        if isinstance(message, Events):
            self.counts["events"] += len(message.events)
        way = _link(sender, receiver)
        if way in self.cut_links or (weather.loss and self.random.random() < weather.loss):
            return
        delay = self.links[way] / 1000 * (1 + weather.jitter * self.random.random())
        arrival = max(self.now + delay, self._last.get((sender, receiver), 0.0))
        if weather.overtaken and self.random.random() < weather.overtaken:
            arrival += self.random.uniform(0, weather.late)
        else:
            self._last[sender, receiver] = arrival
        self._at(arrival, (self._deliver, sender, receiver, message))
        if weather.doubled and self.random.random() < weather.doubled:
            self._at(arrival + self.random.uniform(0, weather.late), (self._deliver, sender, receiver, message))

    def _deliver(self, sender: str, receiver: str, message: Message) -> None:
        host = self.hosts[receiver]
        if host.server is not None and _link(sender, receiver) not in self.cut_links:
            self._carry_out(host, receive(host.server, From(sender, message), self._clock(host))[1])

    # -- the disk

    def _store(self, host: Host, change: Change) -> None:
        apply(host.disk, change)
        match change:
            case Accepted(event):
                assert (event.origin, event.stamp) not in self.accepted, "one name for two events"
                self.accepted[event.origin, event.stamp] = self.now, event
                self._note(host, event)
            case Journaled(events):
                for event in events:
                    self._note(host, event)
            case Marked(marks):
                for origin, _ in marks:
                    self.first_marked.setdefault((host.name, origin), self.now)
            case Subscribed(subscription, filter):
                self.subscribed[subscription] = host.name, filter, self.now
            case Arrived(subscription, filter, _, cargo, missed):
                notes = host.notes.setdefault(subscription, set())
                notes.update(cargo if isinstance(cargo, frozenset) else ())
                notes.update(event.key for event in missed)
                if subscription in self.subscribed:  # else a restore lost it while it was on its way
                    before, _, since = self.subscribed[subscription]
                    self.lived.setdefault(subscription, set()).add(before)
                    self.subscribed[subscription] = host.name, filter, since
            case _:
                pass

    def _note(self, host: Host, event: Event) -> None:
        self.delivered.setdefault(event.key, {}).setdefault(host.name, self.now)
        for subscription, filter in host.disk.subscriptions.items():
            if self.filters.matches(filter, event.content):
                host.notes.setdefault(subscription, set()).add(event.key)

    # -- what happens to servers and links

    def crash(self, name: str) -> None:
        host = self.hosts[name]
        host.server = host.writes_left = None

    def crash_within(self, name: str, writes: int) -> None:
        """Crashes after so many further transactions, in the middle of what it then does."""
        self.hosts[name].writes_left = writes

    def recover(self, name: str, restored: bool = False) -> None:
        host = self.hosts[name]
        host.writes_left = None
        if host.server is not None:
            return
        settings = {"timing": self.timing, "limits": self.limits}
        copy = host.disk.copy()
        identity = f"identity of {name}"
        host.server, outcome = start(
            name,
            identity,
            copy,
            self.filters,
            self._clock(host),
            restored=restored,
            **settings,  # type: ignore[arg-type]
        )
        self._carry_out(host, outcome)
        for link, delay in self.links.items():
            if name in link:
                self.command(name, Join(link[link[0] == name], delay))

    def cut(self, *links: Link) -> None:
        self.cut_links.update(links)

    def heal(self, *links: Link) -> None:
        self.cut_links.difference_update(links)

    def heal_all(self) -> None:
        self.cut_links.clear()
        for name in self.hosts:
            self.recover(name)

    def back_up(self, name: str) -> None:
        host = self.hosts[name]
        host.backup = host.disk.copy(), {one: set(keys) for one, keys in host.notes.items()}

    def restore(self, name: str) -> None:
        """Starts from the backup. Subscriptions that it does not have are lost."""
        host = self.hosts[name]
        if host.backup is not None:
            self.crash(name)
            host.disk, host.notes = host.backup[0].copy(), {one: set(keys) for one, keys in host.backup[1].items()}
            for subscription in [one for one, (where, _, _) in self.subscribed.items() if where == name]:
                if subscription not in host.disk.subscriptions:
                    del self.subscribed[subscription]
            self.recover(name, restored=True)

    # -- clients

    def subscribe(self, name: str, subscription: str, filter: Filter) -> None:
        self.command(name, Subscribe(subscription, filter))

    def unsubscribe(self, name: str, subscription: str) -> None:
        if self.hosts[name].server is not None and self.subscribed.get(subscription, ("",))[0] == name:
            del self.subscribed[subscription]
            self.command(name, Unsubscribe(subscription))

    def advertise(self, name: str, advertisement: str, filter: Filter) -> None:
        self.command(name, Advertise(advertisement, filter))

    def publish(self, name: str, id: str, content: object) -> None:
        self.command(name, Publish("source", id, content))

    def forget(self, name: str, kept: int) -> None:
        """The server keeps only so many of its own events."""
        self.command(name, Forget(max(self.hosts[name].disk.journal.position - kept, 0)))

    def move(self, name: str, subscription: str, to: str) -> None:
        cargo = frozenset(self.hosts[name].notes.get(subscription, ()))
        self.command(name, Move(subscription, to, cargo))


def _link(one: str, other: str) -> Link:
    return (one, other) if one < other else (other, one)
