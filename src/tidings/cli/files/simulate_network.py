"""`tidings simulate network`: how much a network of servers would carry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
from rich.table import Table

from tidings.cli.terminal import messages, output, plain_errors, progress

if TYPE_CHECKING:
    from tidings.overlay.simulation.mending import Fault
    from tidings.overlay.simulation.traffic import Traffic

TopologyName = Literal["line", "star", "tree", "ring", "random", "transit-stub"]
_DISTRIBUTIONS: tuple[Literal["events", "subscriptions", "advertisements"], ...] = (
    "events",
    "subscriptions",
    "advertisements",
)


class FaultName(StrEnum):
    CRASH = "crash"
    PARTITION = "partition"
    LOSS = "loss"
    GROWTH = "growth"


def network(
    topology: Annotated[TopologyName, typer.Option(help="How servers are linked.")] = "random",
    servers: Annotated[int, typer.Option(min=2, max=10_000, help="How many.")] = 100,
    subscriptions: Annotated[int, typer.Option(min=1, help="How many, over all servers.")] = 1000,
    events: Annotated[int, typer.Option(min=1, help="How many; a tenth of the servers publish.")] = 200,
    selectivity: Annotated[
        list[float] | None,
        typer.Option(
            min=0, max=1, help="The share of events that match a subscription, else 0.01. May be repeated.", metavar="N"
        ),
    ] = None,
    uncovered: Annotated[
        bool, typer.Option("--no-covering", help="Keep filters in interests even if another one covers them.")
    ] = False,
    saved: Annotated[
        bool, typer.Option("--saved", help="Also without covering: the share of filters that it saves.")
    ] = False,
    fault: Annotated[
        list[FaultName] | None,
        typer.Option(help="Also time the repair after ten seconds of it; takes longer. May be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same figures.")] = 1,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Also draw messages, sizes of tables, delays and repair."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Simulate a network of servers, with each distribution and with flooding.

    Example: tidings simulate network --topology transit-stub --servers 100 --selectivity 0.001

    Example: tidings simulate network --servers 30 --fault crash --fault partition --fault loss --fault growth
    """
    from tidings.overlay.simulation.mending import time_to_repair
    from tidings.overlay.simulation.traffic import Setting, flooding, traffic

    shares, faults = selectivity or [0.01], cast("list[Fault]", list(dict.fromkeys(one.value for one in fault or ())))
    found: list[tuple[float, Traffic]] = []
    with plain_errors(), progress() as bar:
        task = bar.add_task("simulating", total=len(shares) * len(_DISTRIBUTIONS))
        for share in shares:
            setting = Setting(topology, servers, subscriptions, events, share, seed, covering=not uncovered)
            found.append((share, flooding(setting)))
            for distribution in _DISTRIBUTIONS:
                figures = traffic(setting, distribution)
                if saved:
                    plain = traffic(replace(setting, covering=False), distribution)
                    figures = replace(figures, filters_uncovered=plain.filters_per_server)
                repair: dict[str, float] = {one: time_to_repair(setting, distribution, one) for one in faults}
                figures = replace(figures, repair=repair)
                found.append((share, figures))
                bar.advance(task)
        if plot is not None:
            from tidings.bench.network_plot import draw_network

            for path in draw_network(f"{topology}, {servers:,} servers", found, plot):
                messages.print(f"wrote {path}", markup=False)
    if as_json:
        for share, figures in found:
            typer.echo(json.dumps({"selectivity": share, **asdict(figures)}))
        return
    output.print(_table(found, faults, saved))


def _table(found: list[tuple[float, Traffic]], faults: Sequence[str], saved: bool) -> Table:
    header = ["selectivity", "distribution", "messages/event", "filters/server", "most filters", "posts"]
    header += ["median delay", "slowest delay", "missed", *(f"after {one}" for one in faults)]
    header += ["without covering", "saved"] if saved else []
    table = Table(*header, box=None, pad_edge=False)
    for share, one in found:
        row = [f"{share:.1%}", one.distribution, f"{one.messages_per_event:.1f}", f"{one.filters_per_server:,.0f}"]
        row += [f"{one.most_filters:,}", f"{one.posts:,}", _seconds(one.median_delay), _seconds(one.slowest_delay)]
        row += [f"{one.missed:,}", *(_seconds(one.repair.get(fault)) for fault in faults)]
        if saved:
            bare = one.filters_uncovered
            row += [f"{bare:,.0f}", f"{1 - one.filters_per_server / bare:.0%}"] if bare else ["–", "–"]
        table.add_row(*row)
    return table


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} s"
