"""`tidings subscribe`, `edit`, `pause`, `resume`, `waiting` and `unsubscribe`: your subscriptions at a server."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.options import Dialect
from tidings.cli.server.channels import (
    Apprise,
    DigestCount,
    DigestSeconds,
    Email,
    Quiet,
    Rate,
    Webhook,
    channel_of,
)
from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import messages, note, output, plain, warn
from tidings.language.dialects import CORE, core_text

if TYPE_CHECKING:
    from tidings.client import StoredSubscription

Name = Annotated[str, typer.Option("--name", metavar="NAME", help="What you call it; need not be unique.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="A few lines for yourself.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The subscription's id.", show_default=False)]


def subscribe(
    filter: Annotated[str, typer.Argument(metavar="FILTER", help="A filter.", show_default=False)] = "",
    composite: Annotated[
        str, typer.Option(metavar="TEXT", help="A composite instead of a filter: a pattern over time.")
    ] = "",
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    dialect: Dialect = CORE,
    name: Name = "",
    note: Note = "",
    expiry: Annotated[str, typer.Option(metavar="WHEN", help="When it ends, e.g. 2026-12-31T00:00:00Z.")] = "",
    webhook: Webhook = "",
    email: Email = "",
    apprise: Apprise = "",
    digest_count: DigestCount = None,
    digest_seconds: DigestSeconds = None,
    rate: Rate = "",
    quiet: Quiet = "",
    settled: Annotated[
        bool, typer.Option("--settled", help="In a network of servers, wait until all of them know about it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Subscribe with a filter or a composite and print the subscription's id. It matches every event published from now
    on.

    Matches are stored, and sent by the channel that you choose. A webhook's secret is shown only once.

    Example: tidings subscribe "price < 1300 and brand = 'mini'" --name "Cheap minis"
    """
    if bool(filter) == bool(composite):
        raise typer.BadParameter("give either a FILTER or --composite.")
    channel = channel_of(webhook, email, apprise, digest_count, digest_seconds, rate, quiet)
    with connected(server, token) as client:
        made = client.subscribe(
            core_text(dialect, filter) if filter else None,
            composite=composite or None,
            expiry=expiry or None,
            channel=channel,
            name=name or None,
            note=note or None,
            settled=settled,
        )
    _remark(made, as_json)
    typer.echo(json.dumps(asdict(made)) if as_json else made.id)


def edit(
    id: Id,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    filter: Annotated[str, typer.Option(metavar="FILTER", help="The new filter.")] = "",
    composite: Annotated[str, typer.Option(metavar="TEXT", help="The new composite.")] = "",
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The new name; '' removes it.")] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="The new note; '' removes it.")] = None,
    expiry: Annotated[
        str, typer.Option(metavar="WHEN", help="When it ends, e.g. 2030-12-31T00:00:00Z, or 'never'.")
    ] = "",
    webhook: Webhook = "",
    email: Email = "",
    apprise: Apprise = "",
    stored: Annotated[bool, typer.Option("--stored", help="Remove the channel: matches are only stored.")] = False,
    digest_count: DigestCount = None,
    digest_seconds: DigestSeconds = None,
    rate: Rate = "",
    quiet: Quiet = "",
    as_json: AsJson = False,
) -> None:
    """Change a subscription's filter or composite, name, note, expiry or channel, all at once or not at all. It keeps
    its id.

    A filter may become a composite, and the reverse. A channel option replaces the whole channel.

    Example: tidings edit s-0123456789abcdefghij --filter "price < 900" --expiry never
    """
    channel = channel_of(webhook, email, apprise, digest_count, digest_seconds, rate, quiet)
    if stored and channel is not None:
        raise typer.BadParameter("choose one of --stored, --webhook, --email and --apprise.")
    if filter and composite:
        raise typer.BadParameter("choose one of --filter and --composite.")
    members: dict[str, Any] = {"filter": filter} if filter else {}
    members |= {"composite": composite} if composite else {}
    members |= {member: value for member, value in (("name", name), ("note", note)) if value is not None}
    if expiry:
        members["expiry"] = None if expiry == "never" else expiry
    if stored or channel is not None:
        members["channel"] = channel or {"kind": "stored"}
    if not members:
        raise typer.BadParameter("say what to change: --filter, --composite, --name, --note, --expiry or a channel.")
    with connected(server, token) as client:
        made = client.edit(id, **members)
    _remark(made, as_json)
    _tell(made, "unchanged" if made.position is None and "channel" not in members else "changed", as_json)


def pause(id: Id, server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Pause a subscription: it matches no event published from now on.

    Example: tidings pause s-0123456789abcdefghij
    """
    with connected(server, token) as client:
        made = client.pause(id)
    _tell(made, "paused", as_json)


def resume(id: Id, server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Resume a paused subscription: it matches events published from now on.

    Example: tidings resume s-0123456789abcdefghij
    """
    with connected(server, token) as client:
        made = client.resume(id)
    _tell(made, "active", as_json)


def waiting(id: Id, server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Explain what a composite waits for: its partial matches, what is missing, and when the oldest expires.

    Example: tidings waiting s-0123456789abcdefghij
    """
    with connected(server, token) as client:
        found = client.waiting(id)
    if as_json:
        typer.echo(json.dumps(found))
        return
    for one in found["waiting"]:
        output.print(plain(one["told"]), soft_wrap=True)
    if not found["waiting"]:
        messages.print(plain(f"{id} is paused and waits for nothing"))


def unsubscribe(id: Id, server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Withdraw a subscription. Its matches stay readable.

    Example: tidings unsubscribe s-0123456789abcdefghij
    """
    with connected(server, token) as client:
        position = client.unsubscribe(id)
    if as_json:
        typer.echo(json.dumps({"withdrawn": id, "position": position}))
    messages.print(plain(f"{id} is withdrawn"))


def _remark(made: StoredSubscription, as_json: bool) -> None:
    for warning in made.warnings:
        warn(warning)
    if made.confirm:
        warn(f"not sent yet: {made.confirm}")
    if made.secret and not as_json:
        note(f"the webhook's secret, shown only once: {made.secret}")


def _tell(made: StoredSubscription, now: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(made)))
    messages.print(plain(f"{made.id} is {now}"))
