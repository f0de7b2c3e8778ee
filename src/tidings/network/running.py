"""The node as a process beside the service: what the gateway may ask of it, and how it says how it is."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Sequence
from typing import Any

from tidings.network.contents import Content
from tidings.network.local_door import LocalDoor, NodeRefused
from tidings.network.node import Node
from tidings.network.status import described
from tidings.network.wire import read_order
from tidings.overlay import messages as m
from tidings.overlay.values import Key, Limits, Order, Timing
from tidings.settings import Settings
from tidings.store import Store

_LOOK = 0.1  # seconds
_SAY = 1.0  # seconds between lines of JSON
_RESEND = 5.0  # seconds: HTTP loses nothing while a connection holds
_PATIENCE = 35.0  # seconds for the home to order something


async def run(settings: Settings, store: Store, secret: str, stopped: threading.Event) -> None:
    """Until `stopped`; raises what ended the node."""
    timing = Timing(
        revival=settings.link_revival_seconds,
        longest_revival=max(60.0, settings.link_revival_seconds),
        ask_again=settings.repair_seconds,
        resend=_RESEND,
    )
    node = Node(store, timing, Limits(filters=settings.link_filters))
    asked = Asked(node)
    door = LocalDoor(secret, asked.answer)
    port = await door.open()
    said = 0.0
    try:
        while not stopped.is_set():
            if problem := node.failed:
                raise problem
            if (now := asyncio.get_running_loop().time()) - said >= _SAY:
                said = now
                lag = sum(len(queue.waiting) for queue in node.server.queues.values())
                sys.stdout.write(json.dumps({"lag": lag, "port": port}) + "\n")
                sys.stdout.flush()
            await asyncio.sleep(_LOOK)
    finally:
        await door.close()
        await node.close()


def merged(found: Sequence[m.Found], most: int) -> list[list[str]]:
    """Pairs of the server that accepted an event and its JSON, each event once by source and id."""
    seen: dict[Key, list[str]] = {}
    for one in sorted(found, key=lambda one: one.server):
        for event in one.events:
            assert isinstance(event.content, Content)
            seen.setdefault(event.key, [one.server, event.content.payload])
    return list(seen.values())[:most]


class Asked:
    """What the gateway asks."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def answer(self, what: str, arguments: list[Any]) -> Any:
        match what, arguments:
            case "messages", [neighbour, data]:
                return self._node.hear(neighbour, data)
            case "describe", []:
                return described(self._node)
            case "links", []:
                self._node.read_links()
                return None
            case "take home", [force]:
                if force or not self._node.server.durable.rule.home:
                    self._node.command(m.TakeHome())
                return self._node.server.durable.rule.home
            case "home", []:  # a linked server has one, though it may not have heard from it yet
                return bool(self._node.server.durable.rule.home or self._node.server.links)
            case "advertisements", []:
                self._node.follow_changes()
                self._node.read_advertisements()
                return None
            case "departures", []:
                self._node.departures.look()
                return None
            case "waits", []:
                return self._node.departures.waits
            case "settle", [seconds]:
                return isinstance(await self._node.ask(m.Settle, seconds), m.Settled)
            case "search", [text, most, seconds]:
                found, missing = await self._node.search(text, most, seconds)
                return [merged(found, most), missing, all(one.all for one in found)]
            case "order", [request, kind, body]:
                return await self._order(request, read_order(request, kind, body, 0)[1])
        raise NodeRefused(f"no operation is called {what[:40]!r}")

    async def _order(self, request: str, order: Order) -> int:
        """The number of orders with it; raises NodeRefused."""
        told = await self._node.ask(lambda name: m.Request(name, order), _PATIENCE, request)
        if isinstance(told, m.Granted):
            while self._node.stored_orders < told.version:  # the home's answer may be quicker than the order itself
                await asyncio.sleep(_LOOK / 10)
            return told.version
        reason = told.reason if isinstance(told, m.Refused) else "the home did not answer in time"
        raise NodeRefused(reason)
