"""Linked servers: links, advertisements, moves."""

from __future__ import annotations

from typing import Any

from tidings.client import flows
from tidings.client.calls.twins import explained_by
from tidings.client.requests import network_requests
from tidings.client.sending import AsyncSender, Sender


class NetworkCalls(Sender):
    def network(self) -> dict[str, Any]:
        """Servers, links, tree, interests, and how far behind each link is; for operators."""
        return self._call(network_requests.network())

    def invite_server(self) -> dict[str, Any]:
        """A `token` with which another server can link to this one, within a week."""
        return self._call(network_requests.invite())

    def link_server(self, url: str, token: str) -> str:
        """Links this server to the one at the URL, with a token from that server; returns its name."""
        return self._call(network_requests.join(url, token))

    def server_links(self) -> list[dict[str, Any]]:
        return self._run(flows.listed(network_requests.links, self.patience))

    def remove_server_link(self, name: str) -> str:
        return self._call(network_requests.remove_link(name))

    def query_network(self, filter: str, limit: int = 100) -> dict[str, Any]:
        """Matching stored events of all reachable servers: `items`, each with `server` and `event`. `missing` lists the
        servers that did not answer; `complete` is true if there are no further matches."""
        return self._call(network_requests.search(filter, limit))

    def order_network(self, kind: str, value: str) -> str:
        """Asks the network's home: `distribute` events or subscriptions, `succeed` or `strike-off` a server."""
        return self._call(network_requests.order(kind, value))

    def advertise(self, filter: str) -> dict[str, Any]:
        """Announces what you will publish, as a filter; returns its `id`. In a network distributed by advertisements,
        events that match none of them are refused."""
        return self._call(network_requests.advertise(filter))

    def advertisements(self) -> list[dict[str, Any]]:
        """All advertisements on this server; `own` marks yours."""
        return self._run(flows.listed(network_requests.advertisements, self.patience))

    def withdraw_advertisement(self, id: str) -> str:
        return self._call(network_requests.withdraw_advertisement(id))

    def move_ticket(self) -> dict[str, Any]:
        """Allows your subscriptions on another server to move here, within a day: `ticket`, and this `server`."""
        return self._call(network_requests.ticket())

    def move_subscriptions(self, to: str, ticket: str, subscriptions: list[str] | None = None) -> list[str]:
        """Moves all your subscriptions, or these, to another server, with a ticket from that server; returns their ids.
        `moves` lists those still on their way."""
        return self._call(network_requests.move(to, ticket, subscriptions))

    def moves(self) -> list[dict[str, Any]]:
        """Your subscriptions on their way to another server, and what holds them up."""
        return self._run(flows.listed(network_requests.moves, self.patience))

    def take_home(self) -> str:
        """Makes this server the network's home, after the old home was lost."""
        return self._call(network_requests.take_home())


@explained_by(NetworkCalls)
class AsyncNetworkCalls(AsyncSender):
    async def network(self) -> dict[str, Any]:
        return await self._call(network_requests.network())

    async def invite_server(self) -> dict[str, Any]:
        return await self._call(network_requests.invite())

    async def link_server(self, url: str, token: str) -> str:
        return await self._call(network_requests.join(url, token))

    async def server_links(self) -> list[dict[str, Any]]:
        return await self._run(flows.listed(network_requests.links, self.patience))

    async def remove_server_link(self, name: str) -> str:
        return await self._call(network_requests.remove_link(name))

    async def query_network(self, filter: str, limit: int = 100) -> dict[str, Any]:
        return await self._call(network_requests.search(filter, limit))

    async def order_network(self, kind: str, value: str) -> str:
        return await self._call(network_requests.order(kind, value))

    async def advertise(self, filter: str) -> dict[str, Any]:
        return await self._call(network_requests.advertise(filter))

    async def advertisements(self) -> list[dict[str, Any]]:
        return await self._run(flows.listed(network_requests.advertisements, self.patience))

    async def withdraw_advertisement(self, id: str) -> str:
        return await self._call(network_requests.withdraw_advertisement(id))

    async def move_ticket(self) -> dict[str, Any]:
        return await self._call(network_requests.ticket())

    async def move_subscriptions(self, to: str, ticket: str, subscriptions: list[str] | None = None) -> list[str]:
        return await self._call(network_requests.move(to, ticket, subscriptions))

    async def moves(self) -> list[dict[str, Any]]:
        return await self._run(flows.listed(network_requests.moves, self.patience))

    async def take_home(self) -> str:
        return await self._call(network_requests.take_home())
