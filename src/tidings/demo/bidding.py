"""Publishes what happens in the saleroom, as it happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tidings.client import Client, ServerRefused, ServerUnreachable
from tidings.demo.flying import PASSES_BY_ITSELF
from tidings.demo.saleroom import happenings

_RHYTHM = 0.5  # seconds between two looks


def bid(
    client: Client, stop: threading.Event, tell: Callable[[str], None], *, clock: Callable[[], float] = time.time
) -> None:
    """Until `stop`. What happens while a server restarts is left out; raises ServerRefused where that will not pass."""
    done = clock()
    while not stop.wait(_RHYTHM):
        now = clock()
        new = happenings(done, now)
        try:
            if new:
                client.publish_many(new)
        except (ServerUnreachable, ServerRefused) as problem:
            if isinstance(problem, ServerRefused) and problem.status not in PASSES_BY_ITSELF:
                raise
            tell(f"bids: {problem}")
        done = now
