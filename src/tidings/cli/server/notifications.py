"""`tidings notifications`: what has matched your subscriptions at a server."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.detections import constituents
from tidings.cli.server.server import DEFAULT_SERVER, AsJsonLines, Server, Token, connected
from tidings.cli.terminal import counted, messages, output, plain

if TYPE_CHECKING:
    from tidings.client import Client, Notification

_PAGE = 1_000


def notifications(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    follow: Annotated[bool, typer.Option("--follow", help="Keep following until Ctrl-C.")] = False,
    after: Annotated[
        str, typer.Option(metavar="CURSOR", help="Only those after this cursor, from an earlier run.")
    ] = "",
    subscription: Annotated[str, typer.Option(metavar="ID", help="Only those of one subscription.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
    as_json: AsJsonLines = False,
) -> None:
    """Show events that matched your subscriptions, in journal order.

    Example: tidings notifications --follow --json
    """
    with connected(server, token) as client:
        if follow:
            _follow(client, after or None, subscription or None, limit, as_json)
        else:
            _read(client, after or None, subscription or None, limit, as_json)


def _follow(client: Client, after: str | None, subscription: str | None, limit: int | None, as_json: bool) -> None:
    shown = 0
    try:
        for one in client.follow(after, subscription=subscription):
            _show(one, as_json)
            sys.stdout.flush()
            shown += 1
            if shown == limit:
                break
    except KeyboardInterrupt:  # the way to end it
        messages.print()


def _read(client: Client, after: str | None, subscription: str | None, limit: int | None, as_json: bool) -> None:
    shown = 0
    while limit is None or shown < limit:
        at_most = _PAGE if limit is None else min(_PAGE, limit - shown)
        page = client.notifications(after, limit=at_most, subscription=subscription)
        for one in page.items:
            _show(one, as_json)
        shown += len(page.items)
        after = page.next
        if not page.items:
            break
    goes_on = f"; --after {after} goes on from here" if after else ""
    messages.print(f"{counted(shown, 'notification')}{goes_on}", markup=False)


def _show(one: Notification, as_json: bool) -> None:
    if as_json:
        members = asdict(one)
        del members["resume"]  # of a line of many it says less than it seems
        for optional in ("subscription_name", "detection"):
            if members[optional] is None:
                del members[optional]
        typer.echo(json.dumps(members))
        return
    parts = [one.matched_at, one.subscription_name or one.subscription]
    if one.detection is not None:
        key = map(str, one.detection["key"])
        parts += [one.detection["time"], *key, constituents(one.detection["events"], one.detection.get("expired", ""))]
    if one.event is not None:
        parts.append(json.dumps(one.event, ensure_ascii=False))
    elif one.detection is None:
        parts.append("the event was removed")
    output.print(plain("  ".join(parts)))
