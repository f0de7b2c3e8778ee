"""`tidings`: one command per verb."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from tidings import __version__
from tidings.cli import backtest, bench, explain, journal, match, pipeline, query, replay, schema, workload

app = typer.Typer(
    name="tidings",
    no_args_is_help=True,
    rich_markup_mode=None,  # boxes break long file names in two
    pretty_exceptions_show_locals=False,
    help="Content-based publish/subscribe: be told when something you described happens.",
)
app.command()(match.match)
app.command()(explain.explain)
app.command()(query.query)
app.command()(backtest.backtest)
app.command()(replay.replay)
app.command()(pipeline.pipeline)
app.add_typer(schema.app, name="schema")
app.command()(workload.workload)
app.add_typer(journal.app, name="journal")
app.add_typer(bench.app, name="bench")


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
    """Before any command: a terminal that cannot show a character gets its number."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    app()
