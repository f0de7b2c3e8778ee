"""This host's clock: the time of day, which anybody may set, and the time since boot, which nobody can.

A store compares the two (`clock_guard`). A clock that somebody else gives may be a plain function of the time of day;
without a `steady` time beside it there is nothing to compare it with, and it is believed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from secrets import token_hex

from tidings.schema import Instant

Clock = Callable[[], Instant]

# For tests and `tidings torture` only: a file with the seconds by which this host's clock is to be wrong. All processes
# that inherit the variable read it whenever they ask for the time.
OFFSET_FILE = "TIDINGS_CLOCK_OFFSET_FILE"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Steady:
    """Microseconds that have passed since a boot. Those of two different boots cannot be compared."""

    boot: str
    elapsed: int


class HostClock:
    def __call__(self) -> Instant:
        return Instant(time.time_ns() // 1_000 + offset())

    def steady(self) -> Steady:
        """Where the system does not tell its boots apart, each process counts as one."""
        if (boot := _boot()) is not None:
            return Steady(boot, time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000)
        return Steady(_own_boot(os.getpid()), time.monotonic_ns() // 1_000)


now = HostClock()


def offset() -> int:
    """Microseconds by which a test makes the clock wrong."""
    path = os.environ.get(OFFSET_FILE)
    if path is None:
        return 0
    try:
        return int(float(Path(path).read_text() or 0) * 1_000_000)
    except FileNotFoundError:
        return 0


@cache
def _boot() -> str | None:
    try:
        return _BOOT_ID.read_text().strip() if hasattr(time, "CLOCK_BOOTTIME") else None
    except OSError:
        return None


@cache
def _own_boot(process: int) -> str:
    return f"process {process} {token_hex(8)}"
