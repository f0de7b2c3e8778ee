"""The time of acceptance where nobody gives another clock."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidings.schema import Instant

Clock = Callable[[], Instant]


def now() -> Instant:
    return Instant(time.time_ns() // 1_000)
