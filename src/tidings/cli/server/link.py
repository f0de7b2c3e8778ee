"""`tidings link`: joins this server with others, and the process that speaks to them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import counted, messages, note, output, plain, plain_errors, service_log
from tidings.settings import LINK_SECRET, read_settings

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Link this server to other servers; for operators.")


@app.command()
def invite(server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Print a token by which one other server may link to this one, within a week.

    Give it to the other server's operator, who runs `tidings link join`. The token can do nothing else.

    Example: tidings link invite --server http://127.0.0.1:8080
    """
    with connected(server, token) as client:
        made = client.invite_server()
    if as_json:
        typer.echo(json.dumps(made))
        return
    note("the token is shown only this once")
    typer.echo(made["token"])


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
    """Link this server to another one, both ways.

    Subscribers at either then hear of events published at both. Links need https, unless both servers run on this
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
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines.")] = False,
) -> None:
    """List the servers that this one is linked to.

    Example: tidings link list
    """
    with connected(server, token) as client:
        found = client.server_links()
    if as_json:
        for one in found:
            typer.echo(json.dumps(one))
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

    Run it at the other server, too: its end stays until then, and does not work.

    Example: tidings link remove berlin
    """
    with connected(server, token) as client:
        client.remove_server_link(name)
    if as_json:
        typer.echo(json.dumps({"removed": name}))
    messages.print(plain(f"removed the link to {name}"))


@app.command()
def run(
    data: Annotated[Path | None, typer.Option(metavar="FOLDER", help="The data folder.")] = None,
    store: Annotated[str | None, typer.Option(metavar="URL", help="postgresql://… Default: SQLite there.")] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE", help="The service's settings file (TOML).")] = None,
    while_stdin: Annotated[
        bool, typer.Option("--while-stdin", help="Stop when standard input closes; for supervisors.")
    ] = False,
) -> None:
    """Speak to the other servers; `tidings serve --name` starts it by itself.

    Example: tidings link run --data data
    """
    stopped = threading.Event()
    if while_stdin:  # before the libraries load
        from tidings.pipeline.parent import stop_with_parent

        stop_with_parent(stopped)
    with plain_errors():
        chosen = read_settings({"data": data, "store": store}, os.environ, settings)
    with service_log("network", chosen.log_format), plain_errors():
        import uvloop

        from tidings.network.running import run as run_node
        from tidings.store import Store
        from tidings.vault import vault_of

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        with (
            Store.open(chosen.store or chosen.data / "tidings.db").use_vault(vault_of(chosen)) as opened,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(run_node(chosen, opened, os.environ.get(LINK_SECRET, ""), stopped))
