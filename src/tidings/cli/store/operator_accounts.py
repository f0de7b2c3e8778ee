"""`tidings account`: the accounts of a service, for its operator, on the store itself, also while a service runs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.table import Table

from tidings.cli.server.accounts import ask_password
from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import counted, fail, messages, output, plain

if TYPE_CHECKING:  # SQLAlchemy takes long to load, and most commands need no store
    from tidings.store import ListedAccount, Store

_PAGE = 1_000
_REMEMBERED = "a running service refuses its tokens within 5 seconds"

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Add, list, disable, delete accounts; for the operator."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.", show_default=False)]
Generate = Annotated[bool, typer.Option("--generate", help="Generate a password and print it.")]
Json = Annotated[bool, typer.Option("--json", help="For machines.")]


@app.command()
def add(
    name: Name,
    data: Data = None,
    store: StoreUrl = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE",
            help="What it may do; repeatable. Default: publish, subscribe, read, account.",
            show_default=False,
        ),
    ] = None,
    generate: Generate = False,
    as_json: Json = False,
) -> None:
    """Add an account, also where registration is closed. The password is prompted for, or read from standard input.

    Example: tidings account add ann --data data --generate
    """
    from tidings.service.actions.account_errors import IllegalUsername
    from tidings.service.actions.accounts import is_username
    from tidings.settings import FIRST_SCOPES, SCOPES
    from tidings.store import Account

    for one in scope or ():
        if one not in SCOPES:
            raise typer.BadParameter(f"{one!r} is not a scope; valid values: {', '.join(SCOPES)}", param_hint="--scope")
    with opened_store(data, store) as accounts:
        if not is_username(name):
            raise IllegalUsername(name)
        password = _new_password(generate)
        scopes = frozenset(FIRST_SCOPES if scope is None else scope)
        accounts.add_account(Account(name, _hashed(password), scopes, accounts.now()))
    _tell_password(name, "added", password if generate else None, as_json)


@app.command("list")
def list_(
    data: Data = None,
    store: StoreUrl = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines.")] = False,
) -> None:
    """List all accounts by name.

    Example: tidings account list --data data
    """
    table = Table("name", "state", "scopes", "created", "subscriptions", "tokens", box=None, pad_edge=False)
    with opened_store(data, store) as accounts:
        for one in _all(accounts):
            found = one.account
            scopes = sorted(found.scopes)
            if as_json:
                members: dict[str, object] = {"username": found.username, "state": found.state, "scopes": scopes}
                members |= {"created": str(found.created), "subscriptions": one.subscriptions, "tokens": one.tokens}
                typer.echo(json.dumps(members))
                continue
            counts = (f"{one.subscriptions:,}", f"{one.tokens:,}")
            table.add_row(plain(found.username), found.state, ", ".join(scopes), str(found.created), *counts)
    if not as_json:
        output.print(table)
        messages.print(counted(table.row_count, "account"), markup=False)


@app.command()
def disable(name: Name, data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Disable an account: nobody can log in, its tokens and sessions end, its subscriptions are paused.

    Deliveries that are already due are still sent.

    Example: tidings account disable ann --data data
    """
    with opened_store(data, store) as accounts:
        paused = accounts.disable_account(name)
        if paused is None:
            _unknown(name)
    if as_json:
        typer.echo(json.dumps({"disabled": name, "paused": paused}))
    messages.print(plain(f"{name} is disabled, {counted(paused, 'subscription')} paused; {_REMEMBERED}"))


@app.command()
def enable(name: Name, data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Enable a disabled account: its owner can log in again. Subscriptions stay paused until the owner resumes them.

    Example: tidings account enable ann --data data
    """
    with opened_store(data, store) as accounts:
        if not accounts.enable_account(name):
            _unknown(name)
    if as_json:
        typer.echo(json.dumps({"enabled": name}))
    messages.print(plain(f"{name} is enabled; subscriptions stay paused until their owner resumes them"))


@app.command()
def delete(
    name: Name,
    data: Data = None,
    store: StoreUrl = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    as_json: Json = False,
) -> None:
    """Delete an account: its subscriptions are withdrawn, and nothing more is delivered. This cannot be undone.

    Its published events stay, and its name is never given to anyone else.

    Example: tidings account delete ann --data data --yes
    """
    if not yes:
        typer.confirm(f"Delete the account {name} with its subscriptions? This cannot be undone.", abort=True, err=True)
    with opened_store(data, store) as accounts:
        deleted = accounts.delete_account(name)
        if deleted is None:
            _unknown(name)
    if as_json:
        members = {"deleted": name, "subscriptions": deleted.subscriptions, "deliveries": deleted.deliveries}
        typer.echo(json.dumps(members))
    went = f"{counted(deleted.subscriptions, 'subscription')} withdrawn, "
    went += f"{counted(deleted.deliveries, 'due delivery', 'due deliveries')} dropped"
    messages.print(plain(f"{name} is deleted: {went}; {_REMEMBERED}"))


@app.command()
def reset(
    name: Name, data: Data = None, store: StoreUrl = "", generate: Generate = False, as_json: Json = False
) -> None:
    """Set a new password and end all sessions and tokens. The password is prompted for, or read from standard input.

    Example: tidings account reset ann --data data --generate
    """
    with opened_store(data, store) as accounts:
        if accounts.account(name) is None:
            _unknown(name)
        password = _new_password(generate)
        if not accounts.change_account(name, _hashed(password), keep=b""):
            _unknown(name)
    _tell_password(name, "reset", password if generate else None, as_json)


def _all(store: Store) -> Iterator[ListedAccount]:
    after = ""
    while page := store.accounts(after, _PAGE):
        yield from page
        after = page[-1].account.username


def _new_password(generate: bool) -> str:
    from tidings.service.actions.passwords import check_password

    password = secrets.token_urlsafe(15) if generate else ask_password(new=True)
    check_password(password)
    return password


def _hashed(password: str) -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


def _tell_password(name: str, done: str, password: str | None, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({done: name} | ({} if password is None else {"password": password})))
        return
    messages.print(plain(f"{name}: {done}" + ("" if done == "added" else f", all sessions ended; {_REMEMBERED}")))
    if password is not None:
        typer.echo(password)


def _unknown(name: str) -> NoReturn:
    fail(f"no account {name!r}; `tidings account list` lists them")
