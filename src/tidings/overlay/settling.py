"""When a subscription has settled: a probe goes along the tree behind the interest that has it, and comes back once
everybody holds what follows from that."""

from __future__ import annotations

from tidings.overlay.messages import Probe, Probed, Settled
from tidings.overlay.server import Server

_AGAIN = 0.5  # seconds until a probe is repeated
_PATIENCE = 60.0  # seconds until one that nobody repeats is forgotten
_OWN = ""  # who asks, where it is this server


def settle(server: Server, name: str) -> None:
    server.settling[name] = -_PATIENCE  # with the next tick, which posts the interest first


def tick(server: Server) -> None:
    if server.stale_interests or server.stale_tree:
        return
    for name, last in list(server.settling.items()):
        if server.now - last >= _AGAIN:
            server.settling[name] = server.now
            server.probes.pop((_OWN, name), None)
            _ask(server, _OWN, name)
    for place in [place for place, (_, since) in server.probes.items() if server.now - since > _PATIENCE]:
        del server.probes[place]


def on_probe(server: Server, neighbour: str, probe: Probe) -> None:
    held = server.held.get(neighbour)
    if held is None or held.version < probe.version or server.stale_interests or server.stale_tree:
        return  # not yet: it is sent again
    _ask(server, neighbour, probe.name)


def _ask(server: Server, asker: str, name: str) -> None:
    """All other tree neighbours that hold an interest of this server's."""
    others = {one for one in server.neighbours if one != asker}
    if not others <= server.posted.keys():
        return
    server.probes[asker, name] = set(others), server.now
    if others:
        for one in sorted(others):
            server.send(one, Probe(name, server.posted[one].version))
    else:
        _all_hold(server, asker, name)


def on_probed(server: Server, neighbour: str, name: str) -> None:
    for asker, other in list(server.probes):
        if other == name and asker != neighbour:
            waiting, _ = server.probes[asker, name]
            waiting.discard(neighbour)
            if not waiting:
                _all_hold(server, asker, name)


def _all_hold(server: Server, asker: str, name: str) -> None:
    del server.probes[asker, name]
    if asker != _OWN:
        server.send(asker, Probed(name))
    elif server.settling.pop(name, None) is not None:
        server.tell(Settled(name))
