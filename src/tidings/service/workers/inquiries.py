"""Questions that need the matchers, answered by a few processes beside the service.

`explain`, `test` and small queries (`questions`) may keep a processor busy for seconds and load what the service itself
never does (numba and the kernels). Here they wait in a short queue, have a limit of time, and cannot hold up a
publisher; a process that dies or takes too long is replaced at the next question.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import select
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import LifoQueue
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar

from tidings.errors import Explained, ServiceError
from tidings.service.workers.frames import read_frame, write_frame
from tidings.store import Store

P = ParamSpec("P")
R = TypeVar("R")

_PROCESSES = 2
_SECONDS = 20.0  # for an answer
_FIRST_SECONDS = 60.0  # to load libraries; and more for the first answer ever, for which kernels may be compiled
_MOST_WAITING = 32
_MOST_OF_ONE = 8  # questions of one owner, so that nobody takes the whole queue


class Busy(Explained, ServiceError):
    seconds = 2
    template = "too many questions are waiting for an answer; try again in a few seconds"


class TookTooLong(Explained, ServiceError):
    limit: float
    template = (
        "no answer within {limit:g} s; ask for a shorter period or use a simpler filter; "
        "for a query over many events, send the header 'Prefer: respond-async'"
    )


class NoAnswer(Explained, ServiceError):
    """The worker process ended before it had an answer."""

    seconds = 1
    template = "the worker process ended before it had an answer; try again"


def start_worker() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tidings.service.workers.inquiry_worker"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


class Inquiries:
    """Of one event loop. No process is started before the first question."""

    def __init__(
        self,
        url: str,
        processes: int = _PROCESSES,
        seconds: float = _SECONDS,
        first_seconds: float = _FIRST_SECONDS,
        start: Callable[[], subprocess.Popen[bytes]] = start_worker,
    ) -> None:
        self._threads = ThreadPoolExecutor(processes, "tidings-inquiry")
        self._workers = [_Worker(url, seconds, first_seconds, start) for _ in range(processes)]
        self._idle: LifoQueue[_Worker] = LifoQueue()  # the worker that answered last is warm
        for worker in reversed(self._workers):
            self._idle.put(worker)
        self._asking: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._closed = False

    async def ask(
        self, owner: str, question: Callable[Concatenate[Store, P], R], *args: P.args, **named: P.kwargs
    ) -> R:
        """What the function answers in another process, called with a store there; it must be a module's own.

        Raises what it raises, Busy, TookTooLong or NoAnswer.
        """
        if self._asking.total() >= len(self._workers) + _MOST_WAITING or self._asking[owner] >= _MOST_OF_ONE:
            raise Busy
        self._asking[owner] += 1
        task = pickle.dumps((question, args, named))
        answering = asyncio.ensure_future(self._in_turn(owner, task))
        answering.add_done_callback(lambda done: self._answered(owner, done))
        # A caller who goes away does not end the work; until it is done it counts against him.
        answer: R = await asyncio.shield(answering)
        return answer

    async def _in_turn(self, owner: str, task: bytes) -> Any:
        """One owner never has all processes at work, so that others are answered meanwhile."""
        turn = self._turns.setdefault(owner, asyncio.Semaphore(max(1, len(self._workers) - 1)))
        async with turn:
            if self._closed:
                raise NoAnswer
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, task)

    @property
    def processes(self) -> list[int]:
        """The ids of those that run."""
        return [id for worker in self._workers if (id := worker.process_id) is not None]

    async def close(self) -> None:
        """Requests that still wait get NoAnswer."""
        self._closed = True
        for worker in self._workers:
            worker.close()
        await asyncio.to_thread(self._threads.shutdown)
        for worker in self._workers:
            worker.end()

    def _answer(self, task: bytes) -> Any:
        worker = self._idle.get()
        try:
            return worker.ask(task)
        finally:
            self._idle.put(worker)

    def _answered(self, owner: str, done: asyncio.Future[Any]) -> None:
        if not done.cancelled():
            done.exception()  # it was raised where it was awaited, or nobody waits any more
        self._asking[owner] -= 1
        if not self._asking[owner]:
            del self._asking[owner]
            self._turns.pop(owner, None)


class _Worker:
    """One process, started when it is needed, used by one thread at a time."""

    def __init__(
        self, url: str, seconds: float, first_seconds: float, start: Callable[[], subprocess.Popen[bytes]]
    ) -> None:
        self._url = url
        self._seconds = seconds
        self._first_seconds = first_seconds
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None
        self._has_started = False
        self._closed = False
        self._starting = threading.Lock()  # between the last look at `_closed` and the start

    @property
    def process_id(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def ask(self, task: bytes) -> Any:
        process, seconds = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_frame(process.stdin.fileno(), task)
            answer = read_frame(_Limited(process.stdout.fileno(), seconds).read)
        except TimeoutError:
            self.end()
            raise TookTooLong(seconds) from None
        except (OSError, EOFError):
            self.end()
            raise NoAnswer from None
        succeeded, value = pickle.loads(answer)
        if succeeded:
            return value
        raise value

    def close(self) -> None:
        """From any thread: requests that wait end without an answer, and no process is started."""
        with self._starting:
            self._closed = True
            process = self._process
        if process is not None:
            process.kill()

    def _running(self) -> tuple[subprocess.Popen[bytes], float]:
        """The process, and how long it may take for the next question."""
        if self._process is not None and self._process.poll() is None:
            return self._process, self._seconds
        self.end()
        with self._starting:
            if self._closed:
                raise NoAnswer
            self._process = self._start()
        assert self._process.stdin is not None
        with suppress(OSError):  # it ended at once: found out where its answer is read
            write_frame(self._process.stdin.fileno(), self._url.encode())
        self._wait_until_loaded(self._process)
        first, self._has_started = not self._has_started, True
        return self._process, self._seconds + (self._first_seconds if first else 0)

    def _wait_until_loaded(self, process: subprocess.Popen[bytes]) -> None:
        """Its clock begins when it has loaded what it needs. Raises NoAnswer."""
        assert process.stdout is not None
        try:
            read_frame(_Limited(process.stdout.fileno(), self._first_seconds).read)
        except (TimeoutError, OSError, EOFError):
            self.end()
            raise NoAnswer from None

    def end(self) -> None:
        """The process that there was is gone, and its pipes closed."""
        if self._process is not None:
            with self._process as process:
                process.kill()
            self._process = None


class _Limited:
    """Reads a pipe until a moment. `poll` since `select` cannot watch descriptors beyond 1,023."""

    def __init__(self, descriptor: int, seconds: float) -> None:
        self._descriptor = descriptor
        self._until = monotonic() + seconds
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def read(self, size: int) -> bytes:
        """Raises TimeoutError."""
        if not self._poll.poll(max(0.0, self._until - monotonic()) * 1000):
            raise TimeoutError
        return os.read(self._descriptor, size)
