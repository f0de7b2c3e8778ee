"""`tidings register`, `login`, `logout`, `unregister`: an account on a server, and the token that commands use."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from tidings.cli.server.server import (
    DEFAULT_SERVER,
    AsJson,
    Server,
    Token,
    connected,
    forget_token,
    save_token,
    saved_token,
)
from tidings.cli.terminal import counted, fail, messages, plain

Username = Annotated[str, typer.Argument(metavar="USERNAME", help="The account's name.", show_default=False)]


def register(username: Username, server: Server = DEFAULT_SERVER, as_json: AsJson = False) -> None:
    """Create an account and save its token. The password is prompted for, or read from standard input.

    Example: tidings register ann
    """
    password = ask_password(new=True)
    with connected(server, "") as client:
        client.token = None
        _keep(username, server, client.register(username, password), as_json)


def login(username: Username, server: Server = DEFAULT_SERVER, as_json: AsJson = False) -> None:
    """Log in to an account and save a new token. The password is prompted for, or read from standard input.

    Example: tidings login ann
    """
    password = ask_password(new=False)
    with connected(server, "") as client:
        client.token = None
        _keep(username, server, client.log_in(username, password), as_json)


def logout(server: Server = DEFAULT_SERVER, token: Token = "", as_json: AsJson = False) -> None:
    """Revoke the token in use and forget it. Other tokens of the account stay valid.

    Example: tidings logout
    """
    used = token or saved_token(server)
    if not used:
        fail(f"no token is saved for {server}")
    with connected(server, used) as client:
        client.log_out()
    forget_token(server, used)
    if as_json:
        typer.echo(json.dumps({"logged_out": server}))
    messages.print(plain(f"logged out of {server}"))


def unregister(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete your account with its subscriptions, channels and tokens. This cannot be undone.

    Published events stay, and nobody else can take the name. The password is prompted for, or read from standard input.

    Example: tidings unregister
    """
    with connected(server, token) as client:
        username = client.account()["username"]
        if not yes:
            asked = f"Delete the account {username} with its subscriptions? This cannot be undone."
            typer.confirm(asked, abort=True, err=True)
        deleted = client.delete_account(ask_password(new=False))
    forget_token(server, token or saved_token(server) or "")
    if as_json:
        typer.echo(json.dumps(deleted))
    withdrawn = counted(deleted["subscriptions"], "subscription")
    dropped = counted(deleted["deliveries"], "due delivery", "due deliveries")
    messages.print(plain(f"{username} is deleted: {withdrawn} withdrawn, {dropped} dropped"))


def ask_password(new: bool) -> str:
    """Never an option: others on the machine see those."""
    if sys.stdin.isatty():
        return str(typer.prompt("password", hide_input=True, confirmation_prompt=new, err=True))
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise typer.BadParameter("no password on standard input.")
    return password


def _keep(username: str, server: str, token: str, as_json: bool) -> None:
    path = save_token(server, token)
    if as_json:
        typer.echo(json.dumps({"username": username, "token": token}))
    messages.print(f"{username} at {server}: the token is saved in {path}", markup=False)
