"""`python -m tidings.demo`: the feeding process, as `tidings demo` starts it. It stops when standard input ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from tidings.pipeline.parent import stop_with_parent


def main() -> int:
    stopped = threading.Event()
    stop_with_parent(stopped)  # before the libraries load
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    from tidings.demo.assignment import VARIABLE, Assignment
    from tidings.demo.feeding import feed
    from tidings.errors import TidingsError

    def tell(members: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(members) + "\n")
        sys.stdout.flush()

    def log(line: str) -> None:
        if not stopped.is_set():  # a service that stops does not answer, which is no news
            sys.stderr.write(f"warning: {line}\n")
            sys.stderr.flush()

    try:
        feed(Assignment.read(os.environ[VARIABLE]), stopped, tell, log)
    except TidingsError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
