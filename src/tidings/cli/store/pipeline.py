"""`tidings pipeline`: the Spark job alone, from the journal (and files and Kafka before it) to notifications."""

from __future__ import annotations

import json
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.text import Text

from tidings.cli.options import ValuesPerAttribute
from tidings.cli.quantities import bytes_of
from tidings.cli.store.child import WhileStdin, stopped_event
from tidings.cli.terminal import counted, messages, note, plain_errors, service_log
from tidings.events.validation import MOST_VALUES

if TYPE_CHECKING:  # Spark, SQLAlchemy and numba take long to load, and other commands do without
    from tidings.pipeline.pipeline import Progress

_WINDOW = 20  # looks over which rates are averaged


def pipeline(
    data: Annotated[Path, typer.Option(help="The data folder: store, plans, checkpoints.", metavar="FOLDER")],
    store: Annotated[
        str, typer.Option(help="Another store, postgresql://…", metavar="URL", envvar="TIDINGS_STORE")
    ] = "",
    master: Annotated[str, typer.Option(help="Spark's master.", metavar="URL")] = "local[2]",
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            help="Append these to the journal: files:FOLDER or kafka://HOST:PORT/TOPIC. Repeatable.",
        ),
    ] = None,
    sink: Annotated[
        str, typer.Option(metavar="PLACE", help="notifications; with --direct parquet:FOLDER or kafka://…")
    ] = "notifications",
    direct: Annotated[bool, typer.Option("--direct", help="Match from source to sink, without the journal.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Stop when everything present is processed.")] = False,
    most_rows: Annotated[int, typer.Option(help="At most this many journal positions per batch.", min=1)] = 100_000,
    plan_limit: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Memory for the plan in one worker, e.g. 512MB; larger plans are split into shards."
        ),
    ] = "",
    plans: Annotated[
        str,
        typer.Option(
            metavar="URI",
            help="Where workers on other machines read plans: s3a://BUCKET/PATH or a shared mount.",
        ),
    ] = "",
    checkpoints: Annotated[
        str, typer.Option(metavar="URI", help="Where Spark keeps checkpoints, e.g. s3a://BUCKET/PATH or hdfs://….")
    ] = "",
    spark: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A Spark setting, e.g. spark.executor.memory=2g. Repeatable."),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write metrics to this file, in Prometheus text format.", dir_okay=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Report progress as JSON Lines.")] = False,
    values_per_attribute: ValuesPerAttribute = MOST_VALUES,
    keep_events_days: Annotated[
        int,
        typer.Option(
            help="Remove matched and delivered events after this many days; 0: never.",
            envvar="TIDINGS_KEEP_EVENTS_DAYS",
            min=0,
        ),
    ] = 0,
    keep_keys_days: Annotated[
        int,
        typer.Option(
            help="Days to remember ids of removed events, to detect duplicates; 0: forever.",
            envvar="TIDINGS_KEEP_KEYS_DAYS",
            min=0,
        ),
    ] = 0,
    keep_dead_letters_days: Annotated[
        int,
        typer.Option(
            help="Remove refused events after this many days; 0: never.",
            envvar="TIDINGS_KEEP_DEAD_LETTERS_DAYS",
            min=0,
        ),
    ] = 90,
    lateness: Annotated[
        float,
        typer.Option(
            help="How many seconds an event may arrive after later ones and still take part in composites.",
            envvar="TIDINGS_LATENESS",
            min=0,
        ),
    ] = 10.0,
    waiting_instances: Annotated[
        int,
        typer.Option(
            help="How many instances may wait in one operator of a composite, for each key; beyond it the oldest is "
            "dropped.",
            envvar="TIDINGS_WAITING_INSTANCES",
            min=1,
        ),
    ] = 10_000,
    while_stdin: WhileStdin = False,
) -> None:
    """Match the journal's events as they come and store notifications, exactly once.

    Example: tidings pipeline --data data --source files:inbox --once
    """
    stopped = stopped_event(while_stdin)
    from tidings.pipeline.metrics import write_metrics
    from tidings.pipeline.pipeline import Pipeline, PipelineSettings
    from tidings.store import RetentionDays

    _check_sink(sink, direct, source or [])
    log = nullcontext() if once else service_log("pipeline", people_watch=True)
    with log, plain_errors():
        limit = bytes_of(plan_limit, "--plan-limit") if plan_limit else None
        settings = PipelineSettings(
            data,
            store,
            master,
            tuple(source or ()),
            sink if direct else "",
            most_rows,
            limit,
            _settings(spark or []),
            values_per_attribute,
            plans,
            checkpoints,
            RetentionDays(keep_events_days, keep_keys_days, keep_dead_letters_days),
            lateness,
            waiting_instances,
        )
        with Pipeline(settings, note) as running, _Screen(as_json) as screen:

            def watch(progress: Progress) -> None:
                screen.show(progress)
                if metrics is not None:
                    write_metrics(metrics, progress, running.sink.total)

            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: stopped.set())
            running.run(stopped, once, watch)
            total = running.sink.total
        if direct:
            messages.print(f"matches are in {sink}", markup=False)
            return
        done = f"{counted(total.events, 'event')} matched, {counted(total.notifications, 'notification')} stored"
        messages.print(f"{done}, in {counted(total.batches, 'batch', 'batches')}")


class _Screen:
    """A line that stays in its place on a terminal, lines of JSON where asked for, else nothing."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._recent: deque[Progress] = deque(maxlen=_WINDOW)
        self._live = Live(console=messages, transient=True, auto_refresh=False) if messages.is_terminal else None

    def __enter__(self) -> _Screen:
        if self._live is not None and not self._as_json:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        if progress.waits_for:
            if self._as_json:
                self._say({"waits_for": progress.waits_for})
            return
        self._recent.append(progress)
        figures = _figures(list(self._recent))
        if self._as_json:
            self._say(figures)
        elif self._live is not None:
            line = (
                f"position {figures['committed']:,}  lag {figures['lag']:,}  {figures['events_per_s']:,.0f} events/s  "
                f"{figures['matches_per_s']:,.0f} matches/s  batch {figures['batch_s']:.2f} s"
            )
            self._live.update(Text(line), refresh=True)

    def _say(self, look: Mapping[str, float | str]) -> None:
        sys.stdout.write(json.dumps(look) + "\n")
        sys.stdout.flush()


def _check_sink(sink: str, direct: bool, sources: list[str]) -> None:
    if direct and (sink == "notifications" or not sources):
        raise typer.BadParameter(
            "--direct needs a --source, and a --sink such as parquet:FOLDER or kafka://HOST:PORT/TOPIC."
        )
    if not direct and sink != "notifications":
        raise typer.BadParameter(f"events from the journal become notifications; to write to {sink}, add --direct.")


def _figures(recent: list[Progress]) -> dict[str, float]:
    seconds = sum(progress.seconds for progress in recent)
    batches = [batch for progress in recent for batch in progress.batches]
    return {
        "tail": recent[-1].tail,
        "committed": recent[-1].committed,
        "lag": recent[-1].lag,
        "composites_lag": recent[-1].composites_lag,
        "events_per_s": round(sum(batch.events for batch in batches) / seconds, 1),
        "matches_per_s": round(sum(batch.notifications for batch in batches) / seconds, 1),
        "rows_in_per_s": round(recent[-1].rows_per_second, 1),
        "batch_s": round(sum(batch.seconds for batch in batches) / max(len(batches), 1), 4),
    }


def _settings(texts: list[str]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in texts]
    for name, equals, _ in pairs:
        if not equals or not name.startswith("spark."):
            raise typer.BadParameter(f"{name!r} is not a Spark setting; write spark.NAME=VALUE", param_hint="--spark")
    return tuple((name, value) for name, _, value in pairs)
