"""What a pipeline has done, in Prometheus's text format, in a file that appears whole."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from tidings.pipeline.pipeline import Progress
from tidings.pipeline.stream.sink import Total
from tidings.whole_file import whole_file


def write_metrics(path: Path, progress: Progress, total: Total) -> None:
    registry = CollectorRegistry()
    for name, meaning, value in (
        ("tidings_journal_tail", "Last position of the journal.", progress.tail),
        ("tidings_pipeline_committed", "Position up to which all notifications are stored.", progress.committed),
        ("tidings_pipeline_lag", "Positions of the journal that are still to be matched.", progress.lag),
        (
            "tidings_composites_lag",
            "Positions of the journal that composites have yet to take.",
            progress.composites_lag,
        ),
    ):
        Gauge(name, meaning, registry=registry).set(value)
    for name, meaning, count in (
        ("tidings_composites_late_events", "Events that came too late to take part in composites.", progress.late),
        ("tidings_pipeline_events", "Events matched since the pipeline started.", total.events),
        ("tidings_pipeline_notifications", "Notifications stored since the pipeline started.", total.notifications),
        ("tidings_pipeline_batches", "Batches since the pipeline started.", total.batches),
        ("tidings_pipeline_batch_seconds", "Seconds spent on matching and storing them.", total.seconds),
    ):
        Counter(name, meaning, registry=registry).inc(count)
    with whole_file(path, durable=False) as file:
        file.write(generate_latest(registry))
