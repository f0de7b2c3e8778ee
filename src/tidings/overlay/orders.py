"""The log that one server, the home, orders: growth of the schema, the distribution, its successor, servers struck off.

Every server has a prefix of it and passes it on. A link between two servers is not alive while neither's log begins
with the other's: whoever strayed is kept out.

Two rules keep the log one. A server becomes the home only with the whole log of the last one. After a start, a home
orders nothing before it knows that no linked server has more of the log: it may have been restored from a backup.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import accumulate

from tidings.overlay import interests
from tidings.overlay.durable import Ordered, Ruled
from tidings.overlay.messages import (
    Granted,
    Heartbeat,
    HeartbeatAnswer,
    OrderAnswer,
    OrderRequest,
    Orders,
    Refused,
    Request,
)
from tidings.overlay.server import LinkLife, Server
from tidings.overlay.values import Distribute, Order, Rule, StrikeOff, Succeed

_AGAIN = 5.0  # seconds until a request is repeated
_PATIENCE = 30.0  # seconds until it is refused
_NOT_HEARD = (
    "the home {home!r} has started and not heard from {silent} yet, which may have growth that it lacks;"
    " start {silent}, remove the link, or run `tidings network --take-home` at the server with the longest schema"
)


def load(server: Server) -> None:
    """After a start: what the stored orders say."""
    for request, order in server.durable.orders:
        _follow(server, request, order)


def take_home(server: Server) -> None:
    """The operator says that no server which cannot be reached has more of the log."""
    server.write(Ruled(Rule(server.durable.rule.term + 1, server.name)))
    for link in server.links.values():
        link.level = True


def request(server: Server, command: Request) -> None:
    home = server.durable.rule.home
    if home == server.name or home in server.hops:
        server.requests[command.request] = command, server.now
        _ask(server, command)
    else:
        known = f"the home {home!r} cannot be reached" if home else "this server has not heard from the home yet"
        server.tell(Refused(command, known))


def _ask(server: Server, command: Request) -> None:
    asked = OrderRequest(server.name, command.request, command.order)
    if server.durable.rule.home == server.name:
        on_request(server, asked)
    else:
        server.route(server.durable.rule.home, asked)


def tick(server: Server) -> None:
    for name, (command, since) in list(server.requests.items()):
        if server.now - since > _PATIENCE:
            del server.requests[name]
            server.tell(Refused(command, "the home did not answer; repeat the request under the same id"))
        elif server.durable.rule.home == server.name or (server.now - since) % _AGAIN < server.timing.heartbeat:
            _ask(server, command)


def on_request(server: Server, asked: OrderRequest) -> None:
    """At the home. It answers once another server has stored the order, if there is any that was not struck off."""
    if server.durable.rule.home != server.name:
        return  # it was once; the requester will hear of the new one
    places = {request: place for place, (request, _) in enumerate(server.durable.orders, 1)}
    if asked.request not in places:
        order = asked.order
        if missing := _not_level(server, order):
            silent = [one for one in missing if server.links[one].unanswered >= server.timing.most_unanswered]
            if silent:
                _answer(server, asked, _NOT_HEARD.format(home=server.name, silent=", ".join(silent)))
            return  # those that answer are soon known to be level: it is asked again
        if reason := server.refuses(order):
            _answer(server, asked, reason)
            return
        if isinstance(order, Succeed):
            order = replace(order, term=server.durable.rule.term + 1)
        _store(server, ((asked.request, order),))
        _pass_on(server)
    place = places.get(asked.request, server.schema)
    server.promised[asked.request] = asked.requester, place
    if asked.requester == server.name:
        server.requests.pop(asked.request, None)
    _keep_promises(server)


def _not_level(server: Server, order: Order) -> list[str]:
    """Linked servers that may have more of the log. An order that strikes one off does not wait for it."""
    lost = {*server.struck_off, order.server} if isinstance(order, StrikeOff) else server.struck_off
    return [name for name, link in server.links.items() if not link.level and name not in lost]


def _answer(server: Server, asked: OrderRequest, refused: str) -> None:
    answer = OrderAnswer(asked.request, 0, refused)
    if asked.requester == server.name:
        on_answer(server, answer)
    else:
        server.route(asked.requester, answer)


def _keep_promises(server: Server) -> None:
    for name, (requester, place) in list(server.promised.items()):
        if place <= server.stored_elsewhere or server.links.keys() <= server.struck_off:
            del server.promised[name]
            if requester == server.name:
                server.tell(Granted(name, place))
            else:
                server.route(requester, OrderAnswer(name, place))


def on_answer(server: Server, answer: OrderAnswer) -> None:
    if waiting := server.requests.pop(answer.request, None):
        refused = Refused(waiting[0], answer.refused)
        server.tell(refused if answer.refused else Granted(answer.request, answer.version))


def on_heartbeat(server: Server, neighbour: str, beat: Heartbeat) -> bool:
    """Whether the neighbour's log and this server's agree as far as both go."""
    link = server.links[neighbour]
    ahead = beat.schema > server.schema
    if not ahead:
        link.conflict = server.digests[beat.schema] != beat.digest
    if link.conflict or neighbour in server.struck_off:
        link.conflict = True
        return False
    if ahead:
        link.level = False
    elif beat.rule > server.durable.rule and _is_near(
        server, beat.rule.term
    ):  # only with the log that the rule was made with
        server.write(Ruled(beat.rule))
    if beat.schema < server.schema:
        _send(server, neighbour, beat.schema)
    server.stored_elsewhere = max(server.stored_elsewhere, min(beat.schema, server.schema))
    _keep_promises(server)
    return True


def on_heartbeat_answer(server: Server, link: LinkLife, answer: HeartbeatAnswer) -> None:
    """It was sent in this life of this server. Only the server with the longer log sees a conflict."""
    ahead = answer.schema > server.schema
    link.level = answer.conflict or not ahead
    if ahead:
        link.conflict = answer.conflict


def _is_near(server: Server, term: int) -> bool:
    """Each term is an operator's command: a home that is many terms on is not believed, or nobody could succeed it."""
    return term <= server.durable.rule.term + server.limits.terms


def on_orders(server: Server, message: Orders) -> None:
    if message.start > server.schema or server.digests[message.start] != message.digest:
        return  # a later piece than fits, or of another log
    if not all(_is_near(server, order.term) for _, order in message.orders if isinstance(order, Succeed)):
        return
    known = server.schema - message.start
    if message.orders[:known] == tuple(server.durable.orders[message.start :]) and len(message.orders) > known:
        _store(server, message.orders[known:])
        _pass_on(server)


def _pass_on(server: Server) -> None:
    for neighbour, link in server.links.items():
        if link.alive:
            _send(server, neighbour, server.schema - 1)


def _send(server: Server, neighbour: str, start: int) -> None:
    """As many as fit into one message; the neighbour's next heartbeat says which are still missing."""
    some = server.durable.orders[start : start + server.limits.batch]
    ends = accumulate(server.size_of_order(order) for _, order in some)
    fit = sum(end <= server.limits.bytes for end in ends)
    server.send(neighbour, Orders(start, server.digests[start], tuple(some[: max(fit, 1)])))


def _store(server: Server, orders: tuple[tuple[str, Order], ...]) -> None:
    server.write(Ordered(orders))
    for name, order in orders:
        _follow(server, name, order)


def append_known(server: Server, orders: tuple[tuple[str, Order], ...]) -> None:
    """What the driver's schema has beyond the orders: of a time when nobody ordered."""
    _store(server, orders)
    _pass_on(server)


def _follow(server: Server, name: str, order: Order) -> None:
    server.digests.append(sha256(f"{server.digests[-1]} {name} {order!r}".encode()).hexdigest())
    if isinstance(order, Distribute):
        server.distribution = order.distribution
        interests.own_changed(server)
    elif isinstance(order, StrikeOff):
        server.struck_off.add(order.server)
        server.states.pop(order.server, None)
        server.heads.pop(order.server, None)
        server.behind.pop(order.server, None)
        server.asked.pop(order.server, None)
        server.known, server.stale_tree = None, True
        if order.server == server.name:
            server.leave("it was struck off")
