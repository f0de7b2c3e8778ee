"""`tidings serve` as a child of the torture: started again on the same port whenever it was killed, and ended for good
at the end, with all that came from it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import httpx

from tidings.errors import TidingsError
from tidings.settings import ELSEWHERE, PREFIX
from tidings.torture.processes import Process, descendants, running

Victim = Literal["gateway", "pipeline", "outbox"]
VICTIMS: tuple[Victim, ...] = ("gateway", "pipeline", "outbox")
RETRY_SECONDS = (0.2, 0.5, *(1.0,) * 5, *(2.0,) * 60)  # a receiver that fails at random is given up never
_START = 120.0  # seconds; the machine may be busy
_STOP = 60.0
_LAST_WORDS = 2_000  # characters of the log


class ServiceDidNotStart(TidingsError):
    """How it ended, and its last words."""

    def __init__(self, ending: str, words: str) -> None:
        super().__init__(ending, words)

    def __str__(self) -> str:
        return "the service that was to be tortured {}; it said: {}".format(*self.args)


class Server:
    """`folder` is the service's data folder, and its output goes to serve.log there; `settings` are variables of its
    environment."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._settings = dict(settings or {})
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._child: subprocess.Popen[bytes] | None = None
        self._children: dict[str, Process] = {}
        self._family: set[Process] = set()  # all that ever came from it

    async def start(self) -> None:
        """Returns when it answers. Raises ServiceDidNotStart."""
        self._folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-P", "-m", "tidings.cli.main", "serve", "--data", str(self._folder)]
        with (self._folder / "serve.log").open("ab") as log:
            self._child = subprocess.Popen(
                [*command, "--port", str(self.port), "--xml-port", "0"], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=_environment() | self._settings, start_new_session=True,  # a Ctrl-C is for us alone
            )  # fmt: skip
        end = time.monotonic() + _START
        async with httpx.AsyncClient(trust_env=False) as http:
            while not await _answers(http, self.url):
                if (code := self._child.poll()) is not None:
                    raise ServiceDidNotStart(f"ended with code {code}", self._last_words())
                if time.monotonic() > end:
                    raise ServiceDidNotStart(f"did not answer within {_START:g} s", self._last_words())
                await asyncio.sleep(0.05)

    def look(self) -> None:
        """Remembers all that comes from it. The children of one that was killed stay those that can be struck, until it
        has others."""
        if self._child is None or self._child.poll() is not None:
            return
        seen = descendants(self._child.pid)
        self._family |= seen
        for process in seen:
            words = process.command.split()
            for name in ("pipeline", "outbox"):
                if words[3:5] == ["tidings.cli.main", name] and _is_child(process, self._child.pid):
                    self._children[name] = process

    def kill(self, victim: Victim) -> bool:
        """At once, by SIGKILL; whether it was there."""
        self.look()
        if victim != "gateway":
            return victim in self._children and self._children[victim].kill()
        if self._child is None or self._child.poll() is not None:
            return False
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()
        return True

    async def stop(self) -> int:
        """As an operator does; how many processes it left behind, which are killed."""
        if self._child is not None and self._child.poll() is None:
            self.look()
            self._child.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._child.wait, _STOP)
        end = time.monotonic() + _STOP  # those of a service that was killed end by themselves, Spark not at once
        while running(self._family) and time.monotonic() < end:
            await asyncio.sleep(0.1)
        left = running(self._family)
        self.end()
        return len(left)

    def end(self) -> None:
        """Whatever still runs, at once."""
        self.look()
        if self._child is not None and self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        while left := running(self._family):  # also what came from them after the look
            self._family |= {process for one in left for process in descendants(one.id)}
            for process in running(self._family):
                process.kill()
            time.sleep(0.02)

    def _last_words(self) -> str:
        return (self._folder / "serve.log").read_text(errors="replace")[-_LAST_WORDS:].strip() or "nothing"


def _environment() -> dict[str, str]:
    """Ours, without what it says about some other service."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) or name in ELSEWHERE}
    return kept | {
        f"{PREFIX}ALLOW_LOOPBACK_WEBHOOKS": "true",
        f"{PREFIX}RETRY_SECONDS": " ".join(map(str, RETRY_SECONDS)),
    }


async def _answers(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(f"{url}/healthz", timeout=2)).status_code == 200
    except httpx.HTTPError:
        return False


def _is_child(process: Process, parent: int) -> bool:
    """Not a process of Spark's that was forked from it and has its command still."""
    try:
        stat = Path(f"/proc/{process.id}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[1] == str(parent)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
