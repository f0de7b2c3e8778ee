"""Nodes of one process, each with a store of its own; what they send goes over as bytes, at once, unless cut."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tidings.errors import TidingsError
from tidings.network import node as nodes
from tidings.network.node import Node
from tidings.network.postman import Carried
from tidings.network.wire import encode
from tidings.overlay.values import Limits, Timing
from tidings.schema import json_form
from tidings.store import Grow, Publish, Store, StoredLink, Subscribe

QUICK = Timing(heartbeat=0.05, revival=0.1, after_change=0.1, ask_again=0.3, resend=0.5)
CHANGES = (
    {"change": "create_domain", "domain": {"name": "money", "kind": "numeric"}},
    {"change": "create_attribute", "attribute": {"name": "price", "domain": "money"}},
    {"change": "create_event_type", "event_type": {"name": "offer", "attributes": [{"name": "price"}]}},
)


class Wires:
    """By address: who takes what is sent there. `cut` has the pairs of names that do not hear each other."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.cut: set[frozenset[str]] = set()
        self.refused: list[str] = []
        self.muted: list[type] = []

    def mute(self, *kinds: type) -> None:
        """Messages of these kinds that are routed get lost."""
        self.muted += kinds


class Wire:
    """Instead of a postman."""

    wires: Wires
    sender = ""

    def __init__(self, url: str, token: str) -> None:
        self.to, self.sender = url, token
        self.carried = Carried()
        self.waiting = 0

    def send(self, message: Any) -> None:
        if type(getattr(message, "body", None)) in self.wires.muted:
            return
        if (node := self.wires.nodes.get(self.to)) and frozenset((self.to, self.sender)) not in self.wires.cut:
            asyncio.get_running_loop().call_soon(self._deliver, node, encode([message]))

    def _deliver(self, node: Node, data: bytes) -> None:
        if self.wires.nodes.get(self.to) is node:
            try:
                node.hear(self.sender, data)
            except TidingsError as problem:
                self.wires.refused.append(str(problem))

    async def close(self) -> None:
        pass


def make_store(folder: Path, name: str, grown: bool = True) -> Store:
    store = Store.open(folder / f"{name}.db")
    if store.tail() == 0 and grown:
        store.append([Grow(json_form.read_change(one)) for one in CHANGES])
    return store


def linked(stores: dict[str, Store], *pairs: tuple[str, str]) -> None:
    for left, right in pairs:
        for one, other in ((left, right), (right, left)):
            digest = f"{one} {other}".encode()
            stores[one].put_link(StoredLink(other, "identity", other, one, digest))


def start(wires: Wires, stores: dict[str, Store], name: str, **limits: int) -> Node:
    stores[name].begin_incarnation(name)
    wires.nodes[name] = Node(stores[name], QUICK, Limits(**limits))
    return wires.nodes[name]


async def end(wires: Wires, name: str) -> None:
    await wires.nodes.pop(name).close()


@contextmanager
def wired(monkeypatch: Any) -> Iterator[Wires]:
    wires = Wires()
    monkeypatch.setattr(Wire, "wires", wires, raising=False)
    monkeypatch.setattr(nodes, "Postman", Wire)
    yield wires


def subscribe(store: Store, id: str = "wish", filter: str = "price < 100") -> None:
    store.append([Subscribe(id, filter)])


def publish(store: Store, *ids: str, price: float = 5) -> None:
    raws = [{"id": id, "source": "s", "event_type": "offer", "attributes": {"price": price}} for id in ids]
    store.append([Publish(raw) for raw in raws])


def ids(store: Store) -> list[str]:
    import json

    return [json.loads(one.body)["id"] for one in store.entries() if one.kind == "event"]


async def until(holds: Any, patience: float = 20.0) -> None:
    for _ in range(int(patience / 0.02)):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")
