"""`tidings journal dead-letters`, `late-events` and `profiles`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from tidings.cli.store.stores import Data, StoreUrl, opened_store
from tidings.cli.terminal import output, plain, plain_errors


def dead_letters(
    data: Data = None,
    store: StoreUrl = "",
    after: Annotated[int, typer.Option(min=0, help="Only those after this number.")] = 0,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 1_000,
    as_json: Annotated[
        bool, typer.Option("--json", help="One line of JSON each, with the event as it was sent.")
    ] = False,
) -> None:
    """List refused events with every rule they broke.

    Example: tidings journal dead-letters --data data
    """
    with opened_store(data, store) as journal:
        letters = journal.dead_letters(after, limit)
    if as_json:
        with plain_errors():
            for one in letters:
                errors = [error.as_json() for error in one.letter.errors]
                members = {"number": one.number, "stored": str(one.stored)} | asdict(one.letter) | {"errors": errors}
                output.file.write(json.dumps(members) + "\n")
        return
    table = Table("number", "stored", "origin", "place", "id", "why", box=None, pad_edge=False)
    for one in letters:
        why = "; ".join(f"{error.rule}: {error.message}" for error in one.letter.errors)
        words = (one.letter.origin, one.letter.place, one.letter.id or "", why)
        table.add_row(str(one.number), str(one.stored), *(plain(word) for word in words))
    with plain_errors():
        output.print(table)


def late_events(
    data: Data = None,
    store: StoreUrl = "",
    after: Annotated[int, typer.Option(min=0, help="Only those after this position.")] = 0,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 1_000,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON each.")] = False,
) -> None:
    """List events that came too late to take part in composites.

    Example: tidings journal late-events --data data
    """
    with opened_store(data, store) as journal:
        late = [(one.position, one.late_by / 1_000_000) for one in journal.late_events(after, limit)]
    if as_json:
        with plain_errors():
            for position, seconds in late:
                output.file.write(json.dumps({"position": position, "late_by_seconds": seconds}) + "\n")
        return
    table = Table("position", "late by", box=None, pad_edge=False)
    for position, seconds in late:
        table.add_row(str(position), f"{seconds:.3f} s")
    with plain_errors():
        output.print(table)


def profiles(
    data: Data = None,
    store: StoreUrl = "",
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON each.")] = False,
) -> None:
    """List the profiles that composites may inherit from with 'using NAME'.

    Example: tidings journal profiles --data data
    """
    with opened_store(data, store) as journal:
        known = sorted(journal.composite_profiles().items())
    if as_json:
        with plain_errors():
            for name, options in known:
                output.file.write(json.dumps({"name": name, "options": options}) + "\n")
        return
    table = Table("name", "options", box=None, pad_edge=False)
    for name, options in known:
        table.add_row(plain(name), plain(options))
    with plain_errors():
        output.print(table)
