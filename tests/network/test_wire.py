"""Messages as bytes, and back."""

import pytest

from tidings.network.contents import Page
from tidings.network.wire import LARGEST, WrongMessage, decode, encode
from tidings.overlay import messages as m
from tidings.overlay import values as v

VERSION, STAMP = v.Version(5, 6), v.Stamp(7, 8)
ORDERS = (
    ("1", v.Growth('{"change": 1}')),
    ("2", v.Distribute("events")),
    ("3", v.Succeed("berlin", 4)),
    ("4", v.StrikeOff("cairo")),
)
MESSAGES: list[m.Message] = [
    m.Heartbeat(VERSION, 1.5, {"a": VERSION}, {"a": STAMP}, VERSION, v.Rule(1, "a"), 3, "digest"),
    m.HeartbeatAnswer(VERSION, 1.5, 3, True),
    m.LinkStates((("a", v.LinkState("identity", VERSION, (("b", 2.0),))),)),
    m.Posted(v.Interest(VERSION, ("price < 5",), ("price > 1",), 2)),
    m.Taken(VERSION),
    m.Orders(0, "", ORDERS),
    m.Probe("name", VERSION),
    m.Probed("name"),
    m.Routed("a", 9, m.Ask("b", VERSION, ("price < 5",), STAMP, v.Stamp(9, 9), frozenset({STAMP}), 1)),
    m.Routed("a", 9, m.OrderRequest("b", "request", v.Distribute("subscriptions"))),
    m.Routed("a", 9, m.OrderAnswer("request", 3, "why")),
    m.Routed("a", 9, m.Search("b", "name", "price < 5", 10, 2)),
    m.Routed("a", 9, m.MoveIn("b", VERSION, "wish", "price < 5", (("c", STAMP),), b"cargo", 2)),
    m.Routed("a", 9, m.MovedIn("wish", VERSION)),
    m.Routed("a", 9, m.MoveRefused("wish", "why")),
    m.Routed("a", 9, m.Luggage("b", "wish", 3, 9, b"cargo", 2)),
    m.Routed("a", 9, m.Stowed("wish", 9, "why")),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: type(one).__name__)
def test_a_message_comes_back_as_it_was(message: m.Message) -> None:
    assert decode(encode([message, message])) == [message, message]


def test_events_come_back_with_their_contents() -> None:
    content = Page(['{"id": "1"}']).contents[0]
    event = v.Event("source", "1", content, "a", STAMP, 3)
    answer = m.Answer("a", VERSION, (event,), STAMP, v.Gap("a", 1, 2), 3)
    sent, routed = decode(encode([m.Events(VERSION, (event,)), m.Routed("b", 1, answer)]))
    assert isinstance(sent, m.Events)
    assert isinstance(routed, m.Routed)
    assert isinstance(routed.body, m.Answer)
    assert routed.body.gap == answer.gap
    for (got,) in (sent.events, routed.body.events):
        assert (got.key, got.origin, got.stamp, got.schema) == (event.key, "a", STAMP, 3)
        assert got.content.payload == content.payload  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "message",
    [
        m.Posted(v.Interest(VERSION, tuple(f"price < {one}" for one in range(10_001)), (), 0)),
        m.Posted(v.Interest(VERSION, ("x" * 70_000,), (), 0)),
        m.Probed("x" * 101),
        m.Taken(v.Version(-1, 0)),
        m.Routed("a", 5_000, m.OrderAnswer("request", 3)),
    ],
    ids=["many filters", "long filter", "long name", "negative", "many hops"],
)
def test_what_is_too_much_is_refused(message: m.Message) -> None:
    with pytest.raises(WrongMessage):
        decode(encode([message]))


def test_more_bytes_than_allowed_are_not_read() -> None:
    with pytest.raises(WrongMessage, match="8 MiB"):
        decode(bytes(LARGEST + 1))


@pytest.mark.parametrize(
    "message",
    [
        *(
            m.LinkStates((("a", v.LinkState("identity", VERSION, (("b", weight),))),))
            for weight in (float("nan"), float("inf"), -5.0, 0.0)
        ),
        *(m.HeartbeatAnswer(VERSION, sent, 3) for sent in (float("nan"), float("inf"), -1.0)),
        *(m.Orders(0, "", (("r", v.StrikeOff(name)),)) for name in ("", "a\0b", "a b", "a\n", "x" * 61)),
        m.Routed("a", 9, m.MovedIn("wi\0sh", VERSION)),
        m.Routed("a\0", 9, m.MovedIn("wish", VERSION)),
    ],
)
def test_what_no_server_could_keep_is_refused(message: m.Message) -> None:
    with pytest.raises(WrongMessage):
        decode(encode([message]))
