"""A pipeline in a process of its own that ends itself by SIGKILL at a chosen place.

    python -m tests.pipeline.driver FOLDER WHERE BATCH

WHERE: before-commit, amid-commit or after-commit of the sink (Spark's own commit is then missing), before-detections,
amid-detections or after-detections of the composites' sink, running (until it is stopped), never (it ends when all is
done)."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from tidings.pipeline.composites import sink as composite_sink
from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.pipeline.stream.rounds import Round
from tidings.pipeline.stream.sink import Sink
from tidings.pipeline.stream.staging import StagedFiles
from tidings.store import Store
from tidings.store.notifications.commits import Pace


class DyingSink(Sink):
    def __init__(self, pipeline: Pipeline, where: str, batch: int) -> None:
        super().__init__(pipeline.store, pipeline.plans, StagedFiles(pipeline.folder.staged.absolute()))
        self._where, self._batch = where, batch

    def __call__(self, frame: Any, batch_id: int) -> None:
        super().__call__(frame, batch_id)
        if self._where == "after-commit" and self.total.batches == self._batch:
            os.kill(os.getpid(), signal.SIGKILL)

    def _store_round(self, found: Round) -> int:
        dying = self.total.batches + 1 == self._batch
        if self._where == "before-commit" and dying:  # matched, and not yet stored
            os.kill(os.getpid(), signal.SIGKILL)
        if self._where == "amid-commit":
            self._pace = DyingPace(20 if dying else 10**9)
        return super()._store_round(found)


class DyingPace(Pace):
    """Three rows in each transaction; dies after so many transactions."""

    def __init__(self, transactions: int) -> None:
        super().__init__(rows=3)
        self._left = transactions

    def note(self, rows: int, seconds: float) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


def die_around_detections(where: str, batch: int) -> None:
    """The process ends before or after the commit of one batch of them, or amid it."""
    store_round, count = composite_sink.store_round, iter(range(1, 1_000))

    def dying(store: Store, found: Any, staging: Any, lateness: int, batch_limit: int, pace: Pace) -> int:
        number = next(count)
        if where == "before-detections" and number == batch:
            os.kill(os.getpid(), signal.SIGKILL)
        if where == "amid-detections":
            pace = DyingPace(2 if number >= batch else 10**9)
        added = store_round(store, found, staging, lateness, batch_limit, pace)
        if where == "after-detections" and number == batch:
            os.kill(os.getpid(), signal.SIGKILL)
        return added

    composite_sink.store_round = dying


def main(folder: str, where: str, batch: str) -> None:
    if where.endswith("-detections"):
        die_around_detections(where, int(batch))
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with Pipeline(PipelineSettings(Path(folder), most_rows=200)) as pipeline:
        pipeline.sink = DyingSink(pipeline, where, int(batch))
        pipeline.run(stopped, once=where == "never")


if __name__ == "__main__":
    main(*sys.argv[1:])
