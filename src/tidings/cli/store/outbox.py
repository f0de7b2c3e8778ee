"""`tidings outbox`: sends what is owed to subscribers, by itself or as a child process of the service."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.store.child import DataFolder, SettingsFile, StoreUrl, WhileStdin, run_on_store
from tidings.cli.terminal import messages
from tidings.settings import Settings

if TYPE_CHECKING:  # SQLAlchemy takes long to load, and other commands do without
    from tidings.notifying.outbox.outbox import Outbox
    from tidings.store import Store

_LOOK = 0.1  # seconds
_SAY = 1.0  # seconds between lines of JSON
_BUSIEST = 50  # destinations that a line names


def outbox(
    data: DataFolder = None,
    store: StoreUrl = None,
    settings: SettingsFile = None,
    holder: Annotated[
        str, typer.Option(metavar="NAME", help="Take over the lease of this holder; for supervisors.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON every second.")] = False,
    while_stdin: WhileStdin = False,
) -> None:
    """Send deliveries: webhooks, mails and Apprise, with retries until they arrive.

    Any number may run on one store: one sends, the others wait to take over. Other settings come from the
    environment (TIDINGS_SMTP_HOST, …), then from the file.

    Example: tidings outbox --data data
    """

    async def run(settings: Settings, store: Store, stopped: threading.Event) -> None:
        await _run(settings, store, holder, stopped, as_json)

    run_on_store("outbox", data, store, settings, while_stdin, run)
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
                report(sending)
            await asyncio.wait((running,), timeout=_LOOK)
        ending.set()
        await running
    finally:
        await kinds.close()


def report(sending: Outbox) -> None:
    """`lag` counts the deliveries in progress; with none, nothing is left to do. `busiest` is where they go."""
    look = {"leading": sending.is_leading, "lag": sending.under_way, "busiest": sending.busiest(_BUSIEST)}
    sys.stdout.write(json.dumps(look) + "\n")
    sys.stdout.flush()
