"""`receive`: the one door of the machine. A message or command goes in; messages, changes and answers come out."""

from __future__ import annotations

from typing import assert_never

from tidings.overlay import forwarding, interests, links, moves, orders, queries, repair, settling
from tidings.overlay.durable import Advertised, Began, Durable, Forgotten, Subscribed, Unsubscribed, Withdrawn
from tidings.overlay.filters import Filters
from tidings.overlay.messages import (
    Adopt,
    Advertise,
    Answer,
    Ask,
    Command,
    Events,
    Follow,
    Forget,
    From,
    Heartbeat,
    HeartbeatAnswer,
    Join,
    LinkStates,
    Luggage,
    Message,
    Move,
    MovedIn,
    MoveIn,
    MoveRefused,
    OrderAnswer,
    OrderRequest,
    Orders,
    Part,
    Posted,
    Probe,
    Probed,
    Publish,
    Query,
    Refused,
    Request,
    Routed,
    Search,
    Searched,
    Settle,
    Stowed,
    Subscribe,
    TakeHome,
    Taken,
    Tick,
    Unsubscribe,
    Withdraw,
)
from tidings.overlay.server import Outcome, Server
from tidings.overlay.values import Limits, Stamp, Timing


def start(
    name: str,
    identity: str,
    durable: Durable,
    filters: Filters,
    now: float,
    *,
    restored: bool = False,
    timing: Timing | None = None,
    limits: Limits | None = None,
) -> tuple[Server, Outcome]:
    """A new incarnation: above the last, and not below the clock in ms."""
    server = Server(name, identity, filters, durable, timing or Timing(), limits or Limits(), now)
    last = durable.incarnations[-1].number if durable.incarnations else 0
    server.write(Began(max(last + 1, int(now * 1000)), restored))
    server.heads[name] = Stamp(server.incarnation, durable.journal.position)
    orders.load(server)
    interests.own_changed(server)
    links.announce(server)
    return server, server.outcome()


def receive(server: Server, message: From | Command, now: float) -> tuple[Server, Outcome]:
    """The server is changed in place, and nothing else is: a copy that receives the same gives the same."""
    server.now = now
    if server.left:
        if not isinstance(message, From | Tick):
            server.tell(Refused(message, f"this server left the network: {server.left}"))
    elif isinstance(message, From):
        if message.neighbour in server.links:
            _from_neighbour(server, message.neighbour, message.message)
    else:
        _command(server, message)
    return server, server.outcome()


def _from_neighbour(server: Server, neighbour: str, message: Message) -> None:
    match message:
        case Heartbeat():
            links.on_heartbeat(server, neighbour, message)
        case HeartbeatAnswer():
            links.on_answer(server, neighbour, message)
        case LinkStates(states):
            links.on_states(server, neighbour, states)
        case Posted(interest):
            interests.on_posted(server, neighbour, interest)
        case Events():
            forwarding.on_events(server, neighbour, message)
        case Taken(version):
            forwarding.on_taken(server, neighbour, version)
        case Orders():
            orders.on_orders(server, message)
        case Routed():
            _routed(server, message)
        case Probe():
            settling.on_probe(server, neighbour, message)
        case Probed(name):
            settling.on_probed(server, neighbour, name)
        case _:
            assert_never(message)


def _routed(server: Server, message: Routed) -> None:
    if message.to != server.name:
        server.route(message.to, message.body, message.hops - 1)
        return
    match message.body:
        case Ask():
            repair.on_ask(server, message.body)
        case Answer():
            repair.on_answer(server, message.body)
        case OrderRequest():
            orders.on_request(server, message.body)
        case OrderAnswer():
            orders.on_answer(server, message.body)
        case MoveIn():
            moves.on_move_in(server, message.body)
        case Search():
            queries.on_search(server, message.body)
        case Searched():
            queries.on_searched(server, message.body)
        case MoveRefused():
            moves.on_refused(server, message.body)
        case MovedIn(subscription, version):
            moves.on_moved_in(server, subscription, version)
        case Luggage(schema=schema):
            if schema <= server.schema:  # else it is sent again
                server.tell(message.body)
        case Stowed():
            server.tell(message.body)
        case _:
            assert_never(message.body)


def _command(server: Server, command: Command) -> None:
    match command:
        case Tick():
            _tick(server)
        case Join(neighbour, weight):
            links.join(server, neighbour, weight)
        case Part(neighbour):
            links.part(server, neighbour)
        case Subscribe(subscription, filter):
            server.write(Subscribed(subscription, filter))
            interests.own_changed(server)
        case Unsubscribe(subscription):
            server.write(Unsubscribed(subscription))
            server.moving.pop(subscription, None)
            interests.own_changed(server)
        case Advertise(advertisement, filter):
            server.write(Advertised(advertisement, filter))
            interests.own_changed(server)
        case Withdraw(advertisement):
            server.write(Withdrawn(advertisement))
            interests.own_changed(server)
        case Publish():
            forwarding.publish(server, command)
        case Follow(events):
            forwarding.follow(server, events)
        case Adopt(filters):
            interests.adopt(server, filters)
        case Query():
            queries.query(server, command)
        case Settle(name):
            settling.settle(server, name)
        case Forget(position):
            server.write(Forgotten(min(position, server.durable.journal.position)))
        case Request():
            orders.request(server, command)
        case TakeHome():
            orders.take_home(server)
        case Move():
            moves.move(server, command)
        case _:
            assert_never(command)


def _tick(server: Server) -> None:
    links.tick(server)
    links.follow_tree(server)
    interests.post(server)
    forwarding.tick(server)
    repair.tick(server)
    orders.tick(server)
    moves.tick(server)
    settling.tick(server)
