"""`tidings move`: your subscriptions go to another server of the network."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import counted, fail, messages, plain

_LOOK = 0.5  # seconds


def move(
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The new server's address.", show_default=False)],
    subscription: Annotated[
        list[str] | None,
        typer.Option("--subscription", metavar="ID", help="Only this one; repeatable. Default: all of yours."),
    ] = None,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    to_token: Annotated[
        str,
        typer.Option(
            "--to-token", metavar="TOKEN", help="Your token at the new server. Default: from `tidings login`."
        ),
    ] = "",
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait until all have moved.", min=0)] = 60,
    as_json: AsJson = False,
) -> None:
    """Move your subscriptions to another server of the network, with their notifications. Nothing is missed.

    You need an account at both. Subscriptions and notifications keep their ids, and composites their partial matches.
    Channels stay behind: create new ones at the new server. If it takes longer, it continues on its own; run the
    command again to see the progress.

    Example: tidings move --to https://berlin.example.org
    """
    with connected(to, to_token) as client:
        made = client.move_ticket()
    with connected(server, token) as client:
        moving = client.move_subscriptions(made["server"], made["ticket"], subscription)
        left = _waited(client, set(moving), wait)
    if as_json:
        typer.echo(
            json.dumps({"to": made["server"], "moved": sorted(set(moving) - {*left}), "left": list(left.values())})
        )
    else:
        messages.print(plain(f"moved {counted(len(moving) - len(left), 'subscription')} to {made['server']}"))
    for one in left.values():
        reason = one["problem"] or one["waits"] or "on its way"
        messages.print(plain(f"{one['subscription']} is still here: {reason}"))
    if any(one["problem"] for one in left.values()):
        fail("some were refused; they stay here as they are")


def _waited(client: Any, moving: set[str], seconds: float) -> dict[str, dict[str, Any]]:
    """What is left of them after so long, or once nothing more will happen."""
    until = time.monotonic() + seconds
    while True:
        left = {one["subscription"]: one for one in client.moves() if one["subscription"] in moving}
        if not any(not one["problem"] for one in left.values()) or time.monotonic() > until:
            return left
        time.sleep(_LOOK)
