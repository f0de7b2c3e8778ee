"""`python -m tidings.demo`: the feeding process, as `tidings demo` starts it. It stops when standard input ends."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from typing import Any

from tidings.pipeline.parent import stop_with_parent

_log = logging.getLogger("tidings.demo")


def main() -> int:
    stopped = threading.Event()
    stop_with_parent(stopped)  # before the libraries load
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    from tidings.demo.assignment import VARIABLE, Assignment
    from tidings.demo.feeding import feed
    from tidings.errors import TidingsError
    from tidings.logs import VARIABLE as LOG_FORMAT
    from tidings.logs import logged

    def tell(members: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(members) + "\n")
        sys.stdout.flush()

    def log(line: str) -> None:
        if not stopped.is_set():  # a service that stops does not answer, which is no news
            _log.warning("%s", line)

    with logged("feeds", os.environ.get(LOG_FORMAT, "text")):
        try:
            feed(Assignment.read(os.environ[VARIABLE]), stopped, tell, log)
        except TidingsError as problem:
            _log.error("%s", problem)
            return 1
        except Exception:
            _log.critical("it ended with an unexpected error", exc_info=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
