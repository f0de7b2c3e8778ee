"""The thesis's client (5.5, 8.2): one who makes up what he publishes and subscribes to, and knows what must come of it.

It posts over a `Wire`, HTTP or XML; what was accepted, and at which position of the journal, it remembers. Then the
naive matcher says which notifications there must be.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from tidings.client.client import Client
from tidings.client.xml_connection import XmlConnection, event_request, filter_request, subscription_request
from tidings.errors import ClientError, Explained
from tidings.events import Event, validate
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.schema import Catalog
from tidings.workloads.under_schema import MadeSubscription, UnderSchema

_SOURCE = "simulate"
_WAIT = 5.0  # seconds of one look for the last notification


class NotMatchedYet(Explained, ClientError):
    """The seconds waited for the pipeline."""

    seconds: float
    template = (
        "not everything was matched within {seconds:g} s; see `curl SERVER/readyz`, or wait longer with --patience"
    )


class Wire(Protocol):
    """A way to the server. Both answer with the place in the journal."""

    def subscribe(self, made: MadeSubscription) -> tuple[str, int]: ...

    def publish(self, event: dict[str, Any]) -> int: ...


class HttpWire:
    def __init__(self, client: Client) -> None:
        self._client = client

    def subscribe(self, made: MadeSubscription) -> tuple[str, int]:
        answer = self._client.subscribe(made.filter)
        return answer.id, answer.since

    def publish(self, event: dict[str, Any]) -> int:
        return self._client.publish(event).position


class XmlWire:
    """With the thesis's elements, and as text only where these cannot say it."""

    def __init__(self, connection: XmlConnection, username: str, token: str) -> None:
        self._connection = connection
        self._username = username
        self._token = token

    def subscribe(self, made: MadeSubscription) -> tuple[str, int]:
        tests = [(one.attribute, one.operator, str(one.value)) for one in made.predicates]
        if any(operator == "exists" for _, operator, _ in tests):
            request = filter_request(made.filter, self._username, self._token)
        else:
            request = subscription_request(made.event_type, tests, self._username, self._token)
        answer = self._connection.ask(request)
        return answer.get("id", ""), int(answer.get("position", 0))

    def publish(self, event: dict[str, Any]) -> int:
        return int(self._connection.ask(event_request(event, self._token)).get("position", 0))


@dataclass(frozen=True, slots=True)
class Checked:
    """Pairs of an event and a subscription: notified of rightly, not at all, and wrongly (or twice)."""

    matched: int
    missing: tuple[tuple[int, str], ...]
    phantom: tuple[tuple[int, str], ...]

    @property
    def agrees(self) -> bool:
        return not self.missing and not self.phantom


class Simulation:
    """One run of one user. `client` reads the user's notifications, whatever way the rest goes."""

    def __init__(self, client: Client, wire: Wire, catalog: Catalog, seed: int) -> None:
        self._client = client
        self._wire = wire
        self._catalog = catalog
        self._made = UnderSchema(catalog, seed)
        self._run = uuid4().hex[:12]
        self.events: dict[int, Event] = {}
        self.subscriptions: dict[str, tuple[int, Filter]] = {}

    def post(self, number: int, ratio: float) -> None:
        """The request of this number: a new subscription, or (ratio times as often) an event."""
        if self._made.is_subscription(number, ratio):
            made = self._made.subscription(number)
            id, since = self._wire.subscribe(made)
            self.subscriptions[id] = (since, Filter.parse(made.filter, self._catalog))
        else:
            self._publish(number, f"{self._run}-{number}")

    def _publish(self, number: int, id: str) -> int:
        raw = {"id": id, "source": _SOURCE, **self._made.event(number)}
        position = self._wire.publish(raw)
        self.events[position] = validate(raw, self._catalog)
        return position

    def wait(self, seconds: float) -> None:
        """Returns when all that was posted is matched; raises NotMatchedYet.

        Notifications appear in the order of the journal, so after the last one all have arrived.
        """
        id = f"{self._run}-end"
        last = self._client.subscribe(f"event.id = '{id}' and event.source = '{_SOURCE}'")
        try:
            self._publish(0, id)
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                if self._client.notifications(wait=min(left, _WAIT), subscription=last.id).items:
                    return
            raise NotMatchedYet(seconds)
        finally:
            self._client.unsubscribe(last.id)

    def check(self, tell: Callable[[int], None]) -> Checked:
        """What the user was told against what the naive matcher says; `tell` how many events were compared."""
        told = Counter(self._told())
        due = set()
        for number, (position, event) in enumerate(sorted(self.events.items()), 1):
            bindings = event.bindings()
            for id, (since, filter) in self.subscriptions.items():
                if since <= position and matches(filter.tree, bindings, self._catalog):
                    due.add((position, id))
            tell(number)
        phantom = [pair for pair, count in told.items() for _ in range(count - (pair in due))]
        return Checked(len(due & told.keys()), tuple(sorted(due - told.keys())), tuple(sorted(phantom)))

    def _told(self) -> list[tuple[int, str]]:
        """The pairs that the user was notified of; whose event is another than the one published counts as none."""
        pairs: list[tuple[int, str]] = []
        positions = {event.id: position for position, event in self.events.items()}
        after = None
        while (page := self._client.notifications(after, limit=1000)).items:
            for one in page.items:
                if one.subscription not in self.subscriptions:
                    continue
                event = one.event or {}
                known = event.get("source") == _SOURCE and event.get("id") in positions
                pairs.append((positions[event["id"]] if known else 0, one.subscription))
            after = page.next
        return pairs

    def withdraw(self) -> None:
        """Leaves nothing standing."""
        for id in self.subscriptions:
            self._client.unsubscribe(id)
