"""When to retry and when to give up: pure functions of time and chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidings.schema import Instant

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Seconds after the first failure, the second, and so on. The first attempt is made at once: ten in all.
WAITS = (5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
JITTER = 0.1  # either way, so that deliveries that failed together are not retried together
LONGEST_WAIT = DAY  # that a receiver may ask for
FAILING = 5 * DAY  # without a success for this long the channel is disabled
DEAD_IN_A_ROW = 20
MICROSECONDS = 1_000_000


def next_due(
    attempts: int,
    now: Instant,
    retry_after: float | None,
    random: Callable[[], float],
    waits: Sequence[float] = WAITS,
) -> Instant | None:
    """The time of the next attempt after `attempts` failures; None when it is dead. A longer Retry-After counts.

    `random` gives numbers from 0 up to 1.
    """
    if attempts < 1:
        raise ValueError(f"nothing has failed after {attempts} attempts")
    if attempts > len(waits):
        return None
    seconds = waits[attempts - 1] * (1 + JITTER * (2 * random() - 1))
    if retry_after is not None:
        seconds = max(seconds, min(retry_after, LONGEST_WAIT))
    return Instant(now + round(seconds * MICROSECONDS))


def gives_up(failing_since: Instant | None, dead_in_a_row: int, now: Instant) -> str:
    """Why to disable a channel that has just failed; '' to keep it."""
    if dead_in_a_row >= DEAD_IN_A_ROW:
        return f"{dead_in_a_row} deliveries in a row failed permanently"
    if failing_since is not None and now - failing_since >= FAILING * MICROSECONDS:
        return f"every delivery has failed since {failing_since}"
    return ""
