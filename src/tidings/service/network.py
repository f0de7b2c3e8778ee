"""The gateway's side of a network of servers: links are made and removed here, what neighbours send goes to the node.

invite here ──> a token ──> join there: it shows the token here, and leaves one by which it can be reached
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from tidings.language import Filter
from tidings.network.addresses import check_url, trusted
from tidings.network.local_door import NetworkAway, NodeClient, NodeRefused
from tidings.schema import Instant, json_form
from tidings.schema.growth import Change
from tidings.service.door.callers import digest_of, new_token
from tidings.service.network_errors import GrowthRefused, NoSuchLink, NoSuchServer, NotJoined, ServerNameTaken
from tidings.service.workers.status import OFF, ChildStatus
from tidings.store import Advertisement, Departure, NoSuchSubscription, Token
from tidings.store.network.nodes import StoredLink

if TYPE_CHECKING:
    from tidings.service.gateway import Gateway

_LINK = frozenset({"link"})
_PATIENCE = 15.0  # seconds for the other server
_TAKEN = 4.0  # seconds for the node to take messages
_SEARCHED = 10.0  # seconds for other servers to answer a query
_ORDERED = 40.0  # seconds for the home
_INVITED = ""  # the name of a token that no server has used yet
_DAY = 24 * 3600 * 1_000_000  # microseconds that a ticket lasts
_WEEK = 7 * 24 * 3600 * 1_000_000  # microseconds that an invitation lasts


class Joining(msgspec.Struct, forbid_unknown_fields=True):
    """What a server says of itself when it joins, and what it is answered."""

    name: str
    identity: str
    url: str
    token: str = ""


class Network:
    """Of one gateway, whose server has a name."""

    def __init__(self, gateway: Gateway, name: str) -> None:
        self._gateway = gateway
        self.name = name
        self.secret = secrets.token_hex(16)
        self.client = NodeClient(self.secret)
        self.status: ChildStatus = OFF

    async def close(self) -> None:
        await self.client.close()

    async def describe(self) -> dict[str, Any]:
        """Raises NetworkAway."""
        return dict(await self.client.ask("describe"))

    async def invite(self, owner: str) -> str:
        """A token by which one server may join, within a week, unless the account that invites is closed before."""
        token = new_token()
        now = self._gateway.store.now()
        new = Token(digest_of(token), owner, "link", _INVITED, _LINK, now, Instant(int(now) + _WEEK))
        await self._gateway.write(self._gateway.store.add_token, new)
        return token

    async def join(self, url: str, token: str) -> str:
        """The name of the server that is linked now. Raises PlainLink, ServerNameTaken or NotJoined."""
        import httpx  # no other request needs it

        check_url(url)
        back = new_token()
        store = self._gateway.store
        me = Joining(self.name, await self._identity(), self._gateway.settings.links_lead_to, back)
        check_url(me.url)
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        try:
            verify = await self._gateway.read(trusted, url)
            async with httpx.AsyncClient(timeout=_PATIENCE, trust_env=False, verify=verify) as client:
                answer = await client.post(f"{url}/v1/network/join", content=msgspec.json.encode(me), headers=headers)
            if not answer.is_success:
                raise NotJoined(url, _detail(answer))
            other = msgspec.json.decode(answer.content, type=Joining)
        except (httpx.HTTPError, OSError, msgspec.MsgspecError) as problem:
            raise NotJoined(url, str(problem) or type(problem).__name__) from None
        if other.name == self.name:
            raise ServerNameTaken(self.name)
        await self._gateway.write(store.put_link, StoredLink(other.name, other.identity, url, token, digest_of(back)))
        await self._admit(other.name, back)
        await self.client.ask("links")
        return other.name

    async def joined_by(self, digest: bytes, other: Joining) -> Joining:
        """Another server shows an invitation. Raises ServerNameTaken or PlainLink."""
        check_url(other.url)
        store = self._gateway.store
        links = {one.name: one for one in await self._gateway.read(store.links)}
        known = links.get(other.name)
        if other.name == self.name or (known and known.identity != other.identity):
            raise ServerNameTaken(other.name)
        if any(one.digest == digest and one.name != other.name for one in links.values()):
            raise ServerNameTaken(other.name)  # the invitation is another server's by now
        link = StoredLink(other.name, other.identity, other.url, other.token, digest)
        await self._gateway.write(store.put_link, link)
        await self._gateway.write(store.remove_token, digest)
        token = Token(digest, "", "link", other.name, _LINK, store.now(), None)
        await self._gateway.write(store.add_token, token)
        await self.client.ask("take home", False)  # the first that is joined orders the schema
        await self.client.ask("links")
        return Joining(self.name, await self._identity(), self._gateway.settings.links_lead_to)

    async def remove(self, name: str) -> None:
        """Here; the other end finds the token invalid. Raises NoSuchLink."""
        store = self._gateway.store
        found = [one for one in await self._gateway.read(store.links) if one.name == name]
        if not found:
            raise NoSuchLink(name)
        await self._gateway.write(store.remove_link, name)
        await self._gateway.write(store.remove_token, found[0].digest)
        self._gateway.callers.forget(found[0].digest)
        await self.client.ask("links")

    async def hear(self, digest: bytes, data: bytes) -> None:
        """Messages of a neighbour, known by its token. Raises NoSuchLink, NetworkAway or NodeRefused."""
        link = await self._gateway.read(self._gateway.store.link_of, digest)
        if link is None:
            raise NoSuchLink("")
        await self.client.ask("messages", link.name, data, patience=_TAKEN)

    async def settled(self, seconds: float) -> bool:
        """Whether every server in reach holds what subscriptions of now ask for, waiting up to so long."""
        try:
            return bool(await self.client.ask("settle", seconds, patience=seconds + 2))
        except (NetworkAway, NodeRefused):
            return False

    async def advertise(self, owner: str, text: str) -> Advertisement:
        """Raises LanguageError or TooManyAdvertisements."""
        store = self._gateway.store
        canonical = await self._gateway.bind(owner, lambda: Filter.parse(text, store.catalog()).text)
        most = self._gateway.settings.advertisements_per_owner
        made = await self._gateway.write(store.advertise, owner, canonical, most)
        await self._tell_advertisements()
        return made

    async def withdraw_advertisement(self, owner: str, id: str) -> None:
        """Raises NoSuchAdvertisement."""
        await self._gateway.write(self._gateway.store.withdraw_advertisement, id, owner)
        await self._tell_advertisements()

    async def _tell_advertisements(self) -> None:
        with suppress(NetworkAway):  # it reads them when it starts
            await self.client.ask("advertisements")

    async def ticket(self, owner: str) -> str:
        """By which subscriptions of another server may move in for this account, within a day."""
        made = new_token()
        store = self._gateway.store
        expires = Instant(int(store.now()) + _DAY)
        await self._gateway.write(store.put_ticket, digest_of(made), owner, expires)
        return made

    async def move(self, owner: str, to: str, ticket: str, chosen: Sequence[str] | None) -> list[str]:
        """The ids of the account's subscriptions that will move. Raises NoSuchServer or NoSuchSubscription."""
        store = self._gateway.store
        reached = {one["name"] for one in (await self.describe())["servers"] if one["reached"]} - {self.name}
        if to not in reached:
            raise NoSuchServer(to, ", ".join(sorted(reached)) or "none")
        owned = {one.id for one in await self._gateway.read(store.subscriptions, owner)}
        ids = sorted(owned if chosen is None else set(chosen))
        for id in ids:
            if id not in owned:
                raise NoSuchSubscription(id)
        await self._gateway.write(store.depart, [Departure(id, owner, to, ticket) for id in ids])
        await self.client.ask("departures")
        return ids

    async def moves(self, owner: str) -> list[dict[str, str]]:
        """The account's subscriptions that are still on their way, and what holds them up."""
        found = await self._gateway.read(self._gateway.store.departures, owner)
        waits = await self.client.ask("waits") if found else {}
        return [
            {"subscription": one.subscription, "to": one.server, "problem": one.problem,
             "waits": waits.get(one.subscription, "")}
            for one in found
        ]  # fmt: skip

    async def has_home(self) -> bool:
        """Whether some server orders the schema. Raises NetworkAway."""
        return bool(await self.client.ask("home"))

    async def search(self, filter: str, most: int) -> dict[str, Any]:
        """Events that match, of all servers in reach; which servers did not answer. Raises NodeRefused."""
        events, missing, complete = await self.client.ask("search", filter, most, _SEARCHED, patience=_SEARCHED + 5)
        items = [{"server": server, "event": msgspec.Raw(payload.encode())} for server, payload in events]
        return {"items": items, "missing": missing, "complete": complete and not missing}

    async def take_home(self) -> str:
        return str(await self.client.ask("take home", True))

    async def order(self, kind: str, value: str) -> None:
        """By the home: `distribute`, `succeed` or `strike off`. Raises NodeRefused."""
        await self.client.ask("order", uuid4().hex, kind, value, patience=_ORDERED)

    async def grow(self, changes: Sequence[Change]) -> int:
        """By the home, one after another. The position of the last here. Raises GrowthRefused."""
        store = self._gateway.store
        for change in changes:
            body = msgspec.json.encode(json_form.write_change(change)).decode()
            try:
                await self.client.ask("order", uuid4().hex, "growth", body, patience=_ORDERED)
            except NodeRefused as problem:
                raise GrowthRefused(problem.reason) from None
        return await self._gateway.read(store.last_growth)

    async def _admit(self, name: str, token: str) -> None:
        store = self._gateway.store
        new = Token(digest_of(token), "", "link", name, _LINK, store.now(), None)
        await self._gateway.write(store.add_token, new)

    async def _identity(self) -> str:
        node = await self._gateway.read(self._gateway.store.node)
        assert node is not None
        return node.identity


def _detail(answer: Any) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"it answered {answer.status_code}"
