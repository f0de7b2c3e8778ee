"""`Client`: a server, from a program that waits for its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from tidings.client import delivery_requests, event_requests, flows, network_requests, requests
from tidings.client.answers import (
    Delivery,
    Notification,
    Page,
    Published,
    PublishedMany,
    StoredEvent,
    StoredSubscription,
    StoredToken,
    Tried,
)
from tidings.client.flows import Tell, silent
from tidings.client.growing import Use, attribute, domain, event_type, extension, headline, node, value
from tidings.client.lines import EventLike, raw_event
from tidings.client.sending import Sender
from tidings.errors import ClientError
from tidings.schema import Catalog
from tidings.schema.growth import Change


class Client(Sender):
    """Speaks to a server over HTTP; use it from any thread, and close it or use `with`.

        with tidings.Client("http://127.0.0.1:8080") as client:
            client.register("ann", "correct horse")
            client.subscribe("price < 1300 and brand = 'mini'")
            client.publish({"event_type": "car", "attributes": {"price": 900, "brand": "mini"}})
            for notification in client.follow():
                print(notification.event)

    Whatever can be sent twice without harm is sent again, within `patience`, when the connection breaks or the
    server is busy. Every method raises ServerUnreachable or ServerRefused (NotAllowed, NotFound, TooMany).
    """

    # Accounts

    def register(self, username: str, password: str) -> str:
        """Makes an account; its token is used from now on, and answered."""
        self.token = self._call(requests.register(username, password))
        return self.token

    def log_in(
        self,
        username: str,
        password: str,
        *,
        name: str | None = None,
        scopes: Iterable[str] | None = None,
        expires: str | None = None,
    ) -> str:
        """A new token for an account, used from now on: with all of its scopes and no expiry, unless said otherwise."""
        self.token = self._call(requests.log_in(username, password, name, scopes, expires))
        return self.token

    def log_out(self) -> None:
        """The token in use is valid no more."""
        self._call(requests.log_out())
        self.token = None

    def account(self) -> dict[str, Any]:
        """`{"username", "scopes", "created"}` of whose token is in use."""
        return self._call(requests.account())

    def delete_account(self, password: str) -> dict[str, Any]:
        """Deletes your account with its subscriptions, channels and tokens; this cannot be undone. Published events
        stay. Returns `{"username", "subscriptions", "deliveries"}`: how many were withdrawn or dropped."""
        deleted = self._call(requests.delete_account(password))
        self.token = None
        return deleted

    def tokens(self) -> list[StoredToken]:
        """Yours, oldest first, without their secrets."""
        return self._run(flows.listed(requests.tokens, self.patience))

    def delete_token(self, id: str) -> None:
        """Revokes one of your tokens: `client.delete_token(client.tokens()[0].id)`"""
        self._call(requests.delete_token(id))

    # The schema

    def schema(self) -> Catalog:
        """The newest; `client.schema().event_type_names`"""
        return self._call(requests.schema())

    def grow(self, change: Change) -> int:
        """Makes one change to the schema; answers the new version."""
        return self._call(requests.grow(change))

    def create_domain(
        self,
        name: str,
        kind: str,
        *,
        operators: Iterable[str] | None = None,
        values: Iterable[str] = (),
        ordered: bool = False,
        tree: Mapping[str, Any] | None = None,
    ) -> int:
        """`create_domain("brand", "enumerated", values=["opel", "mini"])`"""
        return self.grow(domain(name, kind, operators, values, ordered, tree))

    def create_attribute(self, name: str, domain: str) -> int:
        """`create_attribute("price", "money")`"""
        return self.grow(attribute(name, domain))

    def create_event_type(self, name: str, attributes: Iterable[Use] = (), *, headline: str = "") -> int:
        """`create_event_type("car", ["price", {"name": "paint", "mandatory": False, "unique": False}])`"""
        return self.grow(event_type(name, attributes, headline))

    def extend_event_type(self, name: str, attribute: str, *, unique: bool = True) -> int:
        """One optional attribute more: `extend_event_type("car", "colour")`"""
        return self.grow(extension(name, attribute, unique))

    def set_headline(self, event_type: str, attribute: str) -> int:
        """The attribute that is shown as the title of events of a type: `set_headline("car", "title")`"""
        return self.grow(headline(event_type, attribute))

    def append_value(self, domain: str, new: str) -> int:
        """`append_value("brand", "audi")`"""
        return self.grow(value(domain, new))

    def append_node(self, domain: str, new: str, parent: str | None = None) -> int:
        """`append_node("category", "sofa", "furniture")`; without a parent it is a new root."""
        return self.grow(node(domain, new, parent))

    # Events

    @overload
    def publish(self, event: EventLike) -> Published: ...
    @overload
    def publish(self, event: Sequence[EventLike]) -> PublishedMany: ...

    def publish(self, event: EventLike | Sequence[EventLike]) -> Published | PublishedMany:
        """One event, or a list of them. Events without an id get one, so sending again makes no second event.

        `client.publish({"event_type": "car", "attributes": {"price": 900, "brand": "mini"}}).position`. One that is
        refused raises ServerRefused with its broken rules as `errors`; of a list, `results` has what became of
        each: accepted with its id and position, duplicate, or refused with its errors.
        """
        if isinstance(event, Sequence):
            return self._run(flows.publish_many(event, silent, self.patience, len(event)))
        return self._call(event_requests.publish(raw_event(event)))

    def publish_many(self, events: Iterable[EventLike | bytes | str], tell: Tell = silent) -> PublishedMany:
        """Any number of events, as JSON Lines in chunks: mappings, `Event`s, or lines of JSON.

        `client.publish_many(open("events.jsonl"))`. `tell` is called with what is done so far. When it raises,
        what was told is accepted, and all of it may be sent again if the events have ids of their own. `results` has
        the first 10,000.
        """
        return self._run(flows.publish_many(events, tell, self.patience))

    def event(self, position: int) -> StoredEvent:
        """The stored event at a position of the journal."""
        return self._call(event_requests.event(position))

    def query(
        self,
        filter: str | None = None,
        *,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredEvent]:
        """The stored events that match, in the order of the journal, page by page as they are asked for.

        `for found in client.query("price < 1300", since="7d"): print(found.position, found.event)`
        """
        return self._each(flows.query(filter, since, until, limit, self.patience))

    def start_query(self, filter: str | None = None, *, since: str | None = None, until: str | None = None) -> str:
        """Has the server answer a large query as a job of its own; answers the job's id."""
        return self._call(event_requests.start_query(filter, since, until))

    def queries(self) -> list[dict[str, Any]]:
        """Your jobs of the last day, by age."""
        return self._run(flows.listed(event_requests.queries, self.patience))

    def query_state(self, id: str) -> dict[str, Any]:
        """`{"state": "waiting" | "running" | "done" | "failed", "matched": …}`"""
        return self._call(event_requests.query_state(id))

    def query_events(self, id: str, *, limit: int | None = None) -> Iterator[StoredEvent]:
        """Waits for a job's end and gives what it found; raises QueryFailed."""
        return self._each(flows.job_events(id, limit, self.patience))

    def drop_query(self, id: str) -> None:
        """Stops a job, or throws its results away."""
        self._call(event_requests.drop_query(id))

    # Subscriptions

    def subscribe(
        self,
        filter: str | None = None,
        *,
        composite: str | None = None,
        expiry: str | None = None,
        channel: Mapping[str, Any] | None = None,
        name: str | None = None,
        note: str | None = None,
        settled: bool = False,
    ) -> StoredSubscription:
        """`client.subscribe("price < 1300", expiry="2026-12-31T00:00:00Z").id`; `warnings` say what looks odd. Instead
        of a filter, a composite: `client.subscribe(composite="[price > 9] before [price < 5] within 1 h")`.

        A channel is `{"kind": "webhook", "url": …}`, `{"kind": "email", "address": …}` or
        `{"kind": "apprise", "url": …}`, each with `digest`, `rate` and `quiet` if you like; without one, what matches
        is stored to be read. `name` and `note` are for you; names need not be unique.
        With `settled`, in a network of servers, it returns once all servers in reach know of it, or after 30 seconds.
        """
        return self._call(requests.subscribe(filter, composite, expiry, channel, name, note, settled))

    def subscriptions(self, state: str | None = None) -> Iterator[StoredSubscription]:
        """All of yours, or only those that are `active` or `paused`."""
        return self._each(flows.pages(lambda after: requests.subscriptions(after, state), self.patience))

    def subscription(self, id: str) -> StoredSubscription:
        return self._call(requests.subscription(id))

    def edit(self, id: str, **members: Any) -> StoredSubscription:
        """`client.edit(id, filter="price < 1000")`; also `composite`, `expiry`, `name`, `note` (None takes them away),
        `channel`, `state`."""
        return self._call(requests.edit(id, **members))

    def pause(self, id: str) -> StoredSubscription:
        """It counts no more until it is resumed."""
        return self.edit(id, state="paused")

    def resume(self, id: str) -> StoredSubscription:
        return self.edit(id, state="active")

    def export_subscriptions(self) -> list[dict[str, Any]]:
        """All of yours, each as a line of a file: `{"id": …, "filter": …, "name": …}`."""
        return self._call(requests.export_subscriptions())

    def import_subscriptions(self, lines: Iterable[Mapping[str, Any]], *, check: bool = False) -> dict[str, Any]:
        """At most 10,000 such lines. Returns counts (`accepted`, `duplicates`, `refused`) and a result for each line.
        With `check` nothing is stored."""
        return self._call(requests.import_subscriptions(lines, check))

    def unsubscribe(self, id: str) -> int:
        """Answers the journal position from which on it counts no more."""
        return self._call(requests.unsubscribe(id))

    def test(self, filter: str, *, since: str | None = None, limit: int | None = None) -> dict[str, Any]:
        """What a filter means before it is left standing: warnings, and what it would have matched."""
        return self._call(requests.test(filter, since, limit))

    def test_composite(self, composite: str, *, since: str | None = None, limit: int | None = None) -> dict[str, Any]:
        """What a composite means before you subscribe: warnings, and what it would have detected."""
        return self._call(requests.test_composite(composite, since, limit))

    def waiting(self, id: str) -> dict[str, Any]:
        """What a composite of yours waits for: its partial matches, and when the oldest expires."""
        return self._call(requests.waiting(id))

    def explain(
        self,
        filter: str,
        event: EventLike | None = None,
        *,
        position: int | None = None,
        id: str | None = None,
        source: str | None = None,
    ) -> dict[str, Any]:
        """Why an event matches a filter, or why not: one sent along, or a stored one by its position or by its id."""
        raw = None if event is None else raw_event(event)
        return self._call(requests.explain(filter, raw, position, id, source))

    # Notifications

    def notifications(
        self,
        after: str | None = None,
        *,
        limit: int | None = None,
        wait: float | None = None,
        subscription: str | None = None,
    ) -> Page[Notification]:
        """One page: `items`, and `next` to go on from. `wait`: seconds to wait for the first one (at most 30)."""
        return self._call(requests.notifications(after, limit, wait, subscription))

    def stream(self, after: str = "now", *, subscription: str | None = None) -> Iterator[Notification]:
        """Every notification as it comes, from now on or after a cursor, forever. It survives restarts of the server.

        Keep a notification's `resume` to go on from there in another process.
        """
        return self._each(flows.stream(after, subscription, self.patience))

    def follow(self, after: str | None = None, *, subscription: str | None = None) -> Iterator[Notification]:
        """Every notification from the first on, or after a cursor, and then as they come: `stream` with a past."""
        return self._each(flows.stream(after, subscription, self.patience))

    # Channels and deliveries

    def channel(self, id: str) -> dict[str, Any]:
        """The channel of a subscription and its status: `state`, `problem`, `failing_since`."""
        return self._call(delivery_requests.channel(id))

    def network(self) -> dict[str, Any]:
        """Servers, links, tree, interests, and how far behind each link is; for operators."""
        return self._call(network_requests.network())

    def invite_server(self) -> dict[str, Any]:
        """A `token` by which another server may link to this one, within a week."""
        return self._call(network_requests.invite())

    def link_server(self, url: str, token: str) -> str:
        """Links this server to the one at the URL, by a token of that one; answers its name."""
        return self._call(network_requests.join(url, token))

    def server_links(self) -> list[dict[str, Any]]:
        return self._call(network_requests.links())

    def remove_server_link(self, name: str) -> str:
        return self._call(network_requests.remove_link(name))

    def query_network(self, filter: str, limit: int = 100) -> dict[str, Any]:
        """Stored events that match, of all servers in reach: `items`, each with `server` and `event`; `missing` are the
        servers that did not answer, `complete` says whether there are no others."""
        return self._call(network_requests.search(filter, limit))

    def order_network(self, kind: str, value: str) -> str:
        """Asks the network's home: `distribute` events or subscriptions, `succeed` or `strike-off` a server."""
        return self._call(network_requests.order(kind, value))

    def advertise(self, filter: str) -> dict[str, Any]:
        """Says what you will publish, as a filter; its `id`. Where the network is distributed by advertisements, events
        that none of them matches are refused."""
        return self._call(network_requests.advertise(filter))

    def advertisements(self) -> list[dict[str, Any]]:
        """Those of all accounts of this server; `own` are yours."""
        return self._call(network_requests.advertisements())

    def withdraw_advertisement(self, id: str) -> str:
        return self._call(network_requests.withdraw_advertisement(id))

    def move_ticket(self) -> dict[str, Any]:
        """Lets your subscriptions of another server move to this one, within a day: `ticket`, and this `server`."""
        return self._call(network_requests.ticket())

    def move_subscriptions(self, to: str, ticket: str, subscriptions: list[str] | None = None) -> list[str]:
        """Moves all your subscriptions, or these, to another server, by a ticket of that one; their ids. `moves` lists
        those that are still on their way."""
        return self._call(network_requests.move(to, ticket, subscriptions))

    def moves(self) -> list[dict[str, Any]]:
        """Your subscriptions that are on their way to another server, and what holds them up."""
        return self._call(network_requests.moves())

    def take_home(self) -> str:
        """The server that ordered the schema is lost: this one orders from now on."""
        return self._call(network_requests.take_home())

    def pause_channel(self, id: str) -> dict[str, Any]:
        """Nothing is sent until it is resumed; nothing is lost."""
        return self._call(delivery_requests.change_channel(id, "pause"))

    def resume_channel(self, id: str) -> dict[str, Any]:
        """What was kept is sent. One that was disabled or not confirmed asks the other side again."""
        return self._call(delivery_requests.change_channel(id, "resume"))

    def rotate_secret(self, id: str) -> str:
        """A new secret of a webhook, shown only once. For 24 hours the old one signs beside it."""
        return self._call(delivery_requests.rotate_secret(id))

    def deliveries(self, id: str, state: str | None = None) -> Iterator[Delivery]:
        """What was sent or is to be sent, the newest first: all, or those that are `due`, `delivered` or `dead`."""
        return self._each(flows.pages(lambda after: delivery_requests.deliveries(id, state, after), self.patience))

    def delivery(self, id: str, number: int) -> Delivery:
        """One of them, with every attempt as `tried`."""
        return self._call(delivery_requests.delivery(id, number))

    def replay(
        self,
        id: str,
        numbers: Iterable[int] | None = None,
        *,
        failed: bool = False,
        first: int | None = None,
        last: int | None = None,
    ) -> int:
        """Sends deliveries again: by number, all dead letters, or a range of sequence numbers.

        `client.replay(id, failed=True)`; answers how many.
        """
        return self._call(delivery_requests.replay(id, numbers, failed, first, last))

    def test_delivery(self, id: str) -> Tried:
        """Sends a test at once, with the newest match or a made-up event; returns the result."""
        return self._call(delivery_requests.test_delivery(id))

    def notices(self, after: str | None = None) -> Page[dict[str, Any]]:
        """What you must know of your channels, as that one was disabled; newer than a number."""
        return self._call(delivery_requests.notices(after))

    def see_notices(self, upto: str) -> None:
        """Marks them as seen, up to a page's `next`."""
        self._call(delivery_requests.see_notices(upto))

    # How the server is

    def healthy(self) -> bool:
        """Whether it answers at all; never raises."""
        try:
            return self._call(requests.healthy())
        except ClientError:
            return False

    def ready(self) -> dict[str, Any]:
        """Whether it takes and matches events (`ready`), and what it says about its pipeline."""
        return self._call(requests.ready())
