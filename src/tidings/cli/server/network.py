"""`tidings network`: the network as one of its servers knows it."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import messages, output, plain


def network(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    take_home: Annotated[
        bool, typer.Option("--take-home", help="Make this server the home, since the old one is lost.")
    ] = False,
    distribution: Annotated[
        str, typer.Option(metavar="WHAT", help="How events spread: events, subscriptions or advertisements.")
    ] = "",
    successor: Annotated[str, typer.Option(metavar="NAME", help="Make another server the home.")] = "",
    strike_off: Annotated[
        str, typer.Option("--strike-off", metavar="NAME", help="Exclude a server that will not return.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show the network of servers: servers, links, the tree, interests, and how far behind each link is.

    For operators. Run --take-home only at the server with the longest schema, and only if the home will not return.

    Example: tidings network --json
    """
    if distribution not in ("", "events", "subscriptions", "advertisements"):
        raise typer.BadParameter("valid values: events, subscriptions, advertisements.", param_hint="'--distribution'")
    asked = {"distribute": distribution, "succeed": successor, "strike-off": strike_off}
    with connected(server, token) as client:
        if take_home:
            client.take_home()
        for kind, value in asked.items():
            if value:
                client.order_network(kind, value)
        found = client.network()
    if as_json:
        typer.echo(json.dumps(found))
        return
    if found["problem"]:
        messages.print(plain(found["problem"]))
    servers = Table("server", "reached", "events", "here up to", box=None, pad_edge=False)
    for one in found["servers"]:
        mine = " (this one)" if one["name"] == found["name"] else ""
        home = " (home)" if one["name"] == found["home"] else ""
        reached = "yes" if one["reached"] else "no"
        servers.add_row(plain(one["name"] + mine + home), reached, f"{one['head']:,}", f"{one['mark']:,}")
    output.print(servers)
    output.print()
    links = Table(
        "link to", "state", "in the tree", "waiting", "behind", "wants", "sent", "out", "in", box=None, pad_edge=False
    )
    for one in found["links"]:
        links.add_row(
            plain(one["name"]),
            plain(one["state"]),
            "yes" if one["in_tree"] else "no",
            f"{one['waiting']:,} events",
            f"{one['behind_seconds']:.1f} s",
            f"{one['interest']:,} filters",
            f"{one['events']:,} events",
            f"{one['sent_per_second']:,.1f}/s",
            f"{one['received_per_second']:,.1f}/s",
        )
    output.print(links)
    for gap in found["gaps"]:
        events = f"events {gap['after'] + 1:,} to {gap['through']:,} of {gap['origin']}"
        messages.print(plain(f"{events} were removed before they arrived here"))
