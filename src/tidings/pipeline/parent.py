"""A pipeline that somebody supervises ends with whoever started it, even where that one was killed.

Whoever starts it holds the other end of its standard input. When that closes the pipeline stops as if it had been
asked to, and where this takes too long it ends at once: what it had not committed is done at the next start. Spark's
JVM and its Python workers end when the pipes from the pipeline to them close.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading

_PATIENCE = 12.0  # seconds; who starts the next pipeline should not wait long for the folder


def stop_with_parent(stopped: threading.Event, patience: float = _PATIENCE) -> None:
    """Returns at once; `stopped` is set when standard input has reached its end."""
    threading.Thread(target=_follow, args=(stopped, patience), name="parent", daemon=True).start()


def _follow(stopped: threading.Event, patience: float) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    # Its thread needs no interpreter: it works while a library holds on to it, and tells where that was.
    faulthandler.dump_traceback_later(patience, exit=True)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # nobody reads it any more, and a broken pipe would cut the batch off
    os.close(nowhere)
    stopped.set()
