"""What the commands over stored events share: a period, an engine, and how events are shown."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from tidings.cli.terminal import note, plain, warn
from tidings.schema import Instant, moments
from tidings.schema.moments import WHEN

if TYPE_CHECKING:  # neither is quick to load
    from pyspark.sql import SparkSession

    from tidings.store.journal.event_store import EventStore

_PROBLEMS_SHOWN = 5

FilterText = Annotated[str, typer.Argument(metavar="FILTER", help="The filter's text.", show_default=False)]
Since = Annotated[str, typer.Option(metavar="WHEN", help=f"Only events accepted at or after it: {WHEN}.")]
Until = Annotated[str, typer.Option(metavar="WHEN", help="Only events accepted before this time.")]
Engine = Annotated[
    Literal["auto", "local", "spark"],
    typer.Option(help="Where: in this process, on Spark, or (auto) wherever it is quicker."),
]
Master = Annotated[str, typer.Option(metavar="URL", help="Spark's master.")]


def moment(text: str, option: str, now: Instant) -> Instant:
    """The instant that a date, a time or an age means."""
    try:
        return moments.moment(text, now)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a time; write it like {WHEN}.", param_hint=f"'{option}'") from None


def positions(store: EventStore, since: Instant | None, until: Instant | None) -> tuple[int, int]:
    """The journal's positions (after, upto] of a period. Reports what is no longer there."""
    after = 0 if since is None else store.position_at(since) - 1
    upto = store.tail() if until is None else store.position_at(until) - 1
    complete_from = store.complete_from()
    if after + 1 < complete_from:
        note(f"older events were removed: the journal is complete from position {complete_from:,} on")
    return after, max(after, upto)


def session_for(engine: str, quicker: bool, master: str, name: str) -> SparkSession | None:
    """A session where Spark is to do it, since it is `quicker` or was asked for; None where this process is."""
    if engine == "local" or (engine == "auto" and not quicker):
        _spare_pandas()
        return None
    from tidings.pipeline.spark.session import spark_session

    return spark_session(master, name)


def _spare_pandas() -> None:
    """Keeps Arrow from loading pandas when it first turns an array into numpy's: 0.25 s of the 1.1 s that a query over
    118,000 events takes (`python -m tidings.bench.queries`). Only where this command is the whole program."""
    if Path(sys.argv[0]).name == "tidings" and "pandas" not in sys.modules:
        import pyarrow as pa

        sys.meta_path.insert(0, _NoPandas())
        pa.array([0]).to_numpy()  # Arrow looks for pandas once
        del sys.meta_path[0]


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


class Problems:
    """Tells the first few events of the journal that cannot be read."""

    def __init__(self) -> None:
        self.count = 0

    def sifted(self, batch: Any) -> Any:
        """The rows without a problem."""
        if batch.column("problem").null_count == len(batch):
            return batch
        for row in batch.filter(batch.column("problem").is_valid()).to_pylist():
            if self.count < _PROBLEMS_SHOWN:
                warn(f"position {row['position']:,} of the journal cannot be read: {row['problem']}")
            self.count += 1
        return batch.filter(batch.column("problem").is_null())


def shown_event(row: dict[str, Any]) -> str:
    """A stored event as a line for people."""
    return plain(f"{row['position']:>9,}  {Instant(row['accepted'])}  {row['payload']}")


def event_as_json(row: dict[str, Any]) -> dict[str, Any]:
    event = msgspec.Raw(row["payload"].encode())
    return {"position": row["position"], "accepted": str(Instant(row["accepted"])), "event": event}
