"""What `tidings bench` prints: tables for people, JSON for machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import typer

from tidings.cli.terminal import messages, output, plain


def show_run(run: Any, as_json: bool) -> None:
    """A table, or everything for machines."""
    from rich.table import Table

    from tidings.bench.table import HEADER, rows, title

    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(run.as_json())).decode())
        return
    table = Table(title=plain(title(run)), title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(HEADER):
        table.add_column(name, justify="left" if place in (0, len(HEADER) - 1) else "right", no_wrap=place == 0)
    for row in rows(run.results):
        table.add_row(*map(plain, row))
    output.print(table)
    messages.print(
        f"{run.machine}; commit {run.commit}; only writing a match: {run.floor_ns_per_match:.2f} ns", markup=False
    )


def show_one_event(run: Any, as_json: bool) -> None:
    from rich.table import Table

    from tidings.bench.one_event import HEADER

    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(run.as_json())).decode())
        return
    table = Table(title=plain(run.title), title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(HEADER):
        table.add_column(name, justify="left" if place in (0, len(HEADER) - 1) else "right", no_wrap=place == 0)
    for row in run.rows():
        table.add_row(*map(plain, row))
    output.print(table)
    messages.print(f"{run.machine}; commit {run.commit}", markup=False)


def show_slow_events(found: list[Any], as_json: bool) -> None:
    """By way and size of the event; the last line is the worst of all."""
    from rich.table import Table

    if as_json:
        rows = [msgspec.to_builtins(one) | {"ratio": one.ratio} for one in found]
        typer.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    table = Table(box=None, pad_edge=False)
    for name in ("matched by", "bytes from", "events", "median ms", "worst ms", "times the median", "worst"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        times = f"{one.median_ms:.2f}", f"{one.worst_ms:.2f}", f"{one.ratio:.1f}"
        table.add_row(one.way, f"{one.size:,}", f"{one.events:,}", *times, one.worst)
    output.print(table)
    if found:
        messages.print(f"worst ratio: {max(one.ratio for one in found):.1f}", markup=False)


def show_spark(result: Any) -> None:
    from rich.table import Table

    from tidings.bench.spark_batch import AIM
    from tidings.bench.table import number

    plan = result.plan
    per_event = number(result.matches / plan.events)
    title = f"flights: {plan.subscriptions:,} subscriptions, {plan.events:,} events, {per_event} matches an event"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(("engine", "events/s", "best", "processor µs/event", "Spark's share", "by processor")):
        table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
    rows = {"one thread, matching alone": result.matching, "one thread, file and matching": result.reading}
    for name, rates in rows.items():
        shares = f"{result.share(rates):.0%}", f"{result.processor_share(rates):.0%}"
        table.add_row(name, *_rates(rates), *shares)
    table.add_row(f"Spark, {plain(plan.master)}", *_rates(result.spark), "", "")
    output.print(table)
    cores = f"{result.cores} such threads" if result.cores > 1 else "one such thread"
    messages.print(f"Spark's share: of {cores}; the aim is {AIM:.0%}", markup=False)


def _rates(rates: Any) -> tuple[str, str, str]:
    from statistics import median

    from tidings.bench.table import number

    return number(median(rates.clock)), number(max(rates.clock)), number(median(rates.processor))


def say_written(paths: list[Path]) -> None:
    for path in paths:
        messages.print(f"wrote {path}", markup=False)
