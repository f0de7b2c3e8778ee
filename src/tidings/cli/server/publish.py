"""`tidings publish`: events to a server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from rich.progress import Progress

from tidings.cli.server.server import DEFAULT_SERVER, AsJson, Server, Token, connected
from tidings.cli.terminal import INPUT_WAS_WRONG, counted, fail, messages, plain, progress, warn
from tidings.errors import shown

if TYPE_CHECKING:
    from tidings.client import Client, PublishedMany

_REASONS_SHOWN = 5
_RETRIES = 8  # a long file should outlive the restart of a server


def publish(
    events: Annotated[
        str,
        typer.Argument(metavar="EVENTS", help="A file of JSON Lines, - for standard input, or one event as JSON."),
    ],
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if an event is refused.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish events and wait until they are stored. Duplicates, by source and id, are ignored.

    Example: tidings publish events.jsonl
    """
    if events.lstrip().startswith("{"):
        _one(events, server, token, as_json)
        return
    path = None if events == "-" else Path(events)
    if path is not None and not path.is_file():
        raise typer.BadParameter(f"no file {events!r}.", param_hint="'EVENTS'")
    with connected(server, token, _RETRIES) as client, progress() as bar, _opened(path) as file:
        done = _many(client, file, path.stat().st_size if path else None, bar)
    _report(done, as_json)
    if strict and done.refused_total:
        raise typer.Exit(INPUT_WAS_WRONG)


def _opened(path: Path | None) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path is None else path.open("rb")


def _one(text: str, server: str, token: str, as_json: bool) -> None:
    try:
        event = json.loads(text)
    except ValueError as problem:
        fail(f"the event is not valid JSON: {problem}")
    with connected(server, token) as client:
        published = client.publish(event)
    if as_json:
        members = {"id": published.id, "position": published.position, "duplicate": published.duplicate}
        typer.echo(json.dumps(members))
        return
    before = " was there before" if published.duplicate else ""
    messages.print(plain(f"event {shown(published.id)} at position {published.position:,}{before}"))


def _many(client: Client, file: BinaryIO, size: int | None, bar: Progress) -> PublishedMany:
    """Reports what was accepted before something went wrong."""
    from tidings.client.lines import has_id

    task = bar.add_task("publishing", total=size)
    so_far: list[PublishedMany] = []
    all_named = True

    def lines() -> Iterator[bytes]:
        nonlocal all_named
        for line in file:
            bar.advance(task, len(line))
            all_named = all_named and has_id(line)
            yield line

    def tell(done: PublishedMany) -> None:
        so_far[:] = [done]
        bar.update(task, description=f"{counted(done.accepted, 'event')} published")

    try:
        return client.publish_many(lines(), tell)
    except BaseException:
        if so_far:
            warn(f"before this, {_told(so_far[0])}; {_what_next(so_far[0], all_named)}")
        raise


def _what_next(done: PublishedMany, all_named: bool) -> str:
    if all_named:
        return "publish everything again; stored events are not duplicated"
    first = done.accepted + done.duplicates + done.refused_total
    return (
        f"these are the first {first:,} lines, blank ones not counted. Not all have an id, so do not publish those "
        "again, or they are there twice; of the lines after them some may have been accepted, too"
    )


def _report(done: PublishedMany, as_json: bool) -> None:
    for one in done.refused[:_REASONS_SHOWN]:
        name = "" if one.get("id") is None else f"event {shown(one['id'])} "
        warn(f"line {one['line']}: {name}refused: {_reasons(one)}")
    if as_json:
        members = {"accepted": done.accepted, "duplicates": done.duplicates, "refused_total": done.refused_total}
        typer.echo(json.dumps({**members, "refused": list(done.refused), "results": list(done.results)}))
    messages.print(_told(done), markup=False)


def _reasons(refused: dict[str, Any]) -> str:
    return "; ".join(f"{error.get('rule')}: {error.get('message')}" for error in refused["errors"])


def _told(done: PublishedMany) -> str:
    counts = [
        counted(done.accepted, "event"),
        counted(done.duplicates, "duplicate") if done.duplicates else "",
        f"{done.refused_total:,} refused" if done.refused_total else "",
    ]
    return ", ".join(count for count in counts if count)
