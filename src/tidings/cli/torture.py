"""`tidings torture`: a service of its own under load and blows, and whether it kept every promise."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tidings.cli.terminal import INPUT_WAS_WRONG, counted, note, output, plain, plain_errors, progress, warn

if TYPE_CHECKING:
    from tidings.torture.checking import Verdict
    from tidings.torture.record import Record

_SHOWN = 5
_INTERRUPTED = 130


def torture(
    seconds: Annotated[float, typer.Option(min=1, help="How long to inject faults.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed repeats the same run.")] = 1,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A new folder for the service's data. Default: a temporary one, removed on success."
        ),
    ] = None,
    clients: Annotated[int, typer.Option(min=1, max=50, help="Accounts that publish and subscribe.")] = 4,
    rate: Annotated[float, typer.Option(min=0.1, help="Events per second, over all clients.")] = 20.0,
    store: Annotated[
        str, typer.Option(metavar="URL", help="An empty PostgreSQL database to use instead of SQLite.")
    ] = "",
    troubles: Annotated[bool, typer.Option(help="Also inject full disks and wrong clocks.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Start a service, use it from several clients while its processes are killed at random, and verify its guarantees.

    Gateway, pipeline and outbox are killed with SIGKILL. Now and then their clock jumps by up to a year, or the disk
    fills up (as root, which can mount a small one). Webhooks go to a receiver that is slow, fails, resets and lies.
    The expected result is computed from the answers that clients got. Exits with 1 if anything was lost, duplicated
    or invented. Everything stays on this machine, and nothing is left running. Linux only.

    Example: tidings torture --seconds 60
    """
    with plain_errors():
        folder = data if data is not None else Path(tempfile.mkdtemp(prefix="tidings-torture-"))
        verdict = None
        try:
            verdict = _run(seconds, seed, clients, rate, troubles, store, folder)
        except KeyboardInterrupt:
            note("stopped; all processes have ended; no result")
            raise typer.Exit(_INTERRUPTED) from None
        finally:
            if data is None and (verdict is None or verdict.holds):
                shutil.rmtree(folder, ignore_errors=True)
        if as_json:
            typer.echo(json.dumps(verdict.as_json()))
        else:
            _report(verdict)
    if not verdict.holds:
        note(f"the service's data and what it wrote are in {folder}")
        raise typer.Exit(INPUT_WAS_WRONG)


def _run(seconds: float, seed: int, clients: int, rate: float, troubles: bool, store: str, folder: Path) -> Verdict:
    from tidings.torture import running  # with httpx, which other commands do without

    with progress() as bar:
        task = bar.add_task("", total=None)

        def tell(doing: str, record: Record) -> None:
            bar.update(task, description=f"{doing} · {_so_far(record)}")

        return running.torture(running.Plan(seconds, seed, clients, rate, troubles, store), folder, tell)


def _so_far(record: Record) -> str:
    kills = sum(record.kills.values())
    done = f"{counted(len(record.published), 'event')}, {counted(len(record.delivered), 'delivery', 'deliveries')}"
    return f"{done}, {counted(kills, 'kill')}"


def _report(verdict: Verdict) -> None:
    table = Table("told by", box=None, pad_edge=False)
    figures = verdict.as_json()
    names = [name for name in figures["ways"]["stored"] if name != "examples"]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for name, way in figures["ways"].items():
        table.add_row(name, *(_figure(way[figure]) for figure in names))
    output.print(table)
    rest = Table("beside that", "", box=None, pad_edge=False)
    for name in ("events", "subscriptions", "changes", "restarts", "sent_again", "unanswered", "refused"):
        rest.add_row(name.replace("_", " "), _figure(figures[name]))
    rest.add_row("kills", ", ".join(f"{name} {count}" for name, count in sorted(figures["kills"].items())) or "0")
    told = sorted(figures["receiver"].items(), key=lambda item: -item[1])
    rest.add_row("receiver", ", ".join(f"{how} {count:,}" for how, count in told) or "nothing came")
    for name in ("sequence_gaps", "unsigned", "left_behind"):
        rest.add_row(name.replace("_", " "), _figure(figures[name]))
    rest.add_row("seconds", f"{figures['seconds']:,.1f}")
    output.print()
    output.print(rest)
    for way in verdict.ways:
        for what, found in (("lost", way.lost), ("doubled", way.doubled), ("phantom", way.phantom)):
            for event, subscription in found[:_SHOWN]:
                warn(f"{what} ({way.name}): event {event} for subscription {subscription}")
    for refusal in verdict.record.refused[:_SHOWN]:
        warn(f"refused: {refusal}")
    if not verdict.quiet:
        warn("the service had not finished its work when the time was up")
    output.print(f"\n{plain('every promise was kept' if verdict.holds else 'promises were broken')}")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:,}"
