"""What holds for every test: speed is measured in benchmarks, never by a test's deadline."""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("tidings", deadline=None)
settings.load_profile("tidings")

# Java lives too short in tests for its second compiler to pay: a session with twenty jobs takes 15 s of a processor
# instead of 24.
for name in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    os.environ.setdefault(name, "-XX:TieredStopAtLevel=1")


# A shell that starts tests in the background has them ignore SIGINT, and so would every process that they interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with Spark come first. Several workers get neighbours dealt out together and steal from the end of each
    other's, so one worker runs all of these, in one session."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    if "spark" in getattr(item, "fixturenames", ()):
        return 0
    return 1 if "spark" in item.nodeid.lower() or "both_engines" in item.nodeid else 2
