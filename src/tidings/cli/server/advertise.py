"""`tidings advertise`: what you will publish, for a network that is distributed by advertisements."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import counted, messages, output, plain


def advertise(
    filter: Annotated[
        str, typer.Argument(metavar="FILTER", help="Matches everything that you will publish.", show_default=False)
    ] = "",
    withdraw: Annotated[str, typer.Option(metavar="ID", help="Withdraw one of yours instead.")] = "",
    as_list: Annotated[bool, typer.Option("--list", help="List those of this server instead.")] = False,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Announce what you will publish. Servers then send their filters only where a match is possible.

    It binds publishers once an operator has set `tidings network --distribution advertisements`: an event that no
    advertisement of the server matches is refused.

    Example: tidings advertise "event_type = car and price < 5000"
    """
    if sum(map(bool, (filter, withdraw, as_list))) != 1:
        raise typer.BadParameter("give a filter, --withdraw or --list.", param_hint="'FILTER'")
    with connected(server, token) as client:
        if filter:
            made = client.advertise(filter)
            typer.echo(json.dumps(made) if as_json else made["id"])
        elif withdraw:
            client.withdraw_advertisement(withdraw)
            if as_json:
                typer.echo(json.dumps({"withdrawn": withdraw}))
            else:
                messages.print(plain(f"withdrew {withdraw}"))
        else:
            _show(client.advertisements(), as_json)


def _show(found: list[dict[str, str]], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found))
        return
    table = Table("id", "yours", "filter", box=None, pad_edge=False)
    for one in found:
        table.add_row(one["id"], "yes" if one["own"] else "no", plain(one["filter"]))
    output.print(table)
    messages.print(counted(len(found), "advertisement"), markup=False)
