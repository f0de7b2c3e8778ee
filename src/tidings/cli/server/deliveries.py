"""`tidings deliveries` and `replay-deliveries`: what a server sent to you, and sending it again."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, AsJsonLines, Server, Token, connected
from tidings.cli.server.subscribe import Id
from tidings.cli.terminal import counted, messages, output, plain

if TYPE_CHECKING:
    from tidings.client import Delivery


def deliveries(
    id: Id,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    state: Annotated[Literal["due", "delivered", "dead"] | None, typer.Option(help="Only these.")] = None,
    number: Annotated[int | None, typer.Option(metavar="N", help="Only this delivery, with all its attempts.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 100,
    as_json: AsJsonLines = False,
) -> None:
    """Show a subscription's deliveries, newest first.

    Example: tidings deliveries s-0123456789abcdefghij --state dead
    """
    with connected(server, token) as client:
        if number is not None:
            _show_one(client.delivery(id, number), as_json)
            return
        found = list(islice(client.deliveries(id, state), limit))
        channel = client.channel(id)
    if as_json:
        for one in found:
            members = asdict(one)
            del members["tried"]
            typer.echo(json.dumps(members))
        return
    table = Table("number", "state", "attempts", "due or done", "sequence", box=None, pad_edge=False)
    for one in found:
        state_seen = "collecting" if one.collecting else "held" if one.held and one.state == "due" else one.state
        table.add_row(str(one.number), state_seen, str(one.attempts), one.done or one.due, _sequences(one))
    if found:
        output.print(table)
    reason = f": {channel['reason']}" if channel.get("reason") else ""
    told = f"; the {channel['kind']} channel is {channel['state']}{reason}" if channel["kind"] != "stored" else ""
    messages.print(plain(f"{counted(len(found), 'delivery', 'deliveries')}{told}"))


def replay_deliveries(
    id: Id,
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="[NUMBER]...", help="Numbers of deliveries.", show_default=False)
    ] = None,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    failed: Annotated[bool, typer.Option("--failed", help="All dead deliveries.")] = False,
    first: Annotated[int | None, typer.Option("--from", metavar="N", min=1, help="First sequence number.")] = None,
    last: Annotated[int | None, typer.Option("--to", metavar="N", min=1, help="Last sequence number.")] = None,
    as_json: AsJson = False,
) -> None:
    """Send deliveries again, including successful ones.

    Example: tidings replay-deliveries s-0123456789abcdefghij --failed
    """
    if (bool(numbers), failed, first is not None or last is not None).count(True) != 1:
        raise typer.BadParameter("give numbers, or --failed, or --from and --to.")
    with connected(server, token) as client:
        count = client.replay(id, numbers or None, failed=failed, first=first, last=last)
    if as_json:
        typer.echo(json.dumps({"replayed": count}))
    messages.print(f"{counted(count, 'delivery', 'deliveries')} due again", markup=False)


def _show_one(one: Delivery, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(one)))
        return
    output.print(plain(f"{one.number}  {one.state}  sequence {_sequences(one)}  due {one.due}"))
    for tried in one.tried:
        said = "ok" if tried.ok else tried.problem
        output.print(plain(f"  attempt {tried.attempt}  {tried.started}  {tried.seconds:.3f} s  {said}"))
        for line in (*tried.request.splitlines(), *tried.response.splitlines()):
            output.print(plain(f"    {line}"))


def _sequences(one: Delivery) -> str:
    if not one.sequences:
        return ""
    first, last = one.sequences[0], one.sequences[-1]
    return str(first) if first == last else f"{first} to {last}"
