"""Rate limits: a bucket of permits for each key, filled at a steady rate.

The door asks for each request, by account or by address; logging in asks by name and address. The clock is an
argument, so that tests need not wait.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic

from tidings.errors import Explained, ServiceError

_MOST_KEYS = 100_000  # beyond, the key that asked longest ago makes room: its bucket is the fullest, as a rule
_SLOWEST = 1e-9  # a second: practically never
_LONGEST_WAIT = 3_600.0


class TooManyRequests(Explained, ServiceError):
    """The seconds after which to try again."""

    seconds: float
    template = "too many requests; try again in {wait:.1f} s"

    @property
    def wait(self) -> float:
        return max(self.seconds, 0.1)


class Throttle:
    """Each key may do `burst` things at once and `per_second` in the long run."""

    def __init__(self, per_second: float, burst: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._rate = max(per_second, _SLOWEST)
        self._burst = max(1.0, per_second if burst is None else burst)
        self._clock = clock
        # When each key's bucket would be full again; the key that asked last is at the end.
        self._full_at: OrderedDict[Hashable, float] = OrderedDict()

    def take(self, key: Hashable, permits: float = 1.0) -> None:
        """Raises TooManyRequests, and then takes nothing."""
        now, buckets = self._clock(), self._full_at
        full_at = buckets.get(key, 0.0)
        missing = (full_at - now) * self._rate if full_at > now else 0.0
        over = missing + permits - self._burst
        if over > 0 and missing > 0:
            raise TooManyRequests(min(over / self._rate, _LONGEST_WAIT))
        buckets[key] = now + (missing + permits) / self._rate
        buckets.move_to_end(key)
        if len(buckets) > _MOST_KEYS:
            buckets.popitem(last=False)

    def give_back(self, key: Hashable, permits: float = 1.0) -> None:
        """What was taken beforehand and turned out not to count."""
        full_at = self._full_at.get(key)
        if full_at is not None:
            self._full_at[key] = full_at - permits / self._rate
