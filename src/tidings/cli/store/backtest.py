"""`tidings backtest`: what a filter would have matched, or a composite detected."""

from __future__ import annotations

from collections import Counter, deque
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
import typer

from tidings.cli.server.server import InsteadServer, Token, connected, instead
from tidings.cli.store import composite_backtest
from tidings.cli.store.history import (
    Engine,
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
from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import counted, note, output, progress, warn
from tidings.language import Filter
from tidings.schema import Instant

_DAY = 86_400_000_000
_MOST_DAYS = 92  # of a longer period only the days with matches are shown
_WIDTH = 40


def backtest(
    filter: Annotated[str, typer.Argument(metavar="FILTER", help="The filter's text.", show_default=False)] = "",
    composite: Annotated[
        str, typer.Option(metavar="TEXT", help="A composite instead of a filter: a pattern over time.")
    ] = "",
    data: Data = None,
    store: StoreUrl = "",
    server: InsteadServer = "",
    token: Token = "",
    since: Since = "7d",
    until: Until = "",
    newest: Annotated[int, typer.Option(min=0, help="How many of the newest matching events to show.")] = 3,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    engine: Engine = "auto",
    master: Master = "local[2]",
) -> None:
    """Show what a filter would have matched: how many stored events, on which days they happened (UTC), and the newest.
    Or what a composite would have detected; then events count in the order in which they happened.

    Example: tidings backtest "price < 1300 and brand = 'mini'" --data data --since 2026-05-01
    """
    if bool(filter) == bool(composite):
        raise typer.BadParameter("give either a FILTER or --composite.")
    if address := instead(server, data, store):
        if until:
            raise typer.BadParameter("a server tests up to now.", param_hint="'--until'")
        if composite:
            return composite_backtest.show(composite_backtest.at_server(address, token, composite, since, newest), json)
        _at_server(address, token, filter, since, newest, json)
        return None
    with opened_store(data, store) as journal:
        from tidings.events.occurrence import occurred
        from tidings.pipeline.batch.query import is_for_spark, matching
        from tidings.store.clock.clock import now

        started = now()
        begin = moment(since, "--since", started)
        end = moment(until, "--until", started) if until else started
        if composite:
            after, upto = positions(journal, begin, end if until else None)
            asked = journal, composite, after, upto, begin, end, newest
            return composite_backtest.show(composite_backtest.in_store(*asked), json)
        bound = Filter.parse(filter, journal.catalog())
        for warning in bound.warnings:
            warn(warning)
        after, upto = positions(journal, begin, end if until else None)
        session = session_for(engine, is_for_spark(journal, after, upto), master, "tidings backtest")
        problems, days, last = Problems(), Counter[int](), deque[dict[str, Any]](maxlen=newest)
        with progress() as bar:
            task = bar.add_task("looking", total=None)
            for batch in matching(journal, bound, after, upto, session):
                rows = problems.sifted(batch)
                times = zip(rows.column("payload").to_pylist(), rows.column("accepted").to_pylist(), strict=True)
                days.update(occurred(payload, accepted) // _DAY for payload, accepted in times)
                last.extend(rows.slice(max(0, len(rows) - newest)).to_pylist())
                bar.update(task, description=f"{counted(days.total(), 'event')} found")
        complete_from = journal.complete_from()
    found = {
        "filter": bound.text,
        "since": str(begin),
        "until": str(end),
        "complete_from": complete_from,
        "events": days.total(),
        "days": [{"day": str(Instant(day * _DAY))[:10], "events": days[day]} for day in _shown_days(days, begin, end)],
        "newest": [event_as_json(row) for row in reversed(last)],
    }
    if json:
        typer.echo(msgspec.json.encode(found).decode())
    else:
        _show(found, [shown_event(row) for row in reversed(last)])
    return None


def _at_server(address: str, token: str, filter: str, since: str, newest: int, as_json: bool) -> None:
    end = Instant.of(datetime.now(UTC))
    begin = moment(since, "--since", end)
    with connected(address, token) as client, progress() as bar:
        bar.add_task("looking", total=None)
        found = client.test(filter, since=since, limit=newest)
    for warning in found["warnings"]:
        warn(warning)
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    if found["of_newest"] is not None:
        note(f"only the newest {found['of_newest']:,} positions of the journal were looked at")
    days = [{"day": day["day"], "events": day["count"]} for day in found["per_day"]]
    shown = [
        {
            "position": one["position"],
            "accepted": Instant.parse(one["accepted"]),
            "payload": msgspec.json.encode(one["event"]).decode(),
        }
        for one in found["newest"]
    ]
    summary = {"events": found["matched"], "since": str(begin), "until": str(end), "days": days}
    _show(summary, [shown_event(row) for row in shown])


def _shown_days(days: Counter[int], begin: Instant, end: Instant) -> list[int]:
    """Those of the period, and those before it on which something happened that was accepted in it."""
    every = range(min([begin // _DAY, *days]), max([(end - 1) // _DAY, *days]) + 1)
    return list(every) if 0 < len(every) <= _MOST_DAYS else sorted(days)


def _bars(days: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """A bar a day; where there are too many days, one for each week, month or year, named by its first day."""
    if len(days) <= _MOST_DAYS:
        return [(day["day"], day["events"]) for day in days]
    from tidings.events.occurrence import time_bars

    times = Counter({int(Instant.parse(day["day"])): day["events"] for day in days})
    return [(f"from {str(bar.start)[:10]}", bar.count) for bar in time_bars(times)]


def _show(found: dict[str, Any], newest: list[str]) -> None:
    output.print(f"{counted(found['events'], 'event')} would have matched from {found['since']} to {found['until']}")
    bars = _bars(found["days"])
    most = max((count for _, count in bars), default=0)
    for day, count in bars if most else ():
        bar = "█" * max(round(count / most * _WIDTH), 1 if count else 0)
        output.print(f"{day}  {count:>9,}  {bar}".rstrip())
    if newest:
        output.print("the newest:")
        for line in newest:
            output.print(line)
