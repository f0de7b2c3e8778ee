"""The process of one large query: reads what is asked from its standard input, writes events into a file.

How far it is, and how it ended, it says by lines of JSON on its standard output. It runs in a session of its own with
all that Spark starts; when its input ends (the service stopped, or was killed) all of them end at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tidings.errors import StoreError, TidingsError
from tidings.language import Filter
from tidings.schema import Instant
from tidings.store import Store


@dataclass(frozen=True, slots=True)
class Job:
    """The events at (after, upto] that match; on Spark, if at least `spark_from` positions (None: as many as make it
    quicker) were not copied by column."""

    url: str
    filter: str
    after: int
    upto: int
    file: str
    most_bytes: int
    master: str
    spark_from: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """`reached`: the position up to which all that matches is in the file. It goes on until there is a state."""

    matched: int = 0
    reached: int = 0
    unreadable: int = 0
    state: str = ""
    complete: bool = True
    problem: str = ""


def main() -> None:
    said = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # Java prints there too
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    threading.Thread(target=_end_with_the_service, daemon=True).start()
    try:
        for progress in run(job):
            said.write(msgspec.json.encode(progress) + b"\n")
    except StoreError as problem:
        print(problem, file=sys.stderr)
        said.write(_failed("the store could not be read; ask again later"))
    except TidingsError as problem:
        said.write(_failed(str(problem)))


def run(job: Job) -> Iterator[Progress]:
    """Writes the file; the last progress has a state."""
    matched = unreadable = size = 0
    reached = job.after
    with Store.open(job.url) as store, Path(job.file).open("wb") as file:
        for batch in _matching(store, job):
            columns = (batch.column(name).to_pylist() for name in ("position", "accepted", "payload", "problem"))
            for position, accepted, payload, problem in zip(*columns, strict=True):
                if problem is not None:
                    unreadable += 1
                    continue
                line = _line(position, accepted, payload)
                size += len(line)
                if size > job.most_bytes:
                    yield Progress(matched, reached, unreadable, "done", complete=False)
                    return
                file.write(line)
                matched, reached = matched + 1, position
            yield Progress(matched, reached, unreadable)
    yield Progress(matched, job.upto, unreadable, "done")


def _matching(store: Store, job: Job) -> Iterator[Any]:
    from tidings.pipeline.batch.query import is_for_spark, matching

    session = None
    if is_for_spark(store, job.after, job.upto, job.spark_from):
        from tidings.pipeline.spark.session import spark_session

        session = spark_session(job.master, "tidings query")
    return matching(store, Filter.parse(job.filter, store.catalog()), job.after, job.upto, session)


def _line(position: int, accepted: int, payload: str) -> bytes:
    body = payload.replace("\n", " ")  # between the members; inside a text JSON writes it otherwise
    return f'{{"position":{position},"accepted":"{Instant(accepted)}","event":{body}}}\n'.encode()


def _failed(problem: str) -> bytes:
    return msgspec.json.encode(Progress(state="failed", problem=problem)) + b"\n"


def _end_with_the_service() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
