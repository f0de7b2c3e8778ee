"""`tidings serve` as a process of its own, as a user starts it, on ports that are free."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

ADDRESSES = re.compile(r"at http://(\S+):(\d+) and for XML at \S+:(\d+);")
PATIENCE = 120.0  # seconds; the machine may be busy


class Served:
    """Use as a context; what is left of it is killed at the end."""

    def __init__(self, data: Path, *options: str, **environment: str) -> None:
        own = [sys.executable, "-m", "tidings.cli.main", "serve", "--data", str(data), "--port", "0", "--xml-port", "0"]
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [*own, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment
        )
        self.lines: list[str] = []
        self.errors = ""
        self._ready = threading.Event()
        works = (self._read_lines, self._read_errors)
        self._readers = [threading.Thread(target=work, daemon=True) for work in works]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Served:
        return self.ready()

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self.wait()

    def ready(self) -> Served:
        """Returns when it has said where it listens."""
        assert self._ready.wait(PATIENCE)
        assert self.lines, self.wait_for_errors()
        found = ADDRESSES.search(self.lines[0])
        assert found, self.lines
        self.port, self.xml_port = int(found[2]), int(found[3])
        return self

    def ask(self, method: str, path: str, body: object = None, token: str = "") -> tuple[int, Any]:
        """One request on a connection of its own. Raises OSError or HTTPException where the service went away."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def pipeline(self) -> dict[str, Any]:
        """How the pipeline is, as /readyz tells it."""
        _, body = self.ask("GET", "/readyz")
        found: dict[str, Any] = body["pipeline"]
        return found

    def wait_until_running(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while (seen := self.pipeline())["state"] != "running":
            assert time.monotonic() < deadline, seen
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def wait_for_errors(self) -> str:
        self.wait()
        return self.errors

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            for line in stream:
                self.lines.append(line.rstrip("\n"))
                self._ready.set()
        self._ready.set()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            self.errors = stream.read()


@dataclass(frozen=True)
class Process:
    """A number is soon given out again; with the moment of its start it is one process (Linux)."""

    id: int
    started: int


def descendants(process: int) -> set[Process]:
    """All living processes that come from this one."""
    children: dict[int, list[Process]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (stat := _stat(int(folder.name))) is not None:
            children.setdefault(int(stat[1]), []).append(Process(int(folder.name), int(stat[19])))
    found: set[Process] = set()
    rest = [process]
    while rest:
        for child in children.get(rest.pop(), ()):
            found.add(child)
            rest.append(child.id)
    return found


def alive(processes: set[Process]) -> dict[Process, str]:
    """Those of them that still run, with what they are."""
    found = {}
    for process in processes:
        stat = _stat(process.id)
        if stat is not None and stat[0] != "Z" and int(stat[19]) == process.started:
            try:
                command = Path(f"/proc/{process.id}/cmdline").read_bytes()
            except OSError:
                continue
            found[process] = command.replace(b"\0", b" ").decode()[:200]
    return found


def _stat(process: int) -> list[str] | None:
    """State, parent, …, start; None where it has just ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
