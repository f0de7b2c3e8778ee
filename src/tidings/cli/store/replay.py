"""`tidings replay`: the journal to notifications again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tidings.cli.options import writable
from tidings.cli.store.history import Engine, Master, Problems, session_for
from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import INPUT_WAS_WRONG, counted, messages, note, progress, written_whole

_MANY = 100_000  # positions; for fewer Spark would take longer to start than this process to read them
_MEMBERS = ("position", "event", "source", "subscription")


def replay(
    data: Data = None,
    store: StoreUrl = "",
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="Write to a file, whole or not at all."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the stored notifications; exit with 1 if they differ.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The summary as JSON on standard error.")] = False,
    engine: Engine = "auto",
    master: Master = "local[2]",
) -> None:
    """Compute the notifications of the journal again, up to where the pipeline is, from the journal alone.

    They are written as JSON Lines, by position and subscription; with --check only what differs from what is stored.

    Example: tidings replay --data data --check
    """
    with opened_store(data, store) as journal:
        from tidings.pipeline.batch.history import differences, replayed

        after, upto = journal.complete_from() - 1, journal.committed()
        if after:
            note(f"older events were removed: replayed from position {after + 1:,} on")
        session = session_for(engine, upto - after >= _MANY, master, "tidings replay")
        summary = {"from": after + 1, "to": upto, "notifications": 0, "missing": 0, "unexpected": 0}
        problems, kept = Problems(), []
        with written_whole(output) as file:
            with progress() as bar:
                task = bar.add_task("replaying", total=None)
                for batch in replayed(journal, after, upto, session) if upto > after else ():
                    rows = problems.sifted(batch)
                    summary["notifications"] += len(rows)
                    bar.update(task, description=counted(summary["notifications"], "notification"))
                    if check:
                        kept.append(rows)
                    else:
                        file.write(_lines(rows.select(_MEMBERS)))
            if check:
                parts = differences(journal, after, upto, kept)
                for name, part in zip(("missing", "unexpected"), parts, strict=True):
                    summary[name] = len(part)
                    file.write(_lines(part, {"difference": name}))
    _tell(summary, check, json)
    if summary["missing"] or summary["unexpected"]:
        raise typer.Exit(INPUT_WAS_WRONG)


def _lines(rows: Any, more: dict[str, str] | None = None) -> bytes:
    encode = msgspec.json.encode
    return b"".join(encode(row | (more or {})) + b"\n" for row in rows.to_pylist())


def _tell(summary: dict[str, int], check: bool, as_json: bool) -> None:
    if as_json:
        messages.print(msgspec.json.encode(summary).decode(), markup=False)
        return
    if not summary["to"]:
        messages.print("the pipeline has committed nothing yet; nothing to replay")
        return
    told = f"{counted(summary['notifications'], 'notification')} of positions {summary['from']:,} to {summary['to']:,}"
    if not check:
        messages.print(told)
    elif not summary["missing"] and not summary["unexpected"]:
        messages.print(f"{told}: the same as stored")
    else:
        missing, unexpected = summary["missing"], summary["unexpected"]
        messages.print(f"{told}; missing from the store: {missing:,}, unexpected in the store: {unexpected:,}")
