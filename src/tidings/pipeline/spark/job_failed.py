"""What to say when Spark gives up on a batch job: the one line that matters, out of pages of trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tidings.errors import Explained, PipelineError

_TRACE = ("at ", "File ", "Traceback", "Caused by", "...", "Driver stacktrace", "SQLSTATE", "JVM stacktrace")


class JobFailed(Explained, PipelineError):
    """Spark gave up: what a worker said last."""

    said: str
    template = "the Spark job failed: {said}"


@contextmanager
def plain_failures() -> Iterator[None]:
    """Around an action of Spark's. Raises JobFailed."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as problem:
        raise JobFailed(last_words(str(problem))) from None


def last_words(trace: str) -> str:
    """Of a Java trace around a Python one the line that says what was wrong."""
    lines = [line.strip() for line in trace.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(_TRACE)]
    named = [line for line in told if "." in line.partition(": ")[0] or "Error" in line.partition(": ")[0]]
    return (named or told or lines or ["it did not say why"])[-1]
