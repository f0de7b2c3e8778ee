"""The options that name a server and a token, the file in which `tidings login` keeps tokens, and connecting."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.store.stores import UNREACHABLE
from tidings.cli.terminal import fail, plain_errors

if TYPE_CHECKING:  # httpx takes long to load, and most commands speak to no server
    from tidings.client import Client

DEFAULT_SERVER = "http://127.0.0.1:8080"
SERVER_VARIABLE = "TIDINGS_SERVER"

Server = Annotated[
    str,
    typer.Option("--server", metavar="URL", envvar=SERVER_VARIABLE, help="The server's address.", show_envvar=True),
]
Token = Annotated[
    str,
    typer.Option(
        "--token",
        metavar="TOKEN",
        envvar="TIDINGS_TOKEN",
        help="Your token. Default: the one that `tidings login` saved.",
        show_envvar=True,
        show_default=False,
    ),
]
InsteadServer = Annotated[
    str, typer.Option("--server", metavar="URL", help=f"Ask this server instead. Default: {SERVER_VARIABLE}, if set.")
]
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]
AsJsonLines = Annotated[bool, typer.Option("--json", help="JSON Lines.")]


@contextmanager
def connected(server: str, token: str, retries: int = 2) -> Iterator[Client]:
    """A client; problems are printed plainly, with exit code 3 if the server cannot be reached.

    Few retries: who mistyped the address wants to know it at once.
    """
    from tidings.client import Client, NotAllowed, Patience, ServerUnreachable

    with plain_errors():
        try:
            with Client(server, token or saved_token(server), patience=Patience(retries)) as client:
                yield client
        except ServerUnreachable as problem:
            fail(str(problem), UNREACHABLE)
        except NotAllowed as problem:
            advice = "" if token or saved_token(server) else "; `tidings register` or `tidings login` gets one"
            fail(f"{problem}{advice}")


def print_lines(items: Iterable[Mapping[str, object]]) -> None:
    """As JSON Lines."""
    for item in items:
        typer.echo(json.dumps(item))


def instead(server: str, *others: object) -> str:
    """The server to ask, or nothing where the command was given something else to look at.

    The environment speaks only when neither was given.
    """
    if server and any(others):
        raise typer.BadParameter("give a server, or a file or folder, not both.", param_hint="'--server'")
    return server or ("" if any(others) else os.environ.get(SERVER_VARIABLE, ""))


def token_file() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tidings" / "token"


def saved_token(server: str) -> str | None:
    """The one for this server: a token is never shown to another."""
    return _saved().get(server.rstrip("/"))


def save_token(server: str, token: str) -> Path:
    """One line for each server; only you can read it."""
    return _write({**_saved(), server.rstrip("/"): token})


def forget_token(server: str, token: str) -> None:
    """Does nothing where another one is saved for this server."""
    saved = _saved()
    if saved.get(server.rstrip("/")) == token:
        del saved[server.rstrip("/")]
        _write(saved)


def _write(kept: dict[str, str]) -> Path:
    path = token_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write("".join(f"{address} {secret}\n" for address, secret in kept.items()))
    new.replace(path)
    return path


def _saved() -> dict[str, str]:
    try:
        lines = token_file().read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {address: token for address, _, token in (line.partition(" ") for line in lines) if token}
