"""What a pipeline has done, in Prometheus's text form, in a file that appears whole."""

from __future__ import annotations

from pathlib import Path

from tidings.pipeline.pipeline import Progress
from tidings.pipeline.stream.sink import Total
from tidings.whole_file import whole_file

_HELP = {
    "tidings_journal_tail": ("gauge", "Last position of the journal."),
    "tidings_pipeline_committed": ("gauge", "Position up to which all notifications are stored."),
    "tidings_pipeline_lag": ("gauge", "Positions of the journal that are still to be matched."),
    "tidings_pipeline_events_total": ("counter", "Events matched since the pipeline started."),
    "tidings_pipeline_notifications_total": ("counter", "Notifications stored since the pipeline started."),
    "tidings_pipeline_batches_total": ("counter", "Batches since the pipeline started."),
    "tidings_pipeline_batch_seconds_total": ("counter", "Seconds spent on matching and storing them."),
}


def write_metrics(path: Path, progress: Progress, total: Total) -> None:
    figures = (
        progress.tail, progress.committed, progress.lag, total.events, total.notifications, total.batches,
        total.seconds,
    )  # fmt: skip
    lines = []
    for (name, (kind, meaning)), figure in zip(_HELP.items(), figures, strict=True):
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}", f"{name} {figure}"]
    with whole_file(path, durable=False) as file:
        file.write(("\n".join(lines) + "\n").encode())
