"""A network around services of tests: each has its node in its own event loop, and they speak HTTP with each other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import httpx

from tests.network.nodes import QUICK
from tests.service.conftest import Service
from tidings.network.local_door import LocalDoor
from tidings.network.node import Node
from tidings.network.running import Asked
from tidings.schema import Instant
from tidings.service.door.callers import digest_of, new_token
from tidings.service.network import Network
from tidings.settings import SCOPES
from tidings.store.accounts.accounts import Account, Token


@contextmanager
def networked(service: Service, name: str) -> Iterator[Network]:
    """The service has a name meanwhile."""
    service.store.begin_incarnation(name)
    gateway = service.gateway
    gateway.settings = replace(gateway.settings, name=name, port=service.port)

    async def begin() -> tuple[Network, Node, LocalDoor]:
        network = Network(gateway, name)
        node = Node(service.store, QUICK)
        door = LocalDoor(network.secret, Asked(node).answer)
        network.client.is_at(await door.open())
        return network, node, door

    network, node, door = asyncio.run_coroutine_threadsafe(begin(), service.loop).result(60)
    gateway.network = network
    try:
        yield network
    finally:
        gateway.network = None
        for part in (network, door, node):
            asyncio.run_coroutine_threadsafe(part.close(), service.loop).result(60)


def operator(service: Service, username: str = "operator") -> httpx.Client:
    """With a token of all scopes."""
    token = new_token()
    service.store.add_account(Account(username, "", frozenset(SCOPES), Instant(0)))
    service.store.add_token(Token(digest_of(token), username, "token", "", frozenset(SCOPES), Instant(0), None))
    client = service.anonymous()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


def linked(here: httpx.Client, there: httpx.Client, invitation: dict[str, str] | None = None) -> None:
    """Both are operators, and the other one's server invites; returns when each reaches the other."""
    invitation = invitation or there.post("/v1/network/invitations").json()
    answer = here.post("/v1/network/links", json=invitation)
    assert answer.status_code == 201, answer.text
    for one in (here, there):
        until(partial(_reaches_others, one))


def _reaches_others(one: httpx.Client) -> bool:
    servers = one.get("/v1/network").json()["servers"]
    return len(servers) > 1 and all(server["reached"] for server in servers)


def until(holds: Callable[[], object], patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
