"""How often somebody may do something: a bucket of permits for each key, filled at a steady rate.

The HTTP entrance and the XML daemon ask for each request, by caller or by address; logging in asks by name and
address. The clock is an argument, so that tests need not wait.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from time import monotonic

from tidings.errors import ServiceError

_MOST_KEYS = 100_000  # beyond, those that have all their permits again are forgotten
_SLOWEST = 1e-9  # a second: practically never
_LONGEST_WAIT = 3_600.0


class TooManyRequests(ServiceError):
    """The seconds after which it is worth to try again."""

    status = 429

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)

    @property
    def seconds(self) -> float:
        return float(self.args[0])

    def __str__(self) -> str:
        return f"too many requests in too short a time; wait {max(self.seconds, 0.1):.1f} s and try again"


class Throttle:
    """Each key may do `burst` things at once and `per_second` in the long run."""

    def __init__(self, per_second: float, burst: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._rate = max(per_second, _SLOWEST)
        self._burst = max(1.0, per_second if burst is None else burst)
        self._clock = clock
        self._full_at: dict[Hashable, float] = {}  # when the key's bucket would be full again

    def take(self, key: Hashable, permits: float = 1.0) -> None:
        """Raises TooManyRequests, and then takes nothing."""
        now = self._clock()
        full_at = self._full_at.get(key, 0.0)
        missing = (full_at - now) * self._rate if full_at > now else 0.0
        over = missing + permits - self._burst
        if over > 0 and missing > 0:
            raise TooManyRequests(min(over / self._rate, _LONGEST_WAIT))
        if len(self._full_at) >= _MOST_KEYS and key not in self._full_at:
            self._forget(now)
        self._full_at[key] = now + (missing + permits) / self._rate

    def give_back(self, key: Hashable, permits: float = 1.0) -> None:
        """What was taken beforehand and turned out not to count."""
        full_at = self._full_at.get(key)
        if full_at is not None:
            self._full_at[key] = full_at - permits / self._rate

    def _forget(self, now: float) -> None:
        self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
        if len(self._full_at) >= _MOST_KEYS:  # a flood of keys: better to forgive than to grow
            self._full_at.clear()
