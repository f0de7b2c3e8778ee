"""`tidings register` and `tidings login`: an account on a server, and a token that the other commands use."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from tidings.cli.server import DEFAULT_SERVER, AsJson, Server, connected, save_token
from tidings.cli.terminal import messages

Username = Annotated[str, typer.Argument(metavar="USERNAME", help="The account's name.", show_default=False)]


def register(username: Username, server: Server = DEFAULT_SERVER, as_json: AsJson = False) -> None:
    """Make an account and save its token. The password is asked for, or read from standard input.

    Example: tidings register ann
    """
    password = _password(new=True)
    with connected(server, "") as client:
        client.token = None
        _keep(username, server, client.register(username, password), as_json)


def login(username: Username, server: Server = DEFAULT_SERVER, as_json: AsJson = False) -> None:
    """Get a token for an account and save it. The password is asked for, or read from standard input.

    Example: tidings login ann
    """
    password = _password(new=False)
    with connected(server, "") as client:
        client.token = None
        _keep(username, server, client.log_in(username, password), as_json)


def _password(new: bool) -> str:
    """Never an option: others on the machine see those."""
    if sys.stdin.isatty():
        return str(typer.prompt("password", hide_input=True, confirmation_prompt=new, err=True))
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise typer.BadParameter("there is no password on standard input.")
    return password


def _keep(username: str, server: str, token: str, as_json: bool) -> None:
    path = save_token(server, token)
    if as_json:
        typer.echo(json.dumps({"username": username, "token": token}))
    messages.print(f"{username} at {server}: the token is saved in {path}", markup=False)
