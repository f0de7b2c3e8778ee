"""`tidings serve`: the whole service in one command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.options import Host, Port, XmlPort
from tidings.cli.terminal import plain_errors
from tidings.settings import Settings, read_settings

_DEFAULT = Settings()


def serve(
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="This server's name in a network of servers.")
    ] = None,
    host: Host = None,
    port: Port = None,
    xml_port: XmlPort = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help=f"Store, plans, checkpoints, log; {_DEFAULT.data} unless set."),
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="postgresql://… Default: SQLite in the data folder.")
    ] = None,
    spark_master: Annotated[
        str | None, typer.Option(metavar="URL", help=f"Spark's master; {_DEFAULT.spark_master} unless set.")
    ] = None,
    pipeline: Annotated[
        bool | None,
        typer.Option("--pipeline/--no-pipeline", help="Match events here, or leave it to `tidings pipeline`."),
    ] = None,
    outbox: Annotated[
        bool | None,
        typer.Option("--outbox/--no-outbox", help="Send deliveries here, or leave it to `tidings outbox`."),
    ] = None,
    guests: Annotated[
        bool | None,
        typer.Option("--guests/--no-guests", help="Allow publishing and growing the schema without a token."),
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML settings file, e.g. with port = 8080.")
    ] = None,
) -> None:
    """Run the service: HTTP, XML over TCP, and as child processes the pipeline on Spark and the outbox.

    It answers at once and takes events before Spark is up. The first start shows the operator's token. Ctrl-C lets
    what is under way finish, a second one ends it at once; nothing that was accepted is lost either way.

    Other settings come from the environment (TIDINGS_PORT, TIDINGS_LARGEST_EVENT, …), then from the file.

    Example: tidings serve --data data --port 8080
    """
    flags = {
        "name": name, "host": host, "port": port, "xml_port": xml_port, "data": data, "store": store,
        "spark_master": spark_master, "pipeline": pipeline, "outbox": outbox, "guests": guests,
    }  # fmt: skip
    with plain_errors():
        chosen = read_settings(flags, os.environ, settings)
        from tidings.service.service import serve as run  # with FastAPI and SQLAlchemy, which other commands do without

        run(chosen, _say)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
