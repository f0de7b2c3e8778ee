"""`tidings bench`: how fast it is here, checked and beside today's tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer

from tidings.cli.terminal import messages, output, plain, plain_errors, progress
from tidings.errors import suggestion
from tidings.matching.algorithms import ALGORITHMS

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure, and redraw the papers' figures.")

Name = Literal["le-subscribe", "thesis", "rein", "flights"]
Folder = Annotated[Path, typer.Option(metavar="DIR", file_okay=False, help="Where the files go.", show_default=False)]
_OPTIONS = {"le-subscribe": ("equality",), "rein": ("attributes", "width", "zipf")}
Quick = Annotated[bool, typer.Option("--quick", help="Small numbers, to see that it works.")]


@app.command()
def matching(
    workload: Annotated[Name, typer.Option(help="Which workload.")] = "le-subscribe",
    subscriptions: Annotated[int, typer.Option(min=1, help="How many.")] = 100_000,
    equality: Annotated[
        float | None, typer.Option(min=0, max=1, help="le-subscribe only: the share of =, else 0.5.")
    ] = None,
    events: Annotated[int, typer.Option(min=1, help="How many; slow algorithms get fewer.")] = 10_000,
    algorithms: Annotated[
        str, typer.Option(metavar="A,B", help=f"all, or some of: {', '.join(ALGORITHMS)}.")
    ] = "default,counting",
    attributes: Annotated[int | None, typer.Option(min=10, help="rein only: how many, else 20.")] = None,
    width: Annotated[float | None, typer.Option(help="rein only: of a range, as a share, else 0.5.")] = None,
    zipf: Annotated[bool, typer.Option("--zipf", help="rein only: ranges crowd at the low end.")] = False,
    peers: Annotated[bool, typer.Option("--peers", help="Today's tools too.")] = False,
    peer: Annotated[str, typer.Option(metavar="A,B", help="Only these of today's tools.")] = "",
    threads: Annotated[int, typer.Option(min=1, help="For those that can use several.")] = 1,
    seconds: Annotated[float, typer.Option(min=0.1, help="To match, for each algorithm.")] = 10.0,
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another workload.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="The results as JSON.")] = False,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", file_okay=False, help="Draw the rates there, as SVG and PNG.")
    ] = None,
) -> None:
    """Measure algorithms on a workload.

    Everything is first compared with the naive algorithm on a few filters and events, and then with each other
    on all; a difference is an error (exit code 1).

    Example: tidings bench matching --workload le-subscribe --subscriptions 100000 --algorithms all --peers
    """
    from tidings.bench.matching import ALL_PEERS, QUICK, Plan, run_matching
    from tidings.workloads import WORKLOADS

    given = {"equality": equality, "attributes": attributes, "width": width, "zipf": zipf or None}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in _OPTIONS.get(workload, ()):
            raise typer.BadParameter(f"{workload} has no such option.", param_hint=f"'--{name}'")
    names = QUICK if algorithms == "all" else tuple(name.strip() for name in algorithms.split(","))
    with plain_errors():
        plan = Plan(
            WORKLOADS[workload](seed=seed, **options), subscriptions, events, names,
            _chosen(peer) if peer else ALL_PEERS if peers else (), threads, seconds,
        )  # fmt: skip
        with progress() as bar:
            task = bar.add_task("starting", total=None)
            run = run_matching(plan, lambda message: bar.update(task, description=message))
        _show(run, json)
        if plots is not None:
            from tidings.bench.plots import draw_run

            _say_written(draw_run(run, plots))


@app.command()
def figures(output: Folder, quick: Quick = False) -> None:
    """Redraw the papers' figures with our measurements, and growth, as SVG and PNG.

    Example: tidings bench figures --output figures --quick
    """
    from tidings.bench.figures import draw_figures

    with plain_errors(), progress() as bar:
        task = bar.add_task("starting", total=None)
        written = draw_figures(output, quick, lambda message: bar.update(task, description=message))
    _say_written(written)


@app.command()
def report(output: Folder = Path("docs"), quick: Quick = False) -> None:
    """Measure everything and write performance.md and its images.

    Example: tidings bench report --output docs
    """
    from tidings.bench.report import write_report

    with plain_errors(), progress() as bar:
        task = bar.add_task("starting", total=None)
        written = write_report(output, quick, lambda message: bar.update(task, description=message))
    _say_written(written)


def _chosen(peers: str) -> tuple[str, ...]:
    from tidings.bench.peers import PEERS

    names = tuple(name.strip() for name in peers.split(","))
    for name in names:
        if name not in PEERS:
            raise typer.BadParameter(f"no peer {name!r}{suggestion(name, tuple(PEERS))}.", param_hint="'--peer'")
    return names


def _show(run: Any, as_json: bool) -> None:
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


def _say_written(paths: list[Path]) -> None:
    for path in paths:
        messages.print(f"wrote {path}", markup=False)
