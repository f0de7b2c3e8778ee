"""What a node says of a network in which everything is: links, gaps, advertisements, a server that is away."""

from __future__ import annotations

from typing import Any

_LINK = {
    "url": "https://berlin.example.org", "state": "alive", "in_tree": True, "weight": 2.0, "waiting": 1_200,
    "behind_seconds": 3.5, "interest": 17, "posted": 4, "advertised": 2, "events": 65_000, "bytes": 1 << 20,
    "sent_per_second": 12.5, "received_per_second": 3.0, "problem": "",
}  # fmt: skip
NAMES = ("athens", "berlin", "cairo", "delphi", "a-name-of-sixty-characters.that-is-as-long-as-any-may.be-here")


def seen(**members: Any) -> dict[str, Any]:
    servers = [
        {"name": name, "reached": name != "cairo", "head": 10**place, "mark": 10**place - 1, "level": False}
        for place, name in enumerate(NAMES)
    ]
    pairs = [["athens", "berlin"], ["berlin", "cairo"], ["athens", "delphi"], ["berlin", "delphi"]]
    return {
        "name": "athens", "incarnation": 1, "problem": "", "home": "berlin", "term": 1,
        "distribution": "advertisements", "schema": 12, "servers": servers,
        "links": [
            _LINK | {"name": "berlin"},
            _LINK | {"name": NAMES[-1], "state": "not answering", "in_tree": False, "problem": "503: <b>away</b>"},
        ],
        "tree": pairs[:3], "mutual": [{"servers": pair, "weight": 1.0} for pair in pairs], "filters": 3,
        "advertisements": [{"id": "1", "account": "ann", "filter": "price < 5000 and brand = mini"}],
        "gaps": [{"origin": "cairo", "after": place, "through": place + 5} for place in range(100, 700, 5)],
        "counts": {"taken": 5, "journaled": 5, "refused": 0, "dropped": 0, "failed": 0},
    } | members  # fmt: skip
