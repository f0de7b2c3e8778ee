"""A child process of the service (`children`): started, watched, started again when it ends, stopped at the end.

It says how far it is by lines of JSON; its standard error goes to a file of its own. It has the other end of a pipe
from us and stops when that closes, so that nothing is left behind where we are killed (tidings.pipeline.parent).
Everything here runs in threads of its own: a busy event loop delays neither a restart nor the news.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO

from tidings.errors import PipelineError, StoreError
from tidings.pipeline.folder import FolderInUse
from tidings.service.workers.child_output import busiest_of, ending, last_words, look_of
from tidings.service.workers.children import Child
from tidings.service.workers.status import ChildStatus, State

_MOST_FAILURES = 5  # without progress between
_FIRST_PAUSE = 1.0  # seconds
_LONGEST_PAUSE = 60.0
_PAUSE_WHEN_FAILED = 180.0  # a full disk, a lost database or a missing Java may be put right at any time
_LOOK = 0.25  # seconds between two looks whether the folder is free
_PATIENCE = 20.0  # seconds for the batch under way and for Spark to end
_PATIENCE_AT_START = 5.0  # no batch is under way yet
_LARGE_LOG = 10 << 20  # bytes
_HEARD_EVERY = 1.0  # seconds after which an unchanged status is repeated, as a heartbeat


@dataclass(slots=True)
class Failures:
    """Whether it is worth another try, and after how long.

    A failure has the same cause as the last one if nothing was done in between and the child never caught up: one
    that is killed while idle, now and then, does not count as failed.
    """

    pause: float = 0.0  # seconds until the next start
    without_progress: int = 0
    _progress: int = -1

    def add(self, progress: int | None, caught_up: bool) -> None:
        """`progress` is None if the store cannot be asked: then the child is not to blame."""
        moved = caught_up or progress not in (None, self._progress)
        self.pause = _FIRST_PAUSE if moved or not self.pause else min(2 * self.pause, _LONGEST_PAUSE)
        if progress is not None:
            self.without_progress = 1 if moved else self.without_progress + 1
            self._progress = progress
        if self.persistent:
            self.pause = _PAUSE_WHEN_FAILED

    @property
    def persistent(self) -> bool:
        return self.without_progress >= _MOST_FAILURES

    def recovered(self, progress: int | None, caught_up: bool) -> bool:
        """Whether the child did something since its last failure."""
        return caught_up or progress not in (None, self._progress)


class Supervisor:
    """`tell` is called, from another thread, with each change of the child's status."""

    def __init__(self, what: Child, tell: Callable[[ChildStatus], None]) -> None:
        self._what = what
        self._tell = tell
        self._status = ChildStatus("starting")
        self._failures = Failures()
        self._starting = threading.Lock()  # between the last look at `_stopping` and the child's start
        self._stopping = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._caught_up = False
        self._said_before = 0  # bytes of the log
        self._thread = threading.Thread(target=self._supervise, name=f"{what.name}-supervisor", daemon=True)

    def start(self) -> None:
        self._say(self._status)
        self._thread.start()

    def stop(self, patience: float = _PATIENCE) -> None:
        """Lets what is under way finish, within reason; returns when the child is gone, if it ever was there."""
        if self._thread.ident is None:
            return
        with self._starting:
            self._stopping.set()
            child = self._child
        if child is not None:
            if self._status.state == "running":
                child.send_signal(signal.SIGTERM)
            else:
                patience = min(patience, _PATIENCE_AT_START)
                _signal_group(child, signal.SIGTERM)
            self._thread.join(patience)
            self.kill()
        self._thread.join()
        if self._status.state != "failed":
            self._say(ChildStatus("stopped", restarts=self._status.restarts))

    def kill(self) -> None:
        """At once. What was not committed is done at the next start."""
        self._stopping.set()
        if (child := self._child) is not None:
            _signal_group(child, signal.SIGKILL)

    def _supervise(self) -> None:
        try:
            while not self._stopping.is_set():
                pause = self._run_once()
                self._stopping.wait(pause)
        except Exception as problem:  # a thread that dies silently would leave the status wrong for ever
            self.kill()
            self._say(ChildStatus("failed", str(problem) or repr(problem), restarts=self._status.restarts))
            raise

    def _run_once(self) -> float:
        """One life of the child; returns the pause in seconds before the next."""
        try:
            self._what.check()
            if not self._wait_until_free() or (child := self._start()) is None:
                return 0.0
            self._watch(child)
        except (PipelineError, OSError) as problem:  # no Java, no room for the log: somebody may put it right
            self._say(ChildStatus("failed", str(problem), restarts=self._status.restarts))
            return _PAUSE_WHEN_FAILED
        if not self._stopping.is_set():
            self._failures.add(self._progress(), self._caught_up)
            self._say(self._ended(child.returncode))
        return self._failures.pause

    def _ended(self, code: int) -> ChildStatus:
        restarts = self._status.restarts + 1
        reason = f"{ending(code)}: {last_words(self._what.log, self._said_before)}"
        if not self._failures.persistent:
            return ChildStatus("waiting", reason, restarts=restarts)
        times = f"{self._failures.without_progress} times {self._what.without}"
        retried = f"retried every {_PAUSE_WHEN_FAILED / 60:g} minutes"
        return ChildStatus("failed", f"failed {times}, {retried}; {reason}", restarts=restarts)

    def _wait_until_free(self) -> bool:
        """Until the child of a service that was killed has ended; False where we are to stop first."""
        while not self._stopping.is_set():
            try:
                self._what.wait_for()
            except FolderInUse as problem:
                if self._status.reason != str(problem):
                    self._say(ChildStatus("waiting", str(problem), restarts=self._status.restarts))
                self._stopping.wait(_LOOK)
            else:
                return True
        return False

    def _start(self) -> subprocess.Popen[bytes] | None:
        path = self._what.log
        with suppress(FileNotFoundError):
            if path.stat().st_size > _LARGE_LOG:
                path.replace(path.with_name(f"{path.name}.1"))
        with self._starting, path.open("ab") as log:
            if self._stopping.is_set():
                return None
            self._caught_up, self._said_before = False, log.tell()
            self._child = subprocess.Popen(
                self._what.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=dict(self._what.environment), start_new_session=True,  # a Ctrl-C at the terminal is for us alone
            )  # fmt: skip
            # One that keeps failing stays failed, with its reason, until it gets something done.
            state: State = "failed" if self._failures.persistent else "starting"
            reason = self._status.reason if self._failures.persistent else ""
            self._say(ChildStatus(state, reason, process=self._child.pid, restarts=self._status.restarts))
            return self._child

    def _watch(self, child: subprocess.Popen[bytes]) -> None:
        """Until it has ended. Its lines are read beside, since the JVM holds on to them for a moment longer."""
        assert child.stdin is not None
        assert child.stdout is not None
        reading = threading.Thread(
            target=self._read, args=(child, child.stdout), name=f"{self._what.name}-lines", daemon=True
        )
        reading.start()
        child.wait()
        _signal_group(child, signal.SIGKILL)  # the JVM, should it not have noticed yet
        reading.join(5)
        self._child = None
        child.stdin.close()

    def _read(self, child: subprocess.Popen[bytes], lines: IO[bytes]) -> None:
        with lines:
            for line in lines:
                look = look_of(line)
                if look is None:
                    continue
                self._what.hear(look)
                if (other := look.get("waits_for")) and child is self._child and not self._stopping.is_set():
                    reason = f"another pipeline works on this store ({other}); ours takes over when it ends"
                    now = time.monotonic()
                    seen = replace(self._status, state="running", reason=reason, lag=None, heard=now, leads=False)
                    if seen != self._status or now - self._status.heard >= _HEARD_EVERY:
                        self._say(seen)
                lag = look.get("lag")
                if isinstance(lag, int) and child is self._child and not self._stopping.is_set():
                    self._caught_up = self._caught_up or lag == 0
                    if self._failures.persistent and not self._failures.recovered(self._progress(), self._caught_up):
                        continue
                    now = time.monotonic()
                    seen = replace(
                        self._status, state="running", reason="", lag=lag, heard=now,
                        leads=look.get("leading"), busiest=busiest_of(look),
                    )  # fmt: skip
                    if seen != self._status or now - self._status.heard >= _HEARD_EVERY:
                        self._say(seen)

    def _progress(self) -> int | None:
        try:
            return self._what.progress()
        except StoreError:
            return None

    def _say(self, status: ChildStatus) -> None:
        self._status = status
        self._tell(status)


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """To the pipeline and its JVM; it may have ended meanwhile."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)
