"""The processes that the service starts and looks after: the pipeline, which matches, and the outbox, which sends."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from tidings.pipeline.folder import DataFolder
from tidings.pipeline.spark.session import check_java
from tidings.settings import LINK_SECRET, Settings, written_settings
from tidings.store import Store

_FOR_PIPELINE = {  # settings that it reads from the environment; it needs no passwords but the store's
    "TIDINGS_STORE",
    "TIDINGS_LOG_FORMAT",
    "TIDINGS_KEEP_EVENTS_DAYS",
    "TIDINGS_KEEP_KEYS_DAYS",
    "TIDINGS_KEEP_DEAD_LETTERS_DAYS",
    "TIDINGS_LATENESS",
}


def _nothing() -> None:
    """There is nothing to look for."""


def _deaf(said: Mapping[str, Any]) -> None:
    """Nobody wants to know more than how much is left to do."""


@dataclass(frozen=True, slots=True)
class Child:
    """What a supervisor must know of a program.

    It says on standard output, in lines of JSON, how much is left to do (`lag`), and stops when standard input ends.
    `check` raises what makes a start pointless, `wait_for` FolderInUse while it must wait; `progress` is a number that
    changes as the work goes on, and `without` says what was not done where it did not. `hear` gets each line of JSON,
    in another thread.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)  # may hold passwords; others can read a command
    log: Path
    progress: Callable[[], int]
    without: str
    check: Callable[[], None] = _nothing
    wait_for: Callable[[], None] = _nothing
    hear: Callable[[Mapping[str, Any]], None] = _deaf


Companion: TypeAlias = Callable[[Settings, Store], Child]  # made when the port is known, before anybody is let in


def pipeline_child(settings: Settings, store: Store, command: Sequence[str] | None = None) -> Child:
    folder = DataFolder(settings.data)

    def wait_for() -> None:
        """The pipeline of a service that was killed may still be ending."""
        folder.lock()
        folder.unlock()

    return Child(
        "pipeline",
        command or pipeline_command(settings),
        os.environ | {name: text for name, text in written_settings(settings).items() if name in _FOR_PIPELINE},
        settings.data / "pipeline.log",
        store.committed,
        "on one batch",
        check_java,
        wait_for,
    )


def outbox_child(settings: Settings, store: Store, command: Sequence[str] | None = None) -> Child:
    """It needs no folder: should an old one still run, the new one waits for its lease."""
    return Child(
        "outbox",
        command or outbox_command(),
        os.environ | written_settings(settings),
        settings.data / "outbox.log",
        lambda: sum(one.attempts for one in store.delivery_figures()),
        "without sending anything",
    )


def network_child(settings: Settings, store: Store, secret: str, at: Callable[[int], None]) -> Child:
    """`at` hears the port at which the gateway can speak to it; the secret lets nobody else do so."""

    def hear(said: Mapping[str, Any]) -> None:
        if isinstance(port := said.get("port"), int):
            at(port)

    return Child(
        "network",
        [*_own("link", "run")],
        os.environ | written_settings(settings) | {LINK_SECRET: secret},
        settings.data / "network.log",
        store.tail,
        "without anything journaled",
        hear=hear,
    )


def pipeline_command(settings: Settings) -> list[str]:
    return [*_own("pipeline"), "--data", str(settings.data), "--master", settings.spark_master, "--json"]


def outbox_command() -> list[str]:
    """All that one service starts, one after the other, have one name: the next need not wait until the lease of one
    that was killed has run out. Another service has another, even where host and process look the same."""
    return [*_own("outbox"), "--holder", f"{socket.gethostname()}:{os.getpid()}:{token_hex(4)}", "--json"]


def _own(*command: str) -> list[str]:
    """-P: a folder named tidings where somebody starts the service is not this package."""
    return [sys.executable, "-P", "-m", "tidings.cli.main", *command, "--while-stdin"]
