"""`tidings query`: which stored events match a filter."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer

from tidings.cli.server.server import DEFAULT_SERVER, InsteadServer, Token, connected, instead
from tidings.cli.store.history import (
    Engine,
    FilterText,
    Master,
    Problems,
    Since,
    Until,
    event_as_json,
    moment,
    positions,
    session_for,
    shown_event,
)
from tidings.cli.store.stores import Data, StoreUrl, opened_events
from tidings.cli.terminal import counted, messages, output, plain, progress, warn
from tidings.language import Filter
from tidings.schema import Instant


def query(
    filter: FilterText,
    data: Data = None,
    store: StoreUrl = "",
    server: InsteadServer = "",
    token: Token = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Print only the count.")] = False,
    network: Annotated[
        bool, typer.Option("--network", help="Ask all servers of the network, through --server.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON for each event.")] = False,
    engine: Engine = "auto",
    master: Master = "local[2]",
) -> None:
    """Find the stored events that match a filter, in journal order.

    With --network all servers of a network are asked for the newest events that they accepted; those that do not answer
    within 10 seconds are named.

    Example: tidings query "price < 1300 and brand = 'mini'" --data data --since 7d
    """
    if network:
        if since or until or data or store:
            raise typer.BadParameter("takes --server and --limit only.", param_hint="'--network'")
        _of_network(instead(server) or DEFAULT_SERVER, token, filter, limit or 100, count, json)
        return
    if address := instead(server, data, store):
        _at_server(address, token, filter, since, until, limit, count, json)
        return
    with opened_events(data, store) as journal:
        from tidings.pipeline.batch.query import is_for_spark, matching
        from tidings.store.clock.clock import now

        started = now()
        period = [moment(text, option, started) if text else None for text, option in
                  ((since, "--since"), (until, "--until"))]  # fmt: skip
        bound = Filter.parse(filter, journal.catalog())
        for warning in bound.warnings:
            warn(warning)
        after, upto = positions(journal, *period)
        session = session_for(engine, is_for_spark(journal, after, upto), master, "tidings query")
        problems, found = Problems(), 0
        with progress() as bar:
            task = bar.add_task("looking", total=None)
            for batch in matching(journal, bound, after, upto, session, payloads=not count):
                rows = problems.sifted(batch)
                rows = rows if limit is None else rows.slice(0, limit - found)
                found += len(rows)
                bar.update(task, description=f"{counted(found, 'event')} found")
                if not count:
                    _print(rows.to_pylist(), json)
                if found == limit:
                    break
        if count:
            typer.echo(msgspec.json.encode({"events": found}).decode() if json else f"{found}")
        messages.print(f"{counted(found, 'event')} of the journal's positions {after + 1:,} to {upto:,}", markup=False)


def _at_server(
    address: str, token: str, filter: str, since: str, until: str, limit: int | None, count: bool, as_json: bool
) -> None:
    found = 0
    with connected(address, token) as client, progress() as bar:
        task = bar.add_task("looking", total=limit)
        for event in client.query(filter, since=since or None, until=until or None, limit=limit):
            found += 1
            bar.update(task, completed=found, description=f"{counted(found, 'event')} found")
            if not count:
                accepted, payload = Instant.parse(event.accepted), msgspec.json.encode(event.event).decode()
                _print([{"position": event.position, "accepted": accepted, "payload": payload}], as_json)
    if count:
        typer.echo(msgspec.json.encode({"events": found}).decode() if as_json else f"{found}")
    messages.print(f"{counted(found, 'event')} of {address}", markup=False)


def _of_network(address: str, token: str, filter: str, limit: int, count: bool, as_json: bool) -> None:
    """Each event with the server that accepted it; servers that did not answer are named."""
    with connected(address, token) as client:
        found = client.query_network(filter, limit)
    items = found["items"]
    if count:
        typer.echo(msgspec.json.encode({"events": len(items)}).decode() if as_json else f"{len(items)}")
    elif as_json:
        sys.stdout.write("".join(msgspec.json.encode(one).decode() + "\n" for one in items))
    else:
        for one in items:
            output.print(plain(f"{one['server']}  {msgspec.json.encode(one['event']).decode()}"))
    if found["missing"]:
        warn(f"no answer from {', '.join(found['missing'])}; their events are missing here")
    more = "" if found["complete"] else "; there may be more"
    messages.print(f"{counted(len(items), 'event')} of the network{more}", markup=False)


def _print(rows: list[dict[str, object]], as_json: bool) -> None:
    if as_json:
        sys.stdout.write("".join(msgspec.json.encode(event_as_json(row)).decode() + "\n" for row in rows))
        return
    for row in rows:
        output.print(shown_event(row))
