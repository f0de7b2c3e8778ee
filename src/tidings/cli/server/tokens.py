"""`tidings token`: more tokens for your account on a server, e.g. for a program that may do less than you."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from tidings.cli.server.accounts import ask_password
from tidings.cli.server.server import DEFAULT_SERVER, AsJson, AsJsonLines, Server, Token, connected, print_lines
from tidings.cli.terminal import counted, messages, note, output, plain

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Create, list and delete your account's tokens.")


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the token is for.", show_default=False)],
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="What it may do; repeatable. Default: all your scopes."),
    ] = None,
    expires: Annotated[str, typer.Option(metavar="WHEN", help="When it expires, e.g. 2030-12-31T00:00:00Z.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a token and print it, only once. The password is prompted for, or read from standard input.

    Example: tidings token add scraper --scope publish --expires 2030-12-31
    """
    password = ask_password(new=False)
    with connected(server, token) as client:
        username = client.account()["username"]
        made = client.log_in(username, password, name=name, scopes=scope, expires=expires or None)
    print_token(made, {"username": username, "name": name, "token": made}, as_json)


def print_token(token: str, members: Mapping[str, object], as_json: bool) -> None:
    """`members` are what `--json` prints."""
    if not as_json:
        note("this token is shown only once")
    typer.echo(json.dumps(members) if as_json else token)


@app.command("list")
def list_(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJsonLines = False,
) -> None:
    """List your tokens and browser sessions, oldest first.

    Example: tidings token list
    """
    with connected(server, token) as client:
        found = client.tokens()
    if as_json:
        print_lines(map(asdict, found))
        return
    table = Table("id", "kind", "name", "scopes", "created", "expires", "", box=None, pad_edge=False)
    for one in found:
        in_use = "in use here" if one.current else ""
        scopes = ", ".join(one.scopes) or "none"
        table.add_row(one.id, one.kind, plain(one.name), scopes, one.created, one.expires or "never", in_use)
    output.print(table)
    messages.print(counted(len(found), "token"), markup=False)


@app.command()
def delete(
    id: Annotated[str, typer.Argument(metavar="ID", help="The token's id, from the list.", show_default=False)],
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """Revoke one of your tokens and the browser sessions started with it.

    Example: tidings token delete 0123456789ab
    """
    with connected(server, token) as client:
        client.delete_token(id)
    if as_json:
        typer.echo(json.dumps({"deleted": id}))
    messages.print(plain(f"deleted token {id}"))
