"""`tidings link`: joins this server with others, and the process that talks to them."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, AsJsonLines, Server, Token, connected, print_lines
from tidings.cli.server.tokens import print_token
from tidings.cli.store.child import DataFolder, SettingsFile, StoreUrl, WhileStdin, run_on_store
from tidings.cli.terminal import counted, messages, output, plain
from tidings.settings import LINK_SECRET, Settings

if TYPE_CHECKING:
    from tidings.store import Store

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Link this server to other servers; for operators.")


@app.command()
def invite(server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Print a token that lets one other server link to this one, valid for a week.

    Give it to the other server's operator, who runs `tidings link join`. The token can do nothing else.

    Example: tidings link invite --server http://127.0.0.1:8080
    """
    with connected(server, token) as client:
        made = client.invite_server()
    print_token(made["token"], made, as_json)


@app.command()
def join(
    url: Annotated[str, typer.Argument(metavar="URL", help="The other server's address.", show_default=False)],
    invitation: Annotated[
        str, typer.Argument(metavar="TOKEN", help="What `tidings link invite` printed there.", show_default=False)
    ],
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Link this server to another one, in both directions.

    Subscribers of either then hear about events published at both. Links need https, unless both servers run on this
    machine. This server must be known by its public address (TIDINGS_PUBLIC_URL).

    Example: tidings link join https://berlin.example.org tid_…
    """
    with connected(server, token) as client:
        name = client.link_server(url, invitation)
    if as_json:
        typer.echo(json.dumps({"name": name}))
        return
    messages.print(plain(f"linked to {name}; `tidings network` shows when the link is alive"))


@app.command("list")
def list_(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJsonLines = False,
) -> None:
    """List the servers that this one is linked to.

    Example: tidings link list
    """
    with connected(server, token) as client:
        found = client.server_links()
    if as_json:
        print_lines(found)
        return
    table = Table("name", "address", "joined", box=None, pad_edge=False)
    for one in found:
        table.add_row(plain(one["name"]), plain(one["url"]), one["joined"])
    output.print(table)
    messages.print(counted(len(found), "link"), markup=False)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The other server's name.", show_default=False)],
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Remove the link to a server. Nothing that was stored here is lost.

    Run it on the other server, too: its end of the link remains until then, but no longer works.

    Example: tidings link remove berlin
    """
    with connected(server, token) as client:
        client.remove_server_link(name)
    if as_json:
        typer.echo(json.dumps({"removed": name}))
    messages.print(plain(f"removed the link to {name}"))


@app.command()
def run(
    data: DataFolder = None,
    store: StoreUrl = None,
    settings: SettingsFile = None,
    while_stdin: WhileStdin = False,
) -> None:
    """Exchange events with the linked servers; `tidings serve --name` starts this for you.

    Example: tidings link run --data data
    """

    async def run_node(chosen: Settings, opened: Store, stopped: threading.Event) -> None:
        from tidings.network.running import run

        await run(chosen, opened, os.environ.get(LINK_SECRET, ""), stopped)

    run_on_store("network", data, store, settings, while_stdin, run_node)
