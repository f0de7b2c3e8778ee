"""`tidings`: one command per verb."""

from __future__ import annotations

from typing import Annotated

import typer

from tidings import __version__
from tidings.cli import explain, match, schema, workload

app = typer.Typer(
    name="tidings",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    help="Content-based publish/subscribe: be told when something you described happens.",
)
app.command()(match.match)
app.command()(explain.explain)
app.add_typer(schema.app, name="schema")
app.command()(workload.workload)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def tidings(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Nothing to do before a command."""


if __name__ == "__main__":
    app()
