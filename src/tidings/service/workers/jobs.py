"""Queries too large to be answered at once: one child process at a time (`query_job`), on Spark where it is quicker;
others wait.

A query belongs to who asked it; for all others it does not exist.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from tidings.errors import Explained, ServiceError
from tidings.service.workers.query_files import NoSuchQuery, Query, QueryFiles
from tidings.service.workers.query_job import Job, Progress
from tidings.store.clock.clock import Clock, now

_MOST_WAITING = 10
_MOST_OF_ONE = 3  # queries of one owner that wait or run
_LOOK = 60.0  # seconds between two looks for what is too old
_SECONDS = 3600.0  # that a query may run
_MOST_BYTES = 256 << 20  # of what one query found
_STOPPED = "the service was stopped; start the query again"


class TooManyQueries(Explained, ServiceError):
    seconds = 30
    template = "too many queries are waiting; ask again when one of yours is done, or remove one"


class QueryNotDone(Explained, ServiceError):
    id: str
    state: str
    template = "query {id!r} is {state}; its events can be read when it is done"


class Jobs:
    """Use it from any thread. Nothing is made, and no thread started, before the first query."""

    def __init__(
        self, folder: Path, url: str, master: str, clock: Clock = now,
        spark_from: int | None = None, most_bytes: int = _MOST_BYTES, seconds: float = _SECONDS,
    ) -> None:  # fmt: skip
        self._files = QueryFiles(folder)
        self._url, self._master = url, master
        self._now: Callable[[], int] = lambda: int(clock())
        self._spark_from, self._most_bytes, self._seconds = spark_from, most_bytes, seconds
        self._changed = threading.Condition()
        self._by_id: dict[str, Query] | None = None
        self._waiting: deque[str] = deque()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._running = ""
        self._closing = False

    def submit(self, owner: str, filter: str, after: int, upto: int) -> Query:
        """The filter must be a right one. Raises TooManyQueries."""
        with self._changed:
            unfinished = [query for query in self._queries().values() if query.ended is None]
            of_owner = sum(query.owner == owner for query in unfinished)
            if len(self._waiting) >= _MOST_WAITING or of_owner >= _MOST_OF_ONE or self._closing:
                raise TooManyQueries
            query = Query(f"q-{secrets.token_hex(10)}", owner, filter, after, upto, self._now())
            self._keep(query)
            self._waiting.append(query.id)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="tidings-queries")
                self._thread.start()
            self._changed.notify_all()
            return query

    def query(self, owner: str, id: str) -> Query:
        """Raises NoSuchQuery."""
        with self._changed:
            found = self._queries().get(id)
        if found is None or found.owner != owner:
            raise NoSuchQuery(id)
        return found

    def queries(self, owner: str) -> list[Query]:
        """By age."""
        with self._changed:
            return [query for query in self._queries().values() if query.owner == owner]

    def remove(self, owner: str, id: str) -> None:
        """Ends it where it runs. Raises NoSuchQuery."""
        with self._changed:
            self._remove(self.query(owner, id))

    def page(self, owner: str, id: str, start: int, limit: int) -> tuple[list[bytes], int | None]:
        """Lines of JSON from a place on, and the next place. Raises NoSuchQuery, QueryNotDone or WrongPlace."""
        query = self.query(owner, id)
        if query.state != "done":
            raise QueryNotDone(id, query.state)
        return self._files.page(id, start, limit)

    def close(self) -> None:
        """Stops running jobs; unfinished ones will be reported as failed."""
        with self._changed:
            self._closing = True
            self._kill()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    # With the lock held:

    def _queries(self) -> dict[str, Query]:
        """By age, without those that need not be kept. At the first call, those that an earlier service left."""
        if self._by_id is None:
            self._by_id = {query.id: query for query in self._files.read()}
            for query in list(self._by_id.values()):
                if query.ended is None:
                    self._end(query, Progress(state="failed", problem=_STOPPED))
        for query in self._files.superfluous(list(self._by_id.values()), self._now()):
            self._remove(query)
        return self._by_id

    def _keep(self, query: Query) -> None:
        assert self._by_id is not None
        self._by_id[query.id] = query
        with suppress(OSError):  # it will not outlive the service then; what it finds cannot be written either
            self._files.keep(query)

    def _end(self, query: Query, last: Progress) -> None:
        found = replace(query, matched=last.matched, reached=last.reached, unreadable=last.unreadable)
        if last.state == "done":
            self._keep(replace(found, state="done", complete=last.complete, ended=self._now()))
        else:
            self._keep(replace(found, state="failed", complete=False, problem=last.problem, ended=self._now()))

    def _remove(self, query: Query) -> None:
        assert self._by_id is not None
        del self._by_id[query.id]
        if query.id in self._waiting:
            self._waiting.remove(query.id)
        if query.id == self._running:
            self._kill()
        self._files.remove(query.id)

    def _kill(self) -> None:
        """The child with all that it started: it leads a group of its own."""
        if self._child is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)

    # In the thread:

    def _work(self) -> None:
        """One query after another, and in between a look for what is too old."""
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait(_LOOK)
                    self._queries()
                if self._closing:
                    return
                query = replace(self._queries()[self._waiting.popleft()], state="running")
                self._keep(query)
                self._running = query.id
            try:
                last = self._run(query)
            except OSError as problem:
                last = Progress(state="failed", problem=f"its files cannot be written: {problem.strerror}")
            with self._changed:
                self._running = ""
                if self._closing and last.state != "done":
                    return
                if query.id in self._queries():
                    self._end(query, last)
                else:  # it was removed while it ran, and may have written after that
                    self._files.remove(query.id)

    def _run(self, query: Query) -> Progress:
        """How it ended."""
        last = Progress()
        late = threading.Event()
        timer = threading.Timer(self._seconds, self._end_late, (late,))
        with self._files.log(query.id).open("wb") as log, self._started(query, log.fileno()) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            timer.start()
            try:
                with suppress(BrokenPipeError):  # it ended at once: told below
                    child.stdin.write(msgspec.json.encode(self._job(query)) + b"\n")
                for line in child.stdout:
                    last = msgspec.json.decode(line, type=Progress)
                    self._tell(query.id, last)
            finally:
                timer.cancel()
                with self._changed:
                    self._kill()  # what Spark may have left; the child was not waited for, so its number is its own
                    self._child = None
        if late.is_set():
            return replace(last, state="failed", problem=f"it took longer than {self._seconds:g} s")
        if not last.state:
            return replace(
                last, state="failed", problem=f"its process ended with code {child.returncode}; start it again"
            )
        return last

    def _job(self, query: Query) -> Job:
        file = str(self._files.events(query.id))
        bounds = (query.filter, query.after, query.upto, file, self._most_bytes)
        return Job(self._url, *bounds, self._master, self._spark_from)

    def _started(self, query: Query, log: int) -> subprocess.Popen[bytes]:
        with self._changed:
            pipe = subprocess.PIPE
            command = [sys.executable, "-m", "tidings.service.workers.query_job"]
            child = subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=log, start_new_session=True)
            self._child = child
            if self._closing or query.id not in self._queries():
                self._kill()
            return child

    def _tell(self, id: str, progress: Progress) -> None:
        with self._changed:
            queries = self._queries()
            if id in queries:
                queries[id] = replace(queries[id], matched=progress.matched, reached=progress.reached)

    def _end_late(self, late: threading.Event) -> None:
        with self._changed:
            late.set()
            self._kill()
