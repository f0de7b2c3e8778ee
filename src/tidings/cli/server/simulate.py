"""`tidings simulate`: the thesis's client, random subscriptions and events at a steady rate, checked if you like."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer
from rich.table import Table

from tidings.cli.files.simulate_network import network
from tidings.cli.files.simulate_xevent import xevent
from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import INPUT_WAS_WRONG, counted, note, output, progress, warn

if TYPE_CHECKING:
    from tidings.client import Client
    from tidings.client.simulation import Checked, Simulation, Wire

_SHOWN = 5
_SECONDS = 10.0


app = typer.Typer(
    rich_markup_mode=None, invoke_without_command=True, help="Simulate clients, a network of servers, or XEvent."
)


@app.callback()
def simulate(
    context: typer.Context,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    xml: Annotated[str, typer.Option(metavar="HOST:PORT", help="Use XML over TCP at this address.")] = "",
    rate: Annotated[float, typer.Option(min=0, help="Requests per second; 0: no limit.")] = 20.0,
    ratio: Annotated[float, typer.Option(min=0, help="Events for each subscription.")] = 10.0,
    seconds: Annotated[float | None, typer.Option(min=0, help=f"How long, else {_SECONDS:g}.")] = None,
    events: Annotated[int | None, typer.Option(min=1, help="Stop after this many events.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed generates the same data.")] = 1,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare all notifications with the naive matcher; exit with 1 if they differ."),
    ] = False,
    patience: Annotated[float, typer.Option(min=1, help="Seconds that --check waits for the pipeline.")] = 300.0,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the subscriptions.")] = False,
    as_json: AsJson = False,
) -> None:
    """Post random subscriptions and events under the server's schema, as a new user unless you give a token.

    Example: tidings simulate --rate 100 --events 1000 --check
    """
    if context.invoked_subcommand is not None:
        return
    if seconds is not None and events is not None:
        raise typer.BadParameter("say how long or how many, not both.", param_hint="'--seconds'")
    host, port = _address(xml) if xml else ("", 0)
    with connected(server, token) as client:
        from tidings.client.simulation import Simulation

        catalog = client.schema()
        username = _user(client, token)
        with _wire(client, host, port, username) as wire:
            simulation = Simulation(client, wire, catalog, seed)
            took = _post(simulation, rate, ratio, _SECONDS if seconds is None and events is None else seconds, events)
            try:
                checked = _check(simulation, patience) if check else None
            finally:
                if not keep:
                    simulation.withdraw()
    _report(simulation, took, checked, as_json)
    if checked is not None and not checked.agrees:
        raise typer.Exit(INPUT_WAS_WRONG)


app.command("network")(network)
app.command("xevent")(xevent)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is not an address; expected e.g. 127.0.0.1:8090.", param_hint="'--xml'")
    return host.strip("[]"), int(port)


def _user(client: Client, token: str) -> str:
    """A new one, so that nothing of anybody else's is among the answers."""
    if token:
        return str(client.account()["username"])
    client.token = None
    username = f"sim-{uuid4().hex[:12]}"
    client.register(username, uuid4().hex)
    return username


@contextmanager
def _wire(client: Client, host: str, port: int, username: str) -> Iterator[Wire]:
    from tidings.client.simulation import HttpWire, XmlWire
    from tidings.client.xml_connection import XmlConnection

    if not host:
        yield HttpWire(client)
        return
    with XmlConnection(host, port) as connection:
        yield XmlWire(connection, username, client.token or "")


def _post(simulation: Simulation, rate: float, ratio: float, seconds: float | None, events: int | None) -> float:
    """How many seconds it took. Ctrl-C ends it before its time."""
    started = time.monotonic()
    with progress() as bar:
        task = bar.add_task("posting", total=events)
        number = 0
        try:
            while True:
                published, passed = len(simulation.events), time.monotonic() - started
                if (events is not None and published >= events) or (seconds is not None and passed >= seconds):
                    break
                if rate and (early := number / rate - passed) > 0:
                    time.sleep(early)
                simulation.post(number, ratio)
                number += 1
                told = f"{counted(published, 'event')}, {counted(len(simulation.subscriptions), 'subscription')}"
                bar.update(task, completed=published, description=told)
        except KeyboardInterrupt:
            note("stopped; what was posted so far counts")
    return time.monotonic() - started


def _check(simulation: Simulation, patience: float) -> Checked:
    with progress() as bar:
        task = bar.add_task("waiting for the pipeline", total=None)
        simulation.wait(patience)
        bar.update(task, description="comparing", total=len(simulation.events))
        return simulation.check(lambda number: bar.update(task, completed=number))


def _report(simulation: Simulation, took: float, checked: Checked | None, as_json: bool) -> None:
    figures: dict[str, float] = {"published": len(simulation.events), "subscribed": len(simulation.subscriptions)}
    if checked is not None:
        for what, pairs in (("missing", checked.missing), ("phantom", checked.phantom)):
            for position, id in pairs[:_SHOWN]:
                warn(f"{what}: the event at position {position:,} and the subscription {id}")
        figures |= {"matched": checked.matched, "missing": len(checked.missing), "phantom": len(checked.phantom)}
    figures["seconds"] = round(took, 3)
    if as_json:
        typer.echo(json.dumps(figures))
        return
    table = Table(*figures, box=None, pad_edge=False)
    table.add_row(*(f"{figure:,}" for figure in figures.values()))
    output.print(table)
