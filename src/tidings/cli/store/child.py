"""Commands that run beside the service, alone or as its child process: shared options, start and end.

`tidings outbox` and `tidings link run` are such commands.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.terminal import plain_errors, service_log
from tidings.settings import Settings, read_settings

if TYPE_CHECKING:  # SQLAlchemy takes long to load, and other commands do without
    from tidings.store import Store

DataFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help=f"The data folder; {Settings().data} unless set.")
]
StoreUrl = Annotated[str | None, typer.Option(metavar="URL", help="postgresql://… Default: SQLite in the data folder.")]
SettingsFile = Annotated[Path | None, typer.Option(metavar="FILE", help="The service's settings file (TOML).")]
WhileStdin = Annotated[bool, typer.Option("--while-stdin", help="Stop when standard input closes; for supervisors.")]


def stopped_event(while_stdin: bool) -> threading.Event:
    """Set when the parent process ends. Call it before libraries load, which takes seconds."""
    stopped = threading.Event()
    if while_stdin:
        from tidings.pipeline.parent import stop_with_parent

        stop_with_parent(stopped)
    return stopped


def run_on_store(
    process: str,
    data: Path | None,
    store: str | None,
    settings: Path | None,
    while_stdin: bool,
    run: Callable[[Settings, Store, threading.Event], Coroutine[Any, Any, None]],
) -> None:
    """Runs until the event is set, by a signal or by the parent's end."""
    stopped = stopped_event(while_stdin)
    with plain_errors():
        chosen = read_settings({"data": data, "store": store}, os.environ, settings)
    with service_log(process, chosen.log_format), plain_errors():
        import uvloop

        from tidings.store import Store
        from tidings.vault import vault_of

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        with (
            Store.open(chosen.store or chosen.data / "tidings.db").use_vault(vault_of(chosen)) as opened,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(run(chosen, opened, stopped))
