"""`tidings demo` as a process of its own, as a user starts it, on ports that are free."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from lxml import html

from tests.service.served import PATIENCE, Served
from tidings.demo.people import PASSWORDS
from tidings.demo.wishes import DEMO
from tidings.torture.processes import Process, descendants

FEEDS = "-m tidings.demo"


class Shown(Served):
    """Use as a context; what is left of it is killed at the end."""

    def __init__(self, data: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "tidings.cli.main", "demo", "--data", str(data), "--port", "0"]
        self.data = data
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [*command, "--xml-port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        self.lines = []
        self.errors = ""
        self._ready = threading.Event()
        self._readers = [threading.Thread(target=work, daemon=True) for work in (self._read_lines, self._read_errors)]
        for reader in self._readers:
            reader.start()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def wait_for(self, said: str) -> None:
        """Until a line has it."""
        until(lambda: any(said in line for line in self.lines))

    def log_in(self, name: str = DEMO) -> str:
        """A token."""
        status, answer = self.ask("POST", "/v1/tokens", {"username": name, "password": PASSWORDS[name]})
        assert status == 201, answer
        token: str = answer["token"]
        return token

    def subscriptions(self, token: str) -> list[dict[str, Any]]:
        status, answer = self.ask("GET", "/v1/subscriptions?limit=1000", token=token)
        assert status == 200, answer
        found: list[dict[str, Any]] = answer["items"]
        return found

    def figure(self, name: str) -> float:
        """Of /metrics, without labels."""
        text = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=PATIENCE, trust_env=False).text
        (line,) = [line for line in text.splitlines() if line.startswith(f"tidings_{name} ")]
        return float(line.split()[-1])

    def feeds(self) -> Process:
        """The feeding process."""
        found: list[Process] = []

        def look() -> bool:
            found[:] = [one for one in descendants(self.process.pid) if FEEDS in one.command]
            return len(found) == 1

        until(look)
        return found[0]


def until(holds: Callable[[], object], patience: float = 300.0) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


class Visitor:
    """A browser without scripts."""

    def __init__(self, shown: Shown, name: str = DEMO) -> None:
        address = f"http://127.0.0.1:{shown.port}"
        self.client = httpx.Client(
            base_url=address, timeout=PATIENCE, headers={"Origin": address}, trust_env=False, follow_redirects=True
        )
        forms = html.fromstring(self.client.get("/pages/login").text).forms
        login = next(one for one in forms if "password" in one.fields)
        fields = dict(login.form_values()) | {"username": name, "password": PASSWORDS[name]}
        self.client.post("/pages/login", data=fields).raise_for_status()

    def text(self, path: str) -> str:
        """What is to be read on a page."""
        answer = self.client.get(path).raise_for_status()
        return " ".join(html.fromstring(answer.text).text_content().split())

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
