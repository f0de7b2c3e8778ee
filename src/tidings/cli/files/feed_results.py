"""What `tidings feed` leaves behind: a mapping file, events published until someone stops it, and counts."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tidings.cli.stopping import stopping
from tidings.cli.terminal import counted, messages, note, written_whole

if TYPE_CHECKING:
    from tidings.feeds import Counters, Feed, Proposal


def write_proposal(proposal: Proposal, path: Path) -> None:
    from tidings.feeds.mapping.mapping_text import write_mapping

    with written_whole(path) as file:
        file.write(write_mapping(proposal.mapping, proposal.seen).encode("utf-8", "replace"))
    note(f"wrote the mapping to {path}")


def until_stopped(feeds: list[Feed]) -> None:
    """Each in a thread of its own; what one of them cannot go on with stops all."""
    problems: list[Exception] = []
    with stopping() as stop:

        def work(feed: Feed) -> None:
            try:
                feed.run(stop)
            except Exception as problem:
                problems.append(problem)
                stop.set()

        threads = [threading.Thread(target=work, args=(feed,), name=feed.mapping.name, daemon=True) for feed in feeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if problems:
        raise problems[0]


def report(name: str, counters: Counters, as_json: bool) -> None:
    counts: dict[str, Any] = asdict(counters)
    if as_json:
        typer.echo(json.dumps({"feed": name, **counts}))
    shown = [
        f"{counts[key]:,} {key}" for key in ("published", "duplicates", "known", "refused", "appended", "failures")
    ]
    if counters.left_out:
        shown.append(f"{counted(counters.left_out, 'bad value')} left out")
    said = ", ".join(one for one in shown if not one.startswith("0 ")) or "nothing new"
    messages.print(f"{name}: {counted(counters.records, 'record')}, {said}", markup=False)
    for fault, count in sorted(counters.faults.items(), key=lambda one: (-one[1], one[0])):
        messages.print(f"{name}: {count:,} × {fault}", markup=False)
    if counters.waiting:
        advice = "`tidings feed refused` lists them, and with --retry publishes them after you correct the mapping"
        messages.print(f"{name}: {counted(counters.kept, 'refused record')} kept; {advice}", markup=False)
    if counters.not_kept:
        least = "at least " if counters.more_not_kept else ""
        beyond = f"{least}{counted(counters.not_kept, 'older refused record')} not kept"
        messages.print(f"{name}: {beyond}; after you correct the mapping, run it again to publish them", markup=False)
