"""Messages between servers as bytes: MessagePack, a list of pairs of a kind and its members.

What a neighbour sends is bounded before anything is done with it: how many messages, names, filters and events there
are, and how long each may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import msgspec

from tidings.errors import Explained, TidingsError
from tidings.network.contents import Page
from tidings.network.wire_shapes import MOST_MESSAGES, SHAPES, Event, Name, Order, State
from tidings.overlay import messages as m
from tidings.overlay import values as v

LARGEST = 8 << 20  # bytes of one request between servers


class WrongMessage(Explained, TidingsError):
    """A neighbour sent something that is not a message, or more than is allowed."""

    reason: str
    template = "the neighbour sent an unreadable message: {reason}; check that both run the same version"


_READERS = {kind: msgspec.msgpack.Decoder(shape).decode for kind, shape in SHAPES.items()}
_read_all = msgspec.msgpack.Decoder(
    Annotated[list[tuple[str, msgspec.Raw]], msgspec.Meta(max_length=MOST_MESSAGES)]
).decode
_encode = msgspec.msgpack.Encoder().encode


def encode(some: Iterable[m.Message]) -> bytes:
    return _encode([_written(one) for one in some])


def encode_one(message: m.Message) -> bytes:
    return _encode(_written(message))


def pack(pieces: Iterable[bytes]) -> bytes:
    """One request of messages that `encode_one` wrote."""
    return _encode([msgspec.Raw(one) for one in pieces])


def decode(data: bytes) -> list[m.Message]:
    """Raises WrongMessage."""
    if len(data) > LARGEST:
        raise WrongMessage(f"more than {LARGEST >> 20} MiB")
    try:
        return [_message(kind, _read(kind, body)) for kind, body in _read_all(data)]
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as problem:
        raise WrongMessage(str(problem)) from None


def _read(kind: str, body: msgspec.Raw) -> Any:
    if kind not in _READERS:
        raise WrongMessage(f"unknown message type {kind[:40]!r}")
    return _READERS[kind](body)


def _written(message: m.Message) -> tuple[str, object]:
    match message:
        case m.Heartbeat():
            members = (message.version, message.sent, message.known, message.heads, message.holds, message.rule)
            return "heartbeat", (*members, message.schema, message.digest)
        case m.HeartbeatAnswer():
            return "beaten", (message.version, message.sent, message.schema, message.conflict)
        case m.LinkStates(states):
            return "states", ([(name, one.identity, one.version, one.weights) for name, one in states],)
        case m.Posted(interest):
            return "posted", (interest.version, interest.filters, interest.advertisements, interest.schema)
        case m.Events(version, events):
            return "events", (version, _events(events))
        case m.Taken(version):
            return "taken", (version,)
        case m.Orders(start, digest, orders):
            return "orders", (start, digest, [write_order(request, order) for request, order in orders])
        case m.Routed(to, hops, body):
            kind, routed = _body(body)
            return "routed", (to, hops, kind, routed)
        case m.Probe(name, version):
            return "probe", (name, version)
        case m.Probed(name):
            return "probed", (name,)


def _body(body: m.Body) -> tuple[str, object]:
    match body:
        case m.Ask():
            members = (body.asker, body.life, body.filters, body.mark, body.head, sorted(body.has), body.schema)
            return "ask", members
        case m.Answer():
            gap = None if body.gap is None else (body.gap.after, body.gap.through)
            return "answer", (body.origin, body.life, _events(body.events), body.mark, gap, body.schema)
        case m.OrderRequest():
            return "order", (body.requester, body.request, write_order(body.request, body.order))
        case m.OrderAnswer():
            return "ordered", (body.request, body.version, body.refused)
        case m.Search():
            return "search", (body.asker, body.name, body.filter, body.most, body.schema)
        case m.Searched():
            return "searched", (body.name, body.server, _events(body.events), body.all)
        case m.MoveIn():
            named = (body.giver, body.version, body.subscription, body.filter)
            return "move", (*named, dict(body.marks), body.cargo, body.schema)
        case m.MovedIn(subscription, version):
            return "moved", (subscription, version)
        case m.MoveRefused(subscription, reason):
            return "not moved", (subscription, reason)
        case m.Luggage():
            return "luggage", (body.giver, body.subscription, body.after, body.upto, body.cargo, body.schema)
        case m.Stowed(subscription, upto, refused):
            return "stowed", (subscription, upto, refused)


def _events(events: Sequence[v.Event]) -> list[object]:
    return [(one.source, one.id, _payload(one.content), one.origin, *one.stamp, one.schema) for one in events]


def _payload(content: object) -> str:
    return content.payload  # type: ignore[attr-defined,no-any-return]


def _message(kind: str, got: Any) -> m.Message:
    match kind:
        case "heartbeat":
            known = {name: v.Version(*one) for name, one in got.known.items()}
            heads = {name: v.Stamp(*one) for name, one in got.heads.items()}
            rule, holds = v.Rule(*got.rule), v.Version(*got.holds)
            return m.Heartbeat(v.Version(*got.version), got.sent, known, heads, holds, rule, got.schema, got.digest)
        case "beaten":
            return m.HeartbeatAnswer(v.Version(*got.version), got.sent, got.schema, got.conflict)
        case "states":
            return m.LinkStates(tuple((one.name, _state(one)) for one in got.states))
        case "posted":
            version = v.Version(*got.version)
            return m.Posted(v.Interest(version, tuple(got.filters), tuple(got.advertisements), got.schema))
        case "events":
            return m.Events(v.Version(*got.version), _read_events(got.events))
        case "taken":
            return m.Taken(v.Version(*got.version))
        case "orders":
            return m.Orders(got.start, got.digest, tuple(read_order(*one) for one in got.orders))
        case "routed":
            return m.Routed(got.to, got.hops, _read_body(got.kind, _read(got.kind, got.body)))
        case "probe":
            return m.Probe(got.name, v.Version(*got.version))
        case "probed":
            return m.Probed(got.name)
    raise WrongMessage(f"{kind[:40]!r} cannot be sent on its own")


def _read_body(kind: str, got: Any) -> m.Body:
    match kind:
        case "ask":
            has = frozenset(v.Stamp(*one) for one in got.has)
            mark, head = v.Stamp(*got.mark), v.Stamp(*got.head)
            return m.Ask(got.asker, v.Version(*got.life), tuple(got.filters), mark, head, has, got.schema)
        case "answer":
            gap = None if got.gap is None else v.Gap(got.origin, *got.gap)
            events, mark = _read_events(got.events), v.Stamp(*got.mark)
            return m.Answer(got.origin, v.Version(*got.life), events, mark, gap, got.schema)
        case "order":
            return m.OrderRequest(got.requester, got.request, read_order(*got.order)[1])
        case "ordered":
            return m.OrderAnswer(got.request, got.version, got.refused)
        case "search":
            return m.Search(got.asker, got.name, got.filter, got.most, got.schema)
        case "searched":
            return m.Searched(got.name, got.server, _read_events(got.events), got.all)
        case "move":
            marks = tuple(sorted((name, v.Stamp(*one)) for name, one in got.marks.items()))
            version = v.Version(*got.version)
            return m.MoveIn(got.giver, version, got.subscription, got.filter, marks, got.cargo, got.schema)
        case "moved":
            return m.MovedIn(got.subscription, v.Version(*got.version))
        case "luggage":
            return m.Luggage(got.giver, got.subscription, got.after, got.upto, got.cargo, got.schema)
        case "stowed":
            return m.Stowed(got.subscription, got.upto, got.refused)
        case "not moved":
            return m.MoveRefused(got.subscription, got.reason)
    raise WrongMessage(f"{kind[:40]!r} cannot be routed")


def _state(one: State) -> v.LinkState:
    return v.LinkState(one.identity, v.Version(*one.version), tuple(sorted((name, w) for name, w in one.weights)))


def _read_events(events: Sequence[Event]) -> tuple[v.Event, ...]:
    contents = Page([one[2] for one in events]).contents
    return tuple(
        v.Event(source, id, content, origin, v.Stamp(incarnation, position), schema)
        for (source, id, _, origin, incarnation, position, schema), content in zip(events, contents, strict=True)
    )


_ORDERS: dict[str, Callable[[str, int], v.Order]] = {
    "growth": lambda body, _: v.Growth(body),
    "distribute": lambda body, _: v.Distribute(_distribution(body)),
    "succeed": lambda body, term: v.Succeed(_name(body), term),
    "strike off": lambda body, _: v.StrikeOff(_name(body)),
}


def write_order(request: str, order: v.Order) -> Order:
    match order:
        case v.Growth(change):
            return request, "growth", str(change), 0
        case v.Distribute(distribution):
            return request, "distribute", distribution, 0
        case v.Succeed(home, term):
            return request, "succeed", home, term
        case v.StrikeOff(server):
            return request, "strike off", server, 0


def read_order(request: str, kind: str, body: str, term: int) -> tuple[str, v.Order]:
    """Raises WrongMessage."""
    if kind not in _ORDERS:
        raise WrongMessage(f"unknown order {kind[:40]!r}")
    return request, _ORDERS[kind](body, term)


def _name(text: str) -> str:
    try:
        return msgspec.convert(text, Name)
    except msgspec.ValidationError:
        raise WrongMessage(f"{text[:60]!r} cannot be the name of a server") from None


def _distribution(text: str) -> v.Distribution:
    for one in ("events", "subscriptions", "advertisements"):
        if text == one:
            return one
    raise WrongMessage(f"unknown distribution {text[:40]!r}")
