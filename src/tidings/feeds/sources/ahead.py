"""Work done one step ahead: a feed reads and converts the next records while the server takes those before."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from typing import Any, TypeVar, cast

T = TypeVar("T")

_LOOK = 0.2  # seconds between two looks at whether anybody still waits


def ahead(work: Iterator[T]) -> Generator[T, None, None]:
    """The same items in the same order, made in a thread of its own; what that raises is raised here, after the items
    before. Close it where it is not taken to its end."""
    made: Queue[tuple[T | None, BaseException | None]] = Queue(1)
    given_up = threading.Event()

    def put(item: T | None, problem: BaseException | None) -> None:
        while not given_up.is_set():
            try:
                made.put((item, problem), timeout=_LOOK)
                return
            except Full:
                continue

    def run() -> None:
        try:
            for item in work:
                put(item, None)
                if given_up.is_set():
                    return
            put(None, StopIteration())
        except BaseException as problem:
            put(None, problem)
        finally:
            _close(work)

    thread = threading.Thread(target=run, name="ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, problem = made.get()
            if isinstance(problem, StopIteration):
                return
            if problem is not None:
                raise problem
            yield cast(T, item)
    finally:
        given_up.set()
        while not made.empty():
            try:
                made.get_nowait()
            except Empty:
                break
        thread.join()


def _close(work: Any) -> None:
    if hasattr(work, "close"):
        work.close()
