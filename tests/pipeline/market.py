"""A market whose schema grows while people come, go and trade: seeded drafts for a journal, of every kind."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tidings.schema import Attribute, AttributeUse, Domain, EventType, Hierarchy, Instant, Kind
from tidings.schema.growth import (
    AppendNode,
    AppendValue,
    Change,
    CreateAttribute,
    CreateDomain,
    CreateEventType,
    ExtendEventType,
)
from tidings.store import Draft, Edit, Grow, Pause, Publish, Resume, Subscribe, Withdraw

_FAR = Instant.parse("2999-12-31T00:00:00Z")
_TREE = {"goods": {"furniture": {"table": {}, "chair": {}}, "vehicle": {"car": {}}}}


def opening() -> list[Draft]:
    """The schema of the first day."""
    changes: list[Change] = [
        CreateDomain(Domain("money", Kind.NUMERIC)),
        CreateDomain(Domain("brand", Kind.ENUMERATED, values=("opel", "mini"))),
        CreateDomain(Domain("kind", Kind.HIERARCHICAL, hierarchy=Hierarchy.from_tree(_TREE))),
        CreateDomain(Domain("words", Kind.STRING)),
        CreateAttribute(Attribute("price", "money")),
        CreateAttribute(Attribute("offers", "money")),
        CreateAttribute(Attribute("brand", "brand")),
        CreateAttribute(Attribute("category", "kind")),
        CreateAttribute(Attribute("title", "words")),
        CreateEventType(
            EventType(
                "sale",
                (
                    AttributeUse("price"),
                    AttributeUse("offers", mandatory=False, unique=False),
                    AttributeUse("brand", mandatory=False),
                    AttributeUse("category", mandatory=False),
                    AttributeUse("title", mandatory=False),
                ),
            )
        ),
    ]
    return [Grow(change) for change in changes]


class Market:
    """Drafts that are all acceptable, one after another; what they are depends on the seed alone."""

    def __init__(self, seed: int, source: str = "market") -> None:
        self._random = random.Random(seed)
        self._source = source
        self._brands = ["opel", "mini"]
        self._nodes = ["goods", "furniture", "table", "chair", "vehicle", "car"]
        self._extra = 0
        self._standing: dict[str, bool] = {}  # id -> paused
        self._events = self._subscriptions = 0

    def drafts(self, count: int, changes: float = 0.1) -> Iterator[Draft]:
        """Each is a change with the given likelihood, else an event."""
        for _ in range(count):
            yield self._change() if self._random.random() < changes else self.event()

    def event(self) -> Draft:
        self._events += 1
        draw = self._random
        attributes: dict[str, object] = {"price": draw.randrange(100)}
        if draw.random() < 0.5:
            attributes["offers"] = sorted({draw.randrange(100) for _ in range(draw.randrange(1, 4))})
        if draw.random() < 0.7:
            attributes["brand"] = draw.choice(self._brands)
        if draw.random() < 0.7:
            attributes["category"] = draw.choice(self._nodes)
        if draw.random() < 0.5:
            attributes["title"] = " ".join(draw.sample(["old", "red", "mini", "new", "table"], 2))
        if self._extra and draw.random() < 0.5:
            attributes[f"extra{draw.randrange(self._extra)}"] = draw.randrange(10)
        raw = {"id": f"e{self._events}", "source": self._source, "event_type": "sale", "attributes": attributes}
        return Publish(raw)

    def subscribe(self) -> Draft:
        self._subscriptions += 1
        id = f"s{self._subscriptions}"
        self._standing[id] = False
        return Subscribe(id, self.filter())

    def filter(self) -> str:
        draw = self._random
        low = draw.randrange(90)
        choices = [
            f"price between {low} and {low + 10}",
            f"price < {low} and brand = '{draw.choice(self._brands)}'",
            f"brand != '{draw.choice(self._brands)}' and price >= {low}",
            f"category under '{draw.choice(self._nodes)}' and price > {low}",
            f"not (category under '{draw.choice(self._nodes)}') and price < {low}",
            f"offers > {low} and offers < {low + 5}",
            f"offers contains {low} or price = {low}",
            "offers > price and title contains 'red'",
            f"title contains any 'old new' and price > {low}",
            f"not (brand exists) and price < {low}",
            f"event_type contains sale and price in ({low}, {low + 1}, {low + 2})",
        ]
        if self._extra:
            choices.append(f"extra{draw.randrange(self._extra)} >= {draw.randrange(10)}")
        return draw.choice(choices)

    def _change(self) -> Draft:
        draw = self._random
        if draw.random() < 0.5 or not self._standing:
            return self.subscribe()
        id = draw.choice(sorted(self._standing))
        match draw.randrange(5):
            case 0:
                del self._standing[id]
                return Withdraw(id)
            case 1 | 2:
                self._standing[id] = not self._standing[id]
                return Pause(id) if self._standing[id] else Resume(id)
            case 3:
                if draw.random() < 0.3:  # when it ends, and where it is sent: no matter of its filter
                    return Edit(id, expiry=_FAR, delivery="elsewhere")
                return Edit(id, self.filter())
            case _:
                return Grow(self._growth())

    def _growth(self) -> Change:
        match self._random.randrange(3):
            case 0:
                self._brands.append(f"brand{len(self._brands)}")
                return AppendValue("brand", self._brands[-1])
            case 1:
                self._nodes.append(f"node{len(self._nodes)}")
                return AppendNode("kind", self._nodes[-1], self._random.choice(self._nodes[:-1]))
            case _:
                return self._wider_type()

    def _wider_type(self) -> Change:
        """A new attribute in two steps: it is made, and next time the type is extended by it."""
        if self._pending is None:
            self._pending = f"extra{self._extra}"
            return CreateAttribute(Attribute(self._pending, "money"))
        name, self._pending = self._pending, None
        self._extra += 1
        return ExtendEventType("sale", AttributeUse(name, mandatory=False))

    _pending: str | None = None
