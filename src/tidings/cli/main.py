"""`tidings`: one command per verb."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from tidings import __version__
from tidings.cli.commands import Commands
from tidings.garbage_collector import collect_less

app = typer.Typer(
    name="tidings",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # boxes break long file names in two
    pretty_exceptions_show_locals=False,
    help="Content-based publish/subscribe: describe what you care about, and hear about it as it happens.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def tidings(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Before any command: a terminal that cannot show a character gets its number."""
    collect_less()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    app()
