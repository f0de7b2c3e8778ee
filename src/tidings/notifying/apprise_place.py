"""Where an Apprise URL leads, as anybody may see it: scheme and host. All the rest of it may be a secret."""

from __future__ import annotations

import re

_HOST = re.compile(r"[a-z0-9.-]+\.[a-z0-9-]+|localhost", re.IGNORECASE)  # what has no dot may be a token


def apprise_place(url: str) -> str:
    """`ntfys://ntfy.example.org`, or `tgram://…` where a token takes the host's place."""
    scheme, _, rest = url.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2].partition(":")[0]
    return f"{scheme if scheme.isalnum() else '…'}://{host.lower() if _HOST.fullmatch(host) else '…'}"
