"""`tidings workload`: the benchmarks' workloads as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tidings.cli.terminal import messages, plain_errors, progress

Name = Literal["le-subscribe", "thesis", "rein", "flights"]


def workload(
    name: Annotated[
        Name, typer.Argument(metavar="NAME", help="le-subscribe, thesis, rein or flights.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(metavar="DIR", file_okay=False, help="Output folder for the three files.", show_default=False),
    ],
    subscriptions: Annotated[int, typer.Option(min=1, help="How many.")] = 10_000,
    events: Annotated[int, typer.Option(min=1, help="How many.")] = 10_000,
    equality: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="le-subscribe only: the share of = among predicates on numbers, else 0.5."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same files.")] = 1,
    form: Annotated[Literal["jsonl", "csv", "parquet"], typer.Option(help="Of the events.")] = "jsonl",
) -> None:
    """Write a schema, subscriptions and events of a workload; flights are real and need tidings[bench].

    Example: tidings workload le-subscribe --subscriptions 100000 --events 10000 --output demo
    """
    from tidings.workloads import WORKLOADS
    from tidings.workloads.files import write_workload

    if equality is not None and name != "le-subscribe":
        raise typer.BadParameter(f"{name} does not have this option.", param_hint="'--equality'")
    options = {} if equality is None else {"equality": equality}
    with plain_errors(), progress() as bar:
        bar.add_task(f"writing {subscriptions:,} subscriptions and {events:,} events", total=None)
        write_workload(WORKLOADS[name](seed=seed, **options), output, subscriptions, events, form)
    messages.print(
        f"wrote {output}; try: tidings match {output}/subscriptions.jsonl {output}/events.{form} "
        f"--schema {output}/schema.json",
        markup=False,
    )
