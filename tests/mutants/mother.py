"""Runs tests for `mutant`, each time in a process forked from this one, which has loaded the libraries already.

Only libraries: neither Tidings nor its tests, which are to be those of the mutant. A line of JSON on standard input is
one run; the answer is a line with the exit code, or null where there was no end within the limit."""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import sys
from typing import Any

LIBRARIES = (
    "pytest", "_pytest.terminal", "_pytest.junitxml", "hypothesis", "hypothesis.strategies", "hypothesis.stateful",
    "numpy", "numba", "pyarrow", "pyarrow.compute", "pyarrow.parquet", "pandas", "msgspec", "lxml.etree", "regex",
    "Stemmer", "sqlalchemy", "httpx", "prometheus_client", "rich.console", "typer",
)  # fmt: skip


def main() -> None:
    sys.path[:] = [one for one in sys.path if os.path.abspath(one or ".") != os.path.dirname(os.path.abspath(__file__))]
    for name in LIBRARIES:
        importlib.import_module(name)
    assert not any(name.partition(".")[0] in ("tidings", "tests") for name in sys.modules)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _run(asked: dict[str, Any]) -> int | None:
    child = os.fork()
    if not child:
        _become_pytest(asked)
    watched = select.poll()
    descriptor = os.pidfd_open(child)
    watched.register(descriptor, select.POLLIN)
    ended = watched.poll(1000 * asked["limit"])
    os.close(descriptor)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become_pytest(asked: dict[str, Any]) -> None:
    code = 4
    try:
        output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in ((0, nothing), (1, output), (2, output)):
            os.dup2(descriptor, number)
        os.chdir(asked["root"])
        os.environ.update(asked["environment"])
        sys.path[:0] = asked["path"]
        import pytest

        code = pytest.main(asked["arguments"])
        sys.stdout.flush()
    finally:
        os._exit(code)


main()
