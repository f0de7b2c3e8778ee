"""Heartbeats over every link, link states over all live ones, and the tree that follows from them."""

from __future__ import annotations

import math

from tidings.overlay import interests, orders, repair
from tidings.overlay.durable import Renumbered
from tidings.overlay.messages import Heartbeat, HeartbeatAnswer, LinkStates
from tidings.overlay.server import LinkLife, Server
from tidings.overlay.tree import first_hops, mutual_links, spanning_tree
from tidings.overlay.values import BEGINNING, UNHEARD, LinkState, Stamp, Version

_MINUTE = 60.0


def join(server: Server, neighbour: str, weight: float | None) -> None:
    server.links[neighbour] = LinkLife(fixed=weight is not None, weight=1.0 if weight is None else weight)


def part(server: Server, neighbour: str) -> None:
    link = server.links.pop(neighbour, None)
    server.held.pop(neighbour, None)
    server.selectors.pop(neighbour, None)
    if link and link.alive:
        announce(server)


def tick(server: Server) -> None:
    if server.now < server.next_beat:
        return
    server.next_beat = server.now + server.timing.heartbeat
    changed = [_judge(server, link) for link in server.links.values()]
    if any(changed):
        announce(server)
    heads = dict(server.heads)
    for neighbour, link in server.links.items():
        held = server.held.get(neighbour)
        link.unanswered += 1
        beat = Heartbeat(
            version=Version(server.incarnation, server.number),
            sent=server.now,
            known=_known(server),
            heads=heads,
            holds=held.version if held else UNHEARD,
            rule=server.durable.rule,
            schema=len(server.durable.orders),
            digest=server.digests[-1],
        )
        server.send(neighbour, beat)


def _known(server: Server) -> dict[str, Version]:
    """The version of each link state; made once for many heartbeats, which share it."""
    if server.known is None:
        server.known = {name: state.version for name, state in server.states.items()}
    return server.known


def _judge(server: Server, link: LinkLife) -> bool:
    """Whether the link died or came to life."""
    timing, now = server.timing, server.now
    if link.unanswered >= timing.most_unanswered or link.conflict:
        link.answering_since = None
        if link.alive:
            link.alive = False
            link.deaths.append(now)
            return True
    elif not link.alive and link.answering_since is not None:
        link.deaths = [death for death in link.deaths if now - death < timing.deaths_count]
        wait = min(timing.revival * 2 ** len(link.deaths), timing.longest_revival)
        if now - link.answering_since >= wait:
            link.alive = True
            return True
    return False


def on_answer(server: Server, neighbour: str, answer: HeartbeatAnswer) -> None:
    link = server.links[neighbour]
    if answer.version.incarnation != server.incarnation or not link.answered < answer.sent <= server.now:
        return  # late, doubled, made up, or for an earlier life
    orders.on_heartbeat_answer(server, link, answer)
    link.answered, link.unanswered = answer.sent, 0
    if link.answering_since is None:
        link.answering_since = server.now
    if not link.fixed and _measure(server, link, server.now - answer.sent) and link.alive:
        announce(server)


def _measure(server: Server, link: LinkLife, seconds: float) -> bool:
    """Whether the weight changed: to the round trip's power of two, once it has been the same for a minute."""
    step = 2.0 ** math.ceil(math.log2(max(seconds * 1000, 1.0)))
    if step != link.other_weight:
        link.other_weight, link.other_since = step, server.now
    due = server.now - link.other_since >= server.timing.steady_weight or not link.alive
    if not due or link.weight == step:
        return False
    link.weight = step
    return True


def announce(server: Server) -> None:
    """A new link state of this server's own."""
    live = tuple(sorted((name, link.weight) for name, link in server.links.items() if link.alive))
    server.states[server.name] = LinkState(server.identity, server.next_version(), live)
    _states_changed(server)
    _pass_on(server, [server.name], giver=None)


def _states_changed(server: Server) -> None:
    server.known, server.stale_tree = None, True


def _pass_on(server: Server, names: list[str], giver: str | None) -> None:
    states = tuple((name, server.states[name]) for name in names)
    for neighbour, link in server.links.items():
        if link.alive and neighbour != giver and states:
            server.send(neighbour, LinkStates(states))


def on_states(server: Server, neighbour: str, states: tuple[tuple[str, LinkState], ...]) -> None:
    newer = []
    room = server.limits.listed - sum(len(state.weights) for state in server.states.values())
    for name, state in states:
        if name == server.name:
            if state.identity != server.identity:
                server.leave(f"another server is named {name}")
                return
            _heard_of_itself(server, state.version)
        elif name not in server.struck_off and state.version.incarnation <= server.latest:
            known = server.states.get(name)
            more = len(state.weights) - len(known.weights if known else ())
            if not server.has_room_for(name, server.states) or more > room:
                continue
            if known is None or state.version > known.version:
                server.states[name] = state
                room -= more
                newer.append(name)
    if newer:
        _states_changed(server)
        _pass_on(server, newer, giver=neighbour)


def on_heartbeat(server: Server, neighbour: str, beat: Heartbeat) -> None:
    agrees = orders.on_heartbeat(server, neighbour, beat)
    server.send(neighbour, HeartbeatAnswer(beat.version, beat.sent, server.schema, not agrees))
    if not agrees:
        return
    _heard_of_itself(server, beat.known.get(server.name, UNHEARD), beat.heads.get(server.name, BEGINNING))
    if server.left:
        return
    repair.hear(server, beat.heads)
    if server.links[neighbour].alive and beat.known != _known(server):
        lacking = [name for name, state in server.states.items() if state.version > beat.known.get(name, UNHEARD)]
        if lacking:
            server.send(neighbour, LinkStates(tuple((name, server.states[name]) for name in lacking)))
    interests.on_holds(server, neighbour, beat.holds)


def _heard_of_itself(server: Server, version: Version, head: Stamp = BEGINNING) -> None:
    """Under a later number or head than its own: it was restored, or has a twin, or somebody lies."""
    told = max(version.incarnation, head.incarnation)
    is_later = version > server.states[server.name].version or head > server.heads[server.name]
    if not is_later or told > server.latest:
        return
    server.renumbered = [*(at for at in server.renumbered if server.now - at < _MINUTE), server.now]
    if len(server.renumbered) > server.limits.renumberings:
        server.leave("another server has its name and identity")
        return
    server.write(Renumbered(max(told, server.incarnation) + 1))
    server.heads[server.name] = Stamp(server.incarnation, server.durable.journal.position)
    server.posted.clear()  # they are numbered by the old incarnation
    server.stale_interests = True
    for queue in server.queues.values():
        queue.sent = 0
    announce(server)


def follow_tree(server: Server) -> None:
    """Where link states changed: the tree anew. Queues of links that leave it are dropped; repair fetches the rest."""
    if not server.stale_tree:
        return
    server.stale_tree = False
    tree = spanning_tree(mutual_links(server.states))
    if tree == server.tree:
        return
    server.tree, server.tree_changed_at = tree, server.now
    server.tree_changes += 1
    server.hops = first_hops(tree, server.name)
    server.neighbours = tuple(sorted(name for name, hop in server.hops.items() if name == hop))
    for gone in set(server.posted) - set(server.neighbours):
        del server.posted[gone]
    for gone in set(server.queues) - set(server.neighbours):
        del server.queues[gone]
    server.stale_interests = True
    repair.tree_changed(server)
