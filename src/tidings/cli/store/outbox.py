"""`tidings outbox`: sends what is owed to subscribers, by itself or as a child process of the service."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.terminal import messages, plain_errors, service_log
from tidings.settings import Settings, read_settings

if TYPE_CHECKING:  # SQLAlchemy takes long to load, and other commands do without
    from tidings.notifying.outbox.outbox import Outbox
    from tidings.store import Store

_DEFAULT = Settings()
_LOOK = 0.1  # seconds
_SAY = 1.0  # seconds between lines of JSON
_BUSIEST = 50  # destinations that a line names


def outbox(
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help=f"The data folder; {_DEFAULT.data} unless set.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="postgresql://… Default: SQLite in the data folder.")
    ] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE", help="The service's settings file (TOML).")] = None,
    holder: Annotated[
        str, typer.Option(metavar="NAME", help="Take over the lease of this holder; for supervisors.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON every second.")] = False,
    while_stdin: Annotated[
        bool, typer.Option("--while-stdin", help="Stop when standard input closes; for supervisors.")
    ] = False,
) -> None:
    """Send deliveries: webhooks, mails and Apprise, with retries until they arrive.

    Any number may run on one store: one sends, the others wait to take over. Other settings come from the
    environment (TIDINGS_SMTP_HOST, …), then from the file.

    Example: tidings outbox --data data
    """
    stopped = threading.Event()
    if while_stdin:  # before the libraries load
        from tidings.pipeline.parent import stop_with_parent

        stop_with_parent(stopped)
    with plain_errors():
        chosen = read_settings({"data": data, "store": store}, os.environ, settings)
    with service_log("outbox", chosen.log_format), plain_errors():
        import uvloop

        from tidings.store import Store
        from tidings.vault import vault_of

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        with (
            Store.open(chosen.store or chosen.data / "tidings.db").use_vault(vault_of(chosen)) as opened,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_run(chosen, opened, holder, stopped, as_json))
    if not as_json:
        messages.print("the outbox has stopped")


async def _run(settings: Settings, store: Store, holder: str, stopped: threading.Event, as_json: bool) -> None:
    from tidings.notifying.channels.kinds import Kinds
    from tidings.notifying.outbox.limits import Limits
    from tidings.notifying.outbox.outbox import Outbox
    from tidings.notifying.outbox.schedule import DAY, WAITS

    kinds = Kinds(settings)
    try:
        sending = Outbox(
            store,
            kinds.by_name,
            limits=Limits(keep=settings.keep_deliveries_days * DAY),
            holder=holder or None,
            waits=settings.retry_seconds or WAITS,
            mail_notice=kinds.email.mail_notice if settings.smtp_host else None,
        )
        ending = asyncio.Event()
        running = asyncio.create_task(sending.run(ending))
        said = 0.0
        while not stopped.is_set() and not running.done():
            if as_json and asyncio.get_running_loop().time() - said >= _SAY:
                said = asyncio.get_running_loop().time()
                _say(sending)
            await asyncio.wait((running,), timeout=_LOOK)
        ending.set()
        await running
    finally:
        await kinds.close()


def _say(sending: Outbox) -> None:
    """`lag` counts the deliveries in progress; with none, nothing is left to do. `busiest` is where they go."""
    look = {"leading": sending.is_leading, "lag": sending.under_way, "busiest": sending.busiest(_BUSIEST)}
    sys.stdout.write(json.dumps(look) + "\n")
    sys.stdout.flush()
