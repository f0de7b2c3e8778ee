"""`AsyncClient`: a server, from a program with an event loop. The same calls as `Client`, where they are explained."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
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
from tidings.client.client import Client
from tidings.client.flows import Tell, silent
from tidings.client.growing import Use, attribute, domain, event_type, extension, headline, node, value
from tidings.client.lines import EventLike, raw_event
from tidings.client.sending import AsyncSender
from tidings.errors import ClientError
from tidings.schema import Catalog
from tidings.schema.growth import Change


class AsyncClient(AsyncSender):
    """`Client` for an event loop: every call is awaited, and what `Client` iterates over is for `async for`.

    async with tidings.AsyncClient("http://127.0.0.1:8080", token) as client:
        await client.publish({"event_type": "car", "attributes": {"price": 900, "brand": "mini"}})
        async for notification in client.follow():
            print(notification.event)
    """

    # Accounts

    async def register(self, username: str, password: str) -> str:
        self.token = await self._call(requests.register(username, password))
        return self.token

    async def log_in(
        self,
        username: str,
        password: str,
        *,
        name: str | None = None,
        scopes: Iterable[str] | None = None,
        expires: str | None = None,
    ) -> str:
        self.token = await self._call(requests.log_in(username, password, name, scopes, expires))
        return self.token

    async def log_out(self) -> None:
        await self._call(requests.log_out())
        self.token = None

    async def account(self) -> dict[str, Any]:
        return await self._call(requests.account())

    async def delete_account(self, password: str) -> dict[str, Any]:
        deleted = await self._call(requests.delete_account(password))
        self.token = None
        return deleted

    async def tokens(self) -> list[StoredToken]:
        return await self._run(flows.listed(requests.tokens, self.patience))

    async def delete_token(self, id: str) -> None:
        await self._call(requests.delete_token(id))

    # The schema

    async def schema(self) -> Catalog:
        return await self._call(requests.schema())

    async def grow(self, change: Change) -> int:
        return await self._call(requests.grow(change))

    async def create_domain(
        self,
        name: str,
        kind: str,
        *,
        operators: Iterable[str] | None = None,
        values: Iterable[str] = (),
        ordered: bool = False,
        tree: Mapping[str, Any] | None = None,
    ) -> int:
        return await self.grow(domain(name, kind, operators, values, ordered, tree))

    async def create_attribute(self, name: str, domain: str) -> int:
        return await self.grow(attribute(name, domain))

    async def create_event_type(self, name: str, attributes: Iterable[Use] = (), *, headline: str = "") -> int:
        return await self.grow(event_type(name, attributes, headline))

    async def extend_event_type(self, name: str, attribute: str, *, unique: bool = True) -> int:
        return await self.grow(extension(name, attribute, unique))

    async def set_headline(self, event_type: str, attribute: str) -> int:
        return await self.grow(headline(event_type, attribute))

    async def append_value(self, domain: str, new: str) -> int:
        return await self.grow(value(domain, new))

    async def append_node(self, domain: str, new: str, parent: str | None = None) -> int:
        return await self.grow(node(domain, new, parent))

    # Events

    @overload
    async def publish(self, event: EventLike) -> Published: ...
    @overload
    async def publish(self, event: Sequence[EventLike]) -> PublishedMany: ...

    async def publish(self, event: EventLike | Sequence[EventLike]) -> Published | PublishedMany:
        if isinstance(event, Sequence):
            return await self._run(flows.publish_many(event, silent, self.patience, len(event)))
        return await self._call(event_requests.publish(raw_event(event)))

    async def publish_many(self, events: Iterable[EventLike | bytes | str], tell: Tell = silent) -> PublishedMany:
        return await self._run(flows.publish_many(events, tell, self.patience))

    async def event(self, position: int) -> StoredEvent:
        return await self._call(event_requests.event(position))

    def query(
        self,
        filter: str | None = None,
        *,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[StoredEvent]:
        return self._each(flows.query(filter, since, until, limit, self.patience))

    async def start_query(
        self, filter: str | None = None, *, since: str | None = None, until: str | None = None
    ) -> str:
        return await self._call(event_requests.start_query(filter, since, until))

    async def queries(self) -> list[dict[str, Any]]:
        return await self._run(flows.listed(event_requests.queries, self.patience))

    async def query_state(self, id: str) -> dict[str, Any]:
        return await self._call(event_requests.query_state(id))

    def query_events(self, id: str, *, limit: int | None = None) -> AsyncIterator[StoredEvent]:
        return self._each(flows.job_events(id, limit, self.patience))

    async def drop_query(self, id: str) -> None:
        await self._call(event_requests.drop_query(id))

    # Subscriptions

    async def subscribe(
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
        return await self._call(requests.subscribe(filter, composite, expiry, channel, name, note, settled))

    def subscriptions(self, state: str | None = None) -> AsyncIterator[StoredSubscription]:
        return self._each(flows.pages(lambda after: requests.subscriptions(after, state), self.patience))

    async def subscription(self, id: str) -> StoredSubscription:
        return await self._call(requests.subscription(id))

    async def edit(self, id: str, **members: Any) -> StoredSubscription:
        return await self._call(requests.edit(id, **members))

    async def pause(self, id: str) -> StoredSubscription:
        return await self.edit(id, state="paused")

    async def resume(self, id: str) -> StoredSubscription:
        return await self.edit(id, state="active")

    async def export_subscriptions(self) -> list[dict[str, Any]]:
        return await self._call(requests.export_subscriptions())

    async def import_subscriptions(self, lines: Iterable[Mapping[str, Any]], *, check: bool = False) -> dict[str, Any]:
        return await self._call(requests.import_subscriptions(lines, check))

    async def unsubscribe(self, id: str) -> int:
        return await self._call(requests.unsubscribe(id))

    async def test(self, filter: str, *, since: str | None = None, limit: int | None = None) -> dict[str, Any]:
        return await self._call(requests.test(filter, since, limit))

    async def test_composite(
        self, composite: str, *, since: str | None = None, limit: int | None = None
    ) -> dict[str, Any]:
        return await self._call(requests.test_composite(composite, since, limit))

    async def waiting(self, id: str) -> dict[str, Any]:
        return await self._call(requests.waiting(id))

    async def explain(
        self,
        filter: str,
        event: EventLike | None = None,
        *,
        position: int | None = None,
        id: str | None = None,
        source: str | None = None,
    ) -> dict[str, Any]:
        raw = None if event is None else raw_event(event)
        return await self._call(requests.explain(filter, raw, position, id, source))

    # Notifications

    async def notifications(
        self,
        after: str | None = None,
        *,
        limit: int | None = None,
        wait: float | None = None,
        subscription: str | None = None,
    ) -> Page[Notification]:
        return await self._call(requests.notifications(after, limit, wait, subscription))

    def stream(self, after: str = "now", *, subscription: str | None = None) -> AsyncIterator[Notification]:
        return self._each(flows.stream(after, subscription, self.patience))

    def follow(self, after: str | None = None, *, subscription: str | None = None) -> AsyncIterator[Notification]:
        return self._each(flows.stream(after, subscription, self.patience))

    # Channels and deliveries

    async def channel(self, id: str) -> dict[str, Any]:
        return await self._call(delivery_requests.channel(id))

    async def network(self) -> dict[str, Any]:
        """Servers, links, tree, interests, and how far behind each link is; for operators."""
        return await self._call(network_requests.network())

    async def invite_server(self) -> dict[str, Any]:
        """A `token` by which another server may link to this one, within a week."""
        return await self._call(network_requests.invite())

    async def link_server(self, url: str, token: str) -> str:
        """Links this server to the one at the URL, by a token of that one; answers its name."""
        return await self._call(network_requests.join(url, token))

    async def server_links(self) -> list[dict[str, Any]]:
        return await self._call(network_requests.links())

    async def remove_server_link(self, name: str) -> str:
        return await self._call(network_requests.remove_link(name))

    async def query_network(self, filter: str, limit: int = 100) -> dict[str, Any]:
        """Stored events that match, of all servers in reach: `items`, each with `server` and `event`; `missing` are the
        servers that did not answer, `complete` says whether there are no others."""
        return await self._call(network_requests.search(filter, limit))

    async def order_network(self, kind: str, value: str) -> str:
        """Asks the network's home: `distribute` events or subscriptions, `succeed` or `strike-off` a server."""
        return await self._call(network_requests.order(kind, value))

    async def advertise(self, filter: str) -> dict[str, Any]:
        """Says what you will publish, as a filter; its `id`. Where the network is distributed by advertisements, events
        that none of them matches are refused."""
        return await self._call(network_requests.advertise(filter))

    async def advertisements(self) -> list[dict[str, Any]]:
        """Those of all accounts of this server; `own` are yours."""
        return await self._call(network_requests.advertisements())

    async def withdraw_advertisement(self, id: str) -> str:
        return await self._call(network_requests.withdraw_advertisement(id))

    async def move_ticket(self) -> dict[str, Any]:
        """Lets your subscriptions of another server move to this one, within a day: `ticket`, and this `server`."""
        return await self._call(network_requests.ticket())

    async def move_subscriptions(self, to: str, ticket: str, subscriptions: list[str] | None = None) -> list[str]:
        """Moves all your subscriptions, or these, to another server, by a ticket of that one; their ids. `moves` lists
        those that are still on their way."""
        return await self._call(network_requests.move(to, ticket, subscriptions))

    async def moves(self) -> list[dict[str, Any]]:
        """Your subscriptions that are on their way to another server, and what holds them up."""
        return await self._call(network_requests.moves())

    async def take_home(self) -> str:
        """The server that ordered the schema is lost: this one orders from now on."""
        return await self._call(network_requests.take_home())

    async def pause_channel(self, id: str) -> dict[str, Any]:
        return await self._call(delivery_requests.change_channel(id, "pause"))

    async def resume_channel(self, id: str) -> dict[str, Any]:
        return await self._call(delivery_requests.change_channel(id, "resume"))

    async def rotate_secret(self, id: str) -> str:
        return await self._call(delivery_requests.rotate_secret(id))

    def deliveries(self, id: str, state: str | None = None) -> AsyncIterator[Delivery]:
        return self._each(flows.pages(lambda after: delivery_requests.deliveries(id, state, after), self.patience))

    async def delivery(self, id: str, number: int) -> Delivery:
        return await self._call(delivery_requests.delivery(id, number))

    async def replay(
        self,
        id: str,
        numbers: Iterable[int] | None = None,
        *,
        failed: bool = False,
        first: int | None = None,
        last: int | None = None,
    ) -> int:
        return await self._call(delivery_requests.replay(id, numbers, failed, first, last))

    async def test_delivery(self, id: str) -> Tried:
        return await self._call(delivery_requests.test_delivery(id))

    async def notices(self, after: str | None = None) -> Page[dict[str, Any]]:
        return await self._call(delivery_requests.notices(after))

    async def see_notices(self, upto: str) -> None:
        await self._call(delivery_requests.see_notices(upto))

    # How the server is

    async def healthy(self) -> bool:
        try:
            return await self._call(requests.healthy())
        except ClientError:
            return False

    async def ready(self) -> dict[str, Any]:
        return await self._call(requests.ready())


for _name, _method in vars(Client).items():
    if not _name.startswith("_") and _name in vars(AsyncClient):
        getattr(AsyncClient, _name).__doc__ = _method.__doc__
