"""`tidings journal`: fill, look at, copy and tend a journal, without a server."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tidings.cli.options import ExistingFile, Form, ValuesPerAttribute, load_catalog, writable
from tidings.cli.quantities import bytes_of
from tidings.cli.store.journal_changes import Json, pause, profile, quota, resume, tell, withdraw
from tidings.cli.store.journal_lists import dead_letters, late_events, profiles
from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import INPUT_WAS_WRONG, counted, messages, plain, progress, warn
from tidings.events.validation import MOST_VALUES
from tidings.schema import Instant

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Load, inspect, copy and maintain a journal.")


@app.command()
def load(
    data: Data = None,
    store: StoreUrl = "",
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Grow an empty journal to this schema.", **ExistingFile)
    ] = None,
    subscriptions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON Lines of id and filter.", **ExistingFile)
    ] = None,
    events: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON Lines, CSV, Parquet or XML.", **ExistingFile)
    ] = None,
    form: Annotated[Form | None, typer.Option(help="The events' format, if the file name does not show it.")] = None,
    values_per_attribute: ValuesPerAttribute = MOST_VALUES,
    as_json: Json = False,
) -> None:
    """Append a schema, subscriptions and events from files; existing ones are left unchanged.

    Refused events never stop the others; they go to the dead letters with every rule that they broke. A file with a
    wrong subscription is not loaded at all (exit code 1).

    Example: tidings journal load --data data --schema schema.json --subscriptions subs.jsonl --events events.jsonl
    """
    if schema is None and subscriptions is None and events is None:
        raise typer.BadParameter("name something to load: --schema, --subscriptions or --events.")
    with opened_store(data, store, make=True) as journal:
        from tidings.cli.store.journal_loader import Loading

        with progress() as bar:
            task = bar.add_task("loading", total=None)
            loading = Loading(journal, lambda all: bar.update(task, description=str(all)))
            if schema is not None:
                loading.schema(load_catalog(schema))
            if subscriptions is not None:
                loading.subscriptions(subscriptions)
            if events is not None:
                loading.events(events, form, values_per_attribute)
        for reason in loading.loaded.reasons:
            warn(reason)
    tell(asdict(loading.loaded), str(loading.loaded), as_json)
    if loading.loaded.subscriptions_refused:
        raise typer.Exit(INPUT_WAS_WRONG)


@app.command()
def show(data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Show the size of a journal and the pipeline's progress.

    Example: tidings journal show --data data
    """
    with opened_store(data, store) as journal:
        found = journal.figures()
    figures: dict[str, str | int] = {
        "journal": found.journal,
        "schema_version": found.schema_version,
        "tail": found.tail,
        "subscriptions": found.active + found.paused,
        "paused": found.paused,
        "events": found.events,
        "event_bytes": found.event_bytes,
        "complete_from": found.complete_from,
        "committed": found.committed,
        "lag": found.lag,
        "notifications": found.notifications,
        "dead_letters": found.dead_letters,
        "matches_dropped": found.dropped,
        "late_events": found.late,
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in figures.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else plain(value))
    tell(figures, table, as_json)


@app.command("count-words")
def count_words(
    attribute: Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="Of texts.", show_default=False)],
    data: Data = None,
    store: StoreUrl = "",
    as_json: Json = False,
) -> None:
    """Count in how many stored texts each word occurs: similarity (~) weighs words by it from now on.

    A running server does so itself at 100, 200, 400, … texts. Events accepted before keep their weights.

    Example: tidings journal count-words body --data data
    """
    with opened_store(data, store) as journal:
        from tidings.pipeline.word_counts import count_stored

        made = count_stored(journal, attribute)
    said = f"{made.texts:,} texts with {len(made.frequencies):,} different terms"
    tell({"attribute": attribute, "texts": made.texts, "terms": len(made.frequencies)}, said, as_json)


@app.command("restart-composites")
def restart_composites(data: Data = None, store: StoreUrl = "", as_json: Json = False) -> None:
    """Forget what composites wait for and read the journal again, as far as it is kept. Nothing is stored twice.

    For states that are lost or that this release cannot read. The pipeline may be running.

    Example: tidings journal restart-composites --data data
    """
    with opened_store(data, store) as journal:
        from tidings.store.notifications.progress import COMPOSITES

        journal.restart_composites()
        after = journal.committed(COMPOSITES) if journal.begin_composites() else None
    said = "there are no composites" if after is None else f"composites are read again after position {after:,}"
    tell({"after": after}, said, as_json)


@app.command("export")
def export_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", callback=writable, help="The file to write.", show_default=False)
    ],
    data: Data = None,
    store: StoreUrl = "",
) -> None:
    """Write the whole journal to a file, as JSON Lines.

    Example: tidings journal export journal.jsonl --data data
    """
    with opened_store(data, store) as journal, progress() as bar:
        from tidings.store import export_journal

        bar.add_task("exporting", total=None)
        lines = export_journal(journal, file)
    messages.print(f"wrote {counted(lines, 'entry', 'entries')} to {file}", markup=False)


@app.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The exported file.", show_default=False, **ExistingFile)
    ],
    data: Data = None,
    store: StoreUrl = "",
) -> None:
    """Read an exported journal into an empty store: all of it, or nothing.

    Example: tidings journal import journal.jsonl --data other
    """
    with opened_store(data, store, make=True) as journal, progress() as bar:
        from tidings.store import import_journal

        bar.add_task("importing", total=None)
        entries = import_journal(file, journal)
    messages.print(f"read {counted(entries, 'entry', 'entries')} from {file}", markup=False)


@app.command()
def trim(
    data: Data = None,
    store: StoreUrl = "",
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Remove events older than this, e.g. 30d or 12h.")
    ] = "",
    at_most: Annotated[
        str, typer.Option(metavar="SIZE", help="Remove the oldest events beyond this total size, e.g. 10GB.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Remove old events that the pipeline has committed, with their notifications; their ids are remembered.

    Example: tidings journal trim --data data --older-than 30d --at-most 10GB
    """
    if not older_than and not at_most:
        raise typer.BadParameter("say what to remove: --older-than or --at-most.")
    age = _microseconds(older_than, "'--older-than'") if older_than else None
    size = bytes_of(at_most, "'--at-most'") if at_most else None
    with opened_store(data, store) as journal, progress() as bar:
        bar.add_task("removing old events", total=None)
        removed = journal.trim(None if age is None else Instant(journal.clock.now() - age), size)
        while journal.forget() > 0:
            pass  # as much at once as lets others write in between
        complete_from = journal.complete_from()
    told = f"removed {counted(removed, 'event')}; complete from position {complete_from:,}"
    tell({"removed": removed, "complete_from": complete_from}, told, as_json)


def _microseconds(text: str, option: str) -> int:
    """`30d`, `12 h`, `1.5w`"""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]+)", text.strip())
    if found is None or found[2] not in _SECONDS:
        raise typer.BadParameter(f"{text!r} is not an age; expected e.g. 30d, 12h or 90min", param_hint=option)
    return int(float(found[1]) * _SECONDS[found[2]] * 1_000_000)


for listing in (dead_letters, late_events, profiles):
    app.command()(listing)
for change in (withdraw, pause, resume, quota, profile):
    app.command()(change)
