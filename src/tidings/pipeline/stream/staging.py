"""Matches on their way from the workers to the sink, outside Spark, so that no process ever holds all of a batch.

A task writes runs: chunks of matches, in the order of position and subscription. What it yields to Spark names them.
Where the workers share the driver's machine chunks are files in the data folder, else rows of the store. Names are
random, so a task that is run again, or twice at once, doubles nothing. They begin with the query's own name and then
the batch's: by these the sink removes what killed tasks left behind, and never what another query has staged."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from tidings.errors import Explained, PipelineError
from tidings.pipeline.spark.worker_cache import opened_store

_INLINE = 1 << 16  # bytes of a run that is not worth a file: it travels with its name
_FORM = pa.ipc.IpcWriteOptions(compression="lz4")


class StagedLost(Explained, PipelineError):
    """Part of a batch's matches is gone: the database crashed, or somebody deleted it."""

    run: str

    template = "the staged matches {run!r} are gone; nothing of their batch was lost, it is matched again"


class Staging(Protocol):
    def put(self, run: str, chunk: int, body: Any) -> None: ...

    def get(self, run: str, chunk: int) -> Any:
        """Raises StagedLost."""

    def sweep(self, batch: str) -> None:
        """Removes all runs whose names begin so: of a batch, of a query or, by '', of all."""


@dataclass(frozen=True, slots=True)
class StagedFiles:
    folder: Path

    def put(self, run: str, chunk: int, body: Any) -> None:
        self._path(run, chunk).write_bytes(body)

    def get(self, run: str, chunk: int) -> Any:
        try:
            return self._path(run, chunk).read_bytes()
        except FileNotFoundError:
            raise StagedLost(run) from None

    def sweep(self, batch: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob(f"{batch}*"):
            path.unlink(missing_ok=True)

    def _path(self, run: str, chunk: int) -> Path:
        return self.folder / f"{run}.{chunk}"


@dataclass(frozen=True, slots=True)
class StagedRows:
    store: str = field(repr=False)  # a URL, which may hold a password

    def put(self, run: str, chunk: int, body: Any) -> None:
        opened_store(self.store).stage(run, chunk, bytes(body))

    def get(self, run: str, chunk: int) -> Any:
        body = opened_store(self.store).staged(run, chunk)
        if body is None:
            raise StagedLost(run)
        return body

    def sweep(self, batch: str) -> None:
        opened_store(self.store).sweep_staged(batch)


@dataclass(frozen=True, slots=True)
class Run:
    """Chunks of matches in order; small ones are in the body."""

    name: str
    chunks: int
    body: bytes | None

    def read(self, staging: Staging) -> Iterator[Any]:
        if self.body is not None:
            yield from _batches(self.body)
        for chunk in range(self.chunks):
            yield from _batches(staging.get(self.name, chunk))


class RunWriter:
    """Writes a run of the batch, chunk by chunk."""

    def __init__(self, staging: Staging, batch: str) -> None:
        self._staging = staging
        self._name = f"{batch}-{uuid.uuid4().hex}"
        self._waiting: list[Any] = []
        self._chunks = 0
        self.rows = 0

    def write(self, rows: Any) -> None:
        if len(rows):
            self._waiting.append(rows)
            self.rows += len(rows)
            if sum(one.nbytes for one in self._waiting) > _INLINE:
                self._staging.put(self._name, self._chunks, _body(self._waiting))
                self._chunks += 1
                self._waiting = []

    def close(self) -> Run:
        if self._waiting and self._chunks:
            self._staging.put(self._name, self._chunks, _body(self._waiting))
            return Run(self._name, self._chunks + 1, None)
        return Run(self._name, self._chunks, bytes(_body(self._waiting)) if self._waiting else None)


def _body(batches: list[Any]) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=_FORM) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def _batches(body: Any) -> Iterator[Any]:
    with pa.ipc.open_stream(body) as reader:
        yield from reader
