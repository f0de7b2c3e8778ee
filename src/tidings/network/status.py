"""What a server knows of its network, for people and programs."""

from __future__ import annotations

from typing import Any

from tidings.network.node import Node
from tidings.overlay.interests import follow_own
from tidings.overlay.tree import mutual_links


def described(node: Node) -> dict[str, Any]:
    """For `tidings network` and the page: servers, links, tree, interests, and how far behind each link is."""
    server = node.server
    follow_own(server)
    now = node.now()
    links = []
    for name, life in sorted(server.links.items()):
        queue, postman = server.queues.get(name), node.postmen.get(name)
        held = server.held.get(name)
        posted = server.posted.get(name)
        state = "alive" if life.alive else "kept out: the schemas differ" if life.conflict else "not answering"
        if not life.alive and not life.conflict and life.answering_since is not None:
            state = "coming up"
        links.append(
            {
                "name": name,
                "url": node.links[name].url if name in node.links else "",
                "state": state,
                "in_tree": name in server.neighbours,
                "weight": life.weight,
                "waiting": len(queue.waiting) if queue else 0,
                "behind_seconds": round(now - queue.waiting[0][2], 1) if queue and queue.waiting else 0.0,
                "interest": len(held.filters) if held else 0,
                "posted": len(posted.filters) if posted else 0,
                "advertised": len(held.advertisements) if held else 0,
                "events": postman.carried.events if postman else 0,
                "bytes": postman.carried.bytes if postman else 0,
                "sent_per_second": node.rates.per_second("to", name),
                "received_per_second": node.rates.per_second("from", name),
                "problem": postman.carried.problem if postman else "",
            }
        )
    servers = []
    for name in sorted({*server.states, *server.heads}):
        head, mark = server.heads.get(name), server.durable.marks.get(name)
        servers.append(
            {
                "name": name,
                "reached": name == server.name or name in server.hops,
                "head": head.position if head else 0,
                "mark": (head.position if head else 0) if name == server.name else (mark.position if mark else 0),
                "level": name == server.name or name not in server.behind,
            }
        )
    return {
        "name": server.name,
        "incarnation": server.incarnation,
        "problem": node.problem,
        "home": server.durable.rule.home,
        "term": server.durable.rule.term,
        "distribution": server.distribution,
        "schema": server.schema,
        "servers": servers,
        "links": links,
        "tree": sorted(map(list, server.tree)),
        "mutual": [
            {"servers": list(link), "weight": weight} for link, weight in sorted(mutual_links(server.states).items())
        ],
        "filters": len(server.wanted),
        "advertisements": [
            {"id": one.id, "account": one.owner, "filter": one.filter} for one in node.store.advertisements()
        ],
        "gaps": [{"origin": one.origin, "after": one.after, "through": one.through} for one in _gaps(node)],
        "counts": {name: node.counts[name] for name in ("taken", "journaled", "refused", "dropped", "failed")},
    }


def _gaps(node: Node) -> list[Any]:
    found = node.store.node()
    return list(found.gaps) if found else []
