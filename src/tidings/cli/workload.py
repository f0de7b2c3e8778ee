"""`tidings workload`: the papers' simulated workloads as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tidings.cli.terminal import messages, plain_errors, progress

Name = Literal["le-subscribe", "thesis"]
Form = Literal["jsonl", "csv", "parquet"]


def workload(
    name: Annotated[Name, typer.Argument(help="Which paper's workload.")],
    output: Annotated[Path, typer.Option(metavar="DIR", help="Where the three files go.")],
    subscriptions: Annotated[int, typer.Option(min=1)] = 10_000,
    events: Annotated[int, typer.Option(min=1)] = 10_000,
    equality: Annotated[
        float, typer.Option(min=0, max=1, help="Le Subscribe's p: share of equality predicates on numbers.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same files.")] = 1,
    form: Annotated[Form, typer.Option(help="Of the events.")] = "jsonl",
) -> None:
    """Write a schema, subscriptions and events of a simulated workload.

    Example: tidings workload le-subscribe --subscriptions 100000 --events 10000 --output demo
    """
    from tidings.workloads import WORKLOADS
    from tidings.workloads.files import write_workload

    options = {"equality": equality} if name == "le-subscribe" else {}
    with plain_errors(), progress() as bar:
        bar.add_task(f"writing {subscriptions:,} subscriptions and {events:,} events", total=None)
        output.mkdir(parents=True, exist_ok=True)
        write_workload(WORKLOADS[name](seed=seed, **options), output, subscriptions, events, form)
    messages.print(
        f"wrote {output}; try: tidings match {output}/subscriptions.jsonl {output}/events.{form} "
        f"--schema {output}/schema.json",
        markup=False,
    )
