"""`tidings feed refused`: the dead letters of a feed, counted, listed, tried again or dropped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.options import ExistingFile, writable
from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import INPUT_WAS_WRONG, counted, messages, plain, plain_errors
from tidings.whole_file import whole_file

if TYPE_CHECKING:
    from tidings.feeds.memory.dead_letters import DeadLetters

_SHOWN = 20


def refused(
    mapping: Annotated[
        Path, typer.Argument(metavar="MAPPING", help="A TOML file.", show_default=False, **ExistingFile)
    ],
    retry: Annotated[bool, typer.Option("--retry", help="Publish them with the current mapping.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Forget them.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=writable, help="Write all of them to this file, as a page for a browser."
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", exists=True, file_okay=False, show_default=False, help="As for `tidings feed run`."
        ),
    ] = None,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    as_json: AsJson = False,
) -> None:
    """List the records that a feed's runs refused, with the reasons; retry them after correcting the mapping.

    They are kept beside the mapping, even after their page or file has changed. Exits with 1 if any are left after
    --retry.

    Example: tidings feed refused cars.toml --page refused.html

    Example: tidings feed refused cars.toml --retry
    """
    if retry and drop:
        raise typer.BadParameter("choose one of --retry and --drop.", param_hint="'--drop'")
    with plain_errors():
        from tidings.feeds import read_mapping, state_path
        from tidings.feeds.memory.dead_letters import DeadLetters, letters_path

        letters = DeadLetters(letters_path(state_path(mapping, state)))
        if drop:
            count = len(letters) + letters.beyond
            letters.drop_all()
            letters.keep(at_once=True)
            messages.print(f"{counted(count, 'refused record')} dropped", markup=False)
            return
        read = read_mapping(mapping)
    if retry:
        with connected(server, token) as client:
            from tidings.feeds.retry import retry as tried_again

            done = tried_again(read, client, letters)
        messages.print(f"{done.published:,} published, {done.refused:,} still refused", markup=False)
        if done.unread:
            why = "lack something that the mapping reads now; run the feed again to read the source"
            messages.print(f"{counted(done.unread, 'record')} {why}", markup=False)
    if page is not None:
        from tidings.feeds.memory.letters_page import letters_page

        with plain_errors(), whole_file(page) as file:
            file.write(letters_page(read.name, letters).encode())
    _list(letters, as_json)
    if retry and len(letters):
        raise typer.Exit(INPUT_WAS_WRONG)


def _list(letters: DeadLetters, as_json: bool) -> None:
    from tidings.feeds.memory.letters_page import place_of
    from tidings.feeds.memory.refusals import refusal

    for number, letter in enumerate(letters.letters.values()):
        if as_json:
            typer.echo(json.dumps(letter))
        elif number < _SHOWN:
            typer.echo(plain(f"{place_of(letter)}: {refusal(letter)}"))
    messages.print(f"{counted(len(letters), 'refused record')}", markup=False)
    if letters.beyond:
        again = "after you correct the mapping, run the feed again to publish them"
        least = "at least " if letters.more else ""
        messages.print(f"{least}{counted(letters.beyond, 'older refused record')} not kept; {again}", markup=False)
    for fault, count in letters.faults().most_common():
        messages.print(plain(f"{count:,} × {fault}"), highlight=False)
