"""What a pipeline is told at its start, and what it tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tidings.composite.trace import MOST_WAITING
from tidings.events.validation import MOST_VALUES
from tidings.pipeline.stream.sink import Batch
from tidings.store import RetentionDays

LATENESS = 10.0


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    data: Path
    store: str = ""  # a URL; empty: SQLite in the data folder
    master: str = "local[2]"
    sources: tuple[str, ...] = ()  # what is appended to the journal: files:FOLDER, kafka://HOST:PORT/TOPIC
    direct_to: str = ""  # instead, from the sources past the journal to parquet:FOLDER or kafka://HOST:PORT/TOPIC
    most_rows: int = 100_000  # of one batch
    plan_limit: int | None = None  # bytes of the plan that one worker may hold
    spark: tuple[tuple[str, str], ...] = ()  # settings of Spark itself
    values_per_attribute: int = MOST_VALUES  # different ones in one event of a source
    plans: str = ""  # a URI or shared path for workers on other machines; empty: they read the data folder
    checkpoints: str = ""  # a URI that Spark knows; empty: in the data folder
    keep: RetentionDays = field(default_factory=RetentionDays)  # for how long events and the like are kept
    lateness: float = LATENESS  # seconds by which an event may come after younger ones, for composites
    waiting_instances: int = MOST_WAITING  # in one operator of a composite, for each key


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the pipeline is, and the batches since it was last told."""

    tail: int
    committed: int
    batches: tuple[Batch, ...]
    seconds: float
    rows_per_second: float = 0.0  # that come in from files and Kafka, as Spark counts them
    waits_for: str = ""  # the pipeline that works on this store; this one takes over when that ends
    composites: int | None = None  # the position that the composites' query has committed; None: there are none
    late: int = 0  # events that came too late for composites, ever

    @property
    def lag(self) -> int:
        """Positions of the journal that are still to be matched."""
        return self.tail - self.committed

    @property
    def composites_lag(self) -> int:
        """The same of the composites' query."""
        return 0 if self.composites is None else self.tail - self.composites
