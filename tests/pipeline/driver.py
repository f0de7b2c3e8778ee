"""A pipeline in a process of its own that ends itself by SIGKILL at a chosen place.

    python -m tests.pipeline.driver FOLDER WHERE BATCH

WHERE: before-commit or after-commit of the sink (Spark's own commit is then missing), running (until it is stopped),
never (it ends when all is done)."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from tidings.pipeline.pipeline import Pipeline, PipelineSettings
from tidings.pipeline.sink import Sink
from tidings.store import Store


class DyingSink(Sink):
    def __init__(self, store: Store, where: str, batch: int) -> None:
        super().__init__(store)
        self._where, self._batch = where, batch

    def __call__(self, frame: Any, batch_id: int) -> None:
        if self._where == "before-commit" and self.total.batches + 1 == self._batch:
            frame.toArrow()  # matched, and not yet stored
            os.kill(os.getpid(), signal.SIGKILL)
        super().__call__(frame, batch_id)
        if self._where == "after-commit" and self.total.batches == self._batch:
            os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, where: str, batch: str) -> None:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with Pipeline(PipelineSettings(Path(folder), most_rows=200)) as pipeline:
        pipeline.sink = DyingSink(pipeline.store, where, int(batch))
        pipeline.run(stopped, once=where == "never")


if __name__ == "__main__":
    main(*sys.argv[1:])
