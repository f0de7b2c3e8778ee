"""`tidings bench`: how fast it is here, checked and beside today's tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from tidings.cli.files.bench_tables import say_written, show_one_event, show_run, show_slow_events, show_spark
from tidings.cli.terminal import output, plain_errors, progress
from tidings.errors import suggestion
from tidings.matching.algorithms import ALGORITHMS

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure, and redraw the papers' figures.")

Name = Literal["le-subscribe", "thesis", "rein", "flights"]
Folder = Annotated[Path, typer.Option(metavar="DIR", file_okay=False, help="Output folder.", show_default=False)]
_OPTIONS = {"le-subscribe": ("equality",), "rein": ("attributes", "width", "zipf")}
Quick = Annotated[bool, typer.Option("--quick", help="Small sizes, to check that it works.")]


@app.command()
def matching(
    workload: Annotated[Name, typer.Option(help="Which workload.")] = "le-subscribe",
    subscriptions: Annotated[int, typer.Option(min=1, help="How many.")] = 100_000,
    equality: Annotated[
        float | None, typer.Option(min=0, max=1, help="le-subscribe only: the share of =. Default: 0.5.")
    ] = None,
    events: Annotated[int, typer.Option(min=1, help="How many; slow algorithms get fewer.")] = 10_000,
    algorithms: Annotated[
        str, typer.Option(metavar="A,B", help=f"all, or some of: {', '.join(ALGORITHMS)}.")
    ] = "default,counting",
    attributes: Annotated[int | None, typer.Option(min=10, help="rein only: how many. Default: 20.")] = None,
    width: Annotated[float | None, typer.Option(help="rein only: width of a range, as a share. Default: 0.5.")] = None,
    zipf: Annotated[bool, typer.Option("--zipf", help="rein only: ranges crowd at the low end.")] = False,
    peers: Annotated[bool, typer.Option("--peers", help="Also measure other tools.")] = False,
    peer: Annotated[str, typer.Option(metavar="A,B", help="Only these other tools.")] = "",
    threads: Annotated[
        str, typer.Option(metavar="N|auto", help="Threads; auto: as the default algorithm chooses, all for others.")
    ] = "1",
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds to match, for each algorithm.")] = 10.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the workload.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="The results as JSON.")] = False,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", file_okay=False, help="Draw the rates there, as SVG and PNG.")
    ] = None,
) -> None:
    """Measure algorithms on a workload.

    All are first compared with the naive algorithm on a few filters and events, then with each other on the
    full input; any difference is an error (exit code 1).

    Example: tidings bench matching --workload le-subscribe --subscriptions 100000 --algorithms all --peers
    """
    from tidings.bench.matching import ALL_PEERS, QUICK, Plan, run_matching
    from tidings.bench.peers import PEERS
    from tidings.workloads import WORKLOADS

    given = {"equality": equality, "attributes": attributes, "width": width, "zipf": zipf or None}
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in _OPTIONS.get(workload, ()):
            raise typer.BadParameter(f"{workload} does not have this option.", param_hint=f"'--{name}'")
    names = QUICK if algorithms == "all" else tuple(name.strip() for name in algorithms.split(","))
    with plain_errors():
        plan = Plan(
            WORKLOADS[workload](seed=seed, **options), subscriptions, events, names,
            _chosen(peer, PEERS) if peer else ALL_PEERS if peers else (), _threads(threads), seconds,
        )  # fmt: skip
        with progress() as bar:
            task = bar.add_task("starting", total=None)
            run = run_matching(plan, lambda message: bar.update(task, description=message))
        show_run(run, json)
        if plots is not None:
            from tidings.bench.plots import draw_run

            say_written(draw_run(run, plots))


def _threads(text: str) -> int:
    """0 for auto."""
    if text == "auto":
        return 0
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise typer.BadParameter("must be a number from 1 on, or auto", param_hint="'--threads'")
    return int(text)


@app.command()
def stream(
    subscriptions: Annotated[int, typer.Option(min=1, help="How many, of the flights.")] = 100_000,
    backlog: Annotated[
        int, typer.Option(min=0, help="Events in the journal at the start, before the steady rate; 0: none.")
    ] = 200_000,
    rate: Annotated[int, typer.Option(min=0, help="Events per second; 0: as many as the pipeline takes.")] = 1_000,
    events: Annotated[int, typer.Option(min=1, help="How many are published at that rate.")] = 60_000,
    store: Annotated[
        str, typer.Option(metavar="URL", help="An empty PostgreSQL database to use instead of SQLite.")
    ] = "",
    master: Annotated[str, typer.Option(metavar="URL", help="Spark's master.")] = "local[2]",
    owners: Annotated[
        int, typer.Option(min=0, help="Accounts that own the subscriptions, as in a service; 0: nobody owns them.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="The results as JSON.")] = False,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", file_okay=False, help="Draw memory over time there, as SVG and PNG.")
    ] = None,
) -> None:
    """Measure the pipeline: events a second from a backlog, then seconds from publish to stored notification.

    The backlog's rate leaves out the start of Java and the first batches. With owners, matches are counted for quotas
    and indexed by account. To measure an older commit beside this one,
    run scripts/compare-stream COMMIT in a clone of the repository.

    Example: tidings bench stream --backlog 200000 --rate 5 --events 150
    """
    from tempfile import TemporaryDirectory

    from tidings.bench.stream import StreamPlan, run_stream

    with plain_errors(), TemporaryDirectory() as folder, progress() as bar:
        task = bar.add_task("starting", total=None)
        plan = StreamPlan(subscriptions, rate, events, store, master, backlog, owners)
        result = run_stream(plan, Path(folder), lambda message: bar.update(task, description=message))
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(result.as_json())).decode())
    else:
        for name, value in result.as_json().items():
            output.print(f"{name:20} {value:,}", markup=False)
    if plots is not None:
        from tidings.bench.plots import draw_stream

        say_written(draw_stream(result, plots))


@app.command()
def spark(
    subscriptions: Annotated[int, typer.Option(min=1, help="How many, of the flights.")] = 1_000_000,
    events: Annotated[int, typer.Option(min=1, help="How many, in one Parquet file.")] = 1_000_000,
    master: Annotated[str, typer.Option(metavar="URL", help="Spark's master.")] = "local[2]",
    rounds: Annotated[int, typer.Option(min=1, help="Repetitions; medians are reported.")] = 3,
    json: Annotated[bool, typer.Option("--json", help="The results as JSON.")] = False,
) -> None:
    """Compare batch matching on Spark with one thread of the local engine, on the same file.

    Example: tidings bench spark --subscriptions 1000000 --events 1000000
    """
    from tempfile import TemporaryDirectory

    from tidings.bench.spark_batch import SparkPlan, run_spark

    with plain_errors(), TemporaryDirectory() as folder, progress() as bar:
        task = bar.add_task("starting", total=None)
        plan = SparkPlan(subscriptions, events, master, rounds)
        result = run_spark(plan, Path(folder), lambda message: bar.update(task, description=message))
    if json:
        typer.echo(msgspec.json.format(msgspec.json.encode(result.as_json())).decode())
    else:
        show_spark(result)


@app.command(name="one-event")
def one_event(
    subscriptions: Annotated[int, typer.Option(min=1, help="How many, of le-subscribe.")] = 100_000,
    equality: Annotated[float, typer.Option(min=0, max=1, help="The share of =.")] = 1.0,
    events: Annotated[int, typer.Option(min=1, help="How many; slow peers get fewer.")] = 2_000,
    peer: Annotated[
        str, typer.Option(metavar="A,B", help="Only these of quamina, event-ruler and a-tree; none: Tidings alone.")
    ] = "quamina,event-ruler,a-tree",
    rounds: Annotated[int, typer.Option(min=1, help="Repetitions; medians are reported.")] = 7,
    seconds: Annotated[float, typer.Option(min=0.01, help="Seconds per round, at most, for each.")] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="The results as JSON.")] = False,
) -> None:
    """Measure one event per call, compared with libraries built for that.

    All get the same JSON, one event after the other, in alternating rounds; every count is compared, and a
    difference is an error (exit code 1). The peers need cargo, or a JDK and Maven.

    Example: tidings bench one-event --subscriptions 100000 --equality 1
    """
    from tidings.bench.one_event import OnePlan, run_one_event
    from tidings.bench.peers.programs import PROGRAMS
    from tidings.workloads import LeSubscribe

    peers = () if peer == "none" else _chosen(peer, PROGRAMS)
    with plain_errors(), progress() as bar:
        task = bar.add_task("starting", total=None)
        plan = OnePlan(LeSubscribe(equality), subscriptions, events, peers, rounds, seconds)
        run = run_one_event(plan, lambda message: bar.update(task, description=message))
    show_one_event(run, json)


@app.command(name="slow-events")
def slow_events(
    events: Annotated[int, typer.Option(min=1, help="How many hostile events.")] = 5_000,
    subscriptions: Annotated[int, typer.Option(min=1, help="How many filters.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Seed of the events and filters.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="The results as JSON.")] = False,
) -> None:
    """Find events that cost far more than others of their size.

    Each event is matched alone, in a batch and by match_one, and its time compared with the median of ordinary events
    of its size. Events are made to be slow: up to 1,000 values per attribute against filters of every expensive kind.

    Example: tidings bench slow-events --events 1000
    """
    from tidings.bench.slow_events import run_slow_events

    with plain_errors(), progress() as bar:
        task = bar.add_task("starting", total=None)
        found = run_slow_events(events, subscriptions, seed, lambda message: bar.update(task, description=message))
    show_slow_events(found, json)


@app.command()
def figures(output: Folder, quick: Quick = False) -> None:
    """Redraw the papers' figures with our measurements, and growth, as SVG and PNG.

    Example: tidings bench figures --output figures --quick
    """
    from tidings.bench.figures import draw_figures

    with plain_errors(), progress() as bar:
        task = bar.add_task("starting", total=None)
        written = draw_figures(output, quick, lambda message: bar.update(task, description=message))
    say_written(written)


@app.command()
def report(output: Folder = Path("docs"), quick: Quick = False) -> None:
    """Measure everything and write performance.md and its images.

    Example: tidings bench report --output docs
    """
    from tidings.bench.report import write_report

    with plain_errors(), progress() as bar:
        task = bar.add_task("starting", total=None)
        written = write_report(output, quick, lambda message: bar.update(task, description=message))
    say_written(written)


def _chosen(peers: str, known: Iterable[str]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in peers.split(","))
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"no peer {name!r}{suggestion(name, tuple(known))}.", param_hint="'--peer'")
    return names
