"""What to say when Spark's Java process ends under the pipeline: how it ended, not that a connection was refused."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tidings.errors import Explained, PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE = 5.0  # seconds for a process whose connection broke to be gone
_OUT_OF_MEMORY = 3  # the exit code of -XX:+ExitOnOutOfMemoryError


class JavaEnded(Explained, PipelineError):
    """Spark's Java process ended: its exit code, negative for a signal."""

    code: int
    template = "Spark's Java process {how}. Nothing committed is lost; the next start resumes there"

    @property
    def how(self) -> str:
        if self.code == _OUT_OF_MEMORY:
            return "ran out of memory; raise --spark spark.driver.memory=…"
        if self.code == -signal.SIGKILL:
            return "was killed (SIGKILL), by somebody or by the system for want of memory"
        return f"was ended by {signal.Signals(-self.code).name}" if self.code < 0 else f"ended with code {self.code}"


@contextmanager
def java_watched(session: SparkSession) -> Iterator[None]:
    """Around calls into Spark. Raises JavaEnded if its process is gone, whatever the broken connection says."""
    process = _java_of(session)
    try:
        yield
    except Exception as problem:
        code = None if process is None else _exit_code(process, problem)
        if code is None:
            raise
        raise JavaEnded(code) from problem


def _java_of(session: SparkSession) -> subprocess.Popen[bytes] | None:
    """The process that this one started; None for a session of somebody else's or over Spark Connect."""
    context: Any = getattr(session, "_sc", None)
    found: subprocess.Popen[bytes] | None = getattr(getattr(context, "_gateway", None), "proc", None)
    return found


def _exit_code(process: subprocess.Popen[bytes], problem: Exception) -> int | None:
    """Waits a moment if the connection broke: it breaks before the process can be seen to have ended."""
    from py4j.protocol import Py4JNetworkError

    if not isinstance(problem, Py4JNetworkError | OSError):
        return process.poll()
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        return None
