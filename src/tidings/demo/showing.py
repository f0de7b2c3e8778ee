"""The service's side of the demo: its settings, its accounts, its banner, and the feeding process as a companion."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tidings.demo.assignment import VARIABLE, Assignment
from tidings.demo.people import PASSWORDS, People, prepare
from tidings.demo.wishes import DEMO
from tidings.logs import VARIABLE as LOG_FORMAT
from tidings.service.service import serve
from tidings.service.workers.children import Child
from tidings.settings import Settings
from tidings.store import Store

# Failures and what is given up for good are to be seen within minutes, not days.
RETRIES = (5.0, 15.0, 60.0)
KEPT = 1  # days of events, of what matched them and of deliveries, so that it may run for weeks


def show(settings: Settings, rate: float, speed: float, say: Callable[[str], None]) -> None:
    """Until a signal, as `serve`, which raises likewise. `rate` of auctions a second, `speed` of the flights."""
    demo = _Demo(rate, speed, say)
    serve(chosen(settings), demo.say, [demo.feeds])


def chosen(settings: Settings) -> Settings:
    """The demo's own webhooks go to this machine, which is for development: only where nobody else comes in."""
    return replace(
        settings,
        showcase=True,
        retry_seconds=settings.retry_seconds or RETRIES,
        keep_deliveries_days=min(settings.keep_deliveries_days, KEPT),
        keep_events_days=settings.keep_events_days or KEPT,
        allow_loopback_webhooks=settings.allow_loopback_webhooks or settings.on_loopback,
    )


class _Demo:
    def __init__(self, rate: float, speed: float, say: Callable[[str], None]) -> None:
        self._rate, self._speed, self._say = rate, speed, say
        self._began = time.time()
        self._banner: list[str] = []
        self._said: set[str] = set()  # a feeding process that was started again has nothing new to tell
        self._saying = threading.Lock()

    def say(self, line: str) -> None:
        """What the service says; after its first line, where it is, comes how to log in."""
        self._say(line)
        banner, self._banner = self._banner, []
        for own in banner:
            self._say(own)

    def feeds(self, settings: Settings, store: Store) -> Child:
        people = prepare(store, settings.first_scopes)
        self._banner = banner(settings, people)
        assignment = Assignment(
            _address(settings), str(settings.data.absolute()), people.publisher, people.tokens,
            self._rate, self._speed, settings.allow_loopback_webhooks, self._began,
        )  # fmt: skip
        return Child(
            "feeds",
            [sys.executable, "-P", "-m", "tidings.demo"],
            os.environ | {VARIABLE: assignment.written(), LOG_FORMAT: settings.log_format},
            settings.data / "feeds.log",
            store.tail,
            "without publishing anything",
            hear=self._hear,
        )

    def _hear(self, said: Mapping[str, Any]) -> None:
        with self._saying:
            if "say" in said:
                self._once(str(said["say"]), str(said["say"]))
            if "pipeline" in said:
                self._once("pipeline", f"The pipeline runs, {said['pipeline']:.0f} s after the start.")
            if "match" in said:
                self._once("match", f"The first match came after {said['match']:.0f} s.")

    def _once(self, key: str, line: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self._say(line)


def banner(settings: Settings, people: People) -> list[str]:
    """How to look at it, and what is not as it should be."""
    lines = []
    if DEMO in people.tokens:
        lines.append(f"Log in at {settings.links_lead_to}/pages/login as {DEMO} with the password: {PASSWORDS[DEMO]}")
    for name in people.tokens:
        if name != DEMO:
            lines.append(f"There is also {name}, with the password: {PASSWORDS[name]}")
    for name in people.others:
        lines.append(
            f"The account {name} has a password of its own here; the demo leaves it and its subscriptions alone."
        )
    if not settings.on_loopback:
        lines.append("Others can come in from outside, and these passwords are known to all; webhooks are left out.")
    return lines


def _address(settings: Settings) -> str:
    """Where this machine reaches it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
