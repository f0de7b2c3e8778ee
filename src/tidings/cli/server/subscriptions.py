"""`tidings subscriptions`: lists yours at a server; `export` and `import` them as a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from tidings.cli.server.server import DEFAULT_SERVER, AsJsonLines, Server, Token, connected
from tidings.cli.terminal import counted, fail, messages, output, plain, warn
from tidings.whole_file import whole_file

if TYPE_CHECKING:
    from tidings.client import Client

app = typer.Typer(rich_markup_mode=None)
_AT_ONCE = 2_000  # subscriptions in one request
_MOST_BYTES = 4 << 20  # of their lines
_MOST_TOLD = 100  # wrong lines

File = Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines; - for standard input or output.")]


@app.callback(invoke_without_command=True)
def subscriptions(
    context: typer.Context,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    state: Annotated[Literal["active", "paused"] | None, typer.Option(help="Only these.")] = None,
    as_json: AsJsonLines = False,
) -> None:
    """List your subscriptions, sorted by name.

    Example: tidings subscriptions --state active
    """
    if context.invoked_subcommand is not None:
        return
    with connected(server, token) as client:
        if as_json:
            for one in client.subscriptions(state):
                typer.echo(json.dumps(asdict(one)))
            return
        found = list(client.subscriptions(state))
        names = "id", "name", "state", "channel", "since", "expiry", "filter or composite"
        table = Table(*names, box=None, pad_edge=False)
        found.sort(key=lambda one: (not one.name, (one.name or "").casefold()))
        for one in found:
            told = one.channel["kind"] + (
                f" ({one.channel_state})" if one.channel_state not in (None, "active") else ""
            )
            name, filter = plain(one.name or ""), plain(one.filter or one.composite or "")
            table.add_row(plain(one.id), name, one.state, told, f"{one.since:,}", one.expiry or "", filter)
        if found:
            output.print(table)
        messages.print(counted(len(found), "subscription"), markup=False)
        for one in found:
            if one.errors:
                often = counted(one.errors["events"], "event")
                warn(f"{plain(one.name or one.id)}: ended in an error on {often}, last: {plain(one.errors['detail'])}")


@app.command("export")
def export(file: File, server: Server = DEFAULT_SERVER, token: Token = "") -> None:
    """Write your subscriptions to a file, one per line: id, filter or composite, name, note, state, expiry, channel.

    Webhook secrets are not in it, and an Apprise URL only by scheme and host.

    Example: tidings subscriptions export mine.jsonl
    """
    with connected(server, token) as client:
        lines = [json.dumps(one, ensure_ascii=False) for one in client.export_subscriptions()]
    text = "".join(f"{line}\n" for line in lines).encode()
    if file == "-":
        sys.stdout.buffer.write(text)
    else:
        with whole_file(Path(file)) as written:
            written.write(text)
    messages.print(counted(len(lines), "subscription"), markup=False)


@app.command("import")
def import_(
    file: File,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    partial: Annotated[bool, typer.Option("--partial", help="Skip wrong lines and import the others.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Show what would be done; store nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A result for each line, as JSON Lines.")] = False,
) -> None:
    """Subscribe with every line of a file. If a line is wrong, all wrong lines are listed and nothing is imported.

    Importing a file twice is safe: existing subscriptions are left alone. A channel in a line must have the
    destination of one of your active channels.

    Example: tidings subscriptions import mine.jsonl
    """
    lines = list(_lines(file))
    with connected(server, token) as client:
        wrong = {} if partial else dict(_refused(_sent(client, lines, True)))
        results = [] if wrong and not check else _sent(client, lines, check)
    if as_json:
        for one in results:
            typer.echo(json.dumps(one))
    for line, why in list(dict(_refused(results) if results else wrong.items()).items())[:_MOST_TOLD]:
        warn(f"line {line}: {why}")
    if wrong and not check:
        fail(f"{counted(len(wrong), 'line')} cannot be imported, so nothing was; --partial imports the others")
    counts = {
        status: sum(one["status"] == status for one in results) for status in ("accepted", "duplicate", "refused")
    }
    told = f"{counted(counts['accepted'], 'subscription')} {'would be ' if check else ''}imported"
    told += f", {counts['duplicate']:,} existed already" if counts["duplicate"] else ""
    told += f", {counts['refused']:,} refused" if counts["refused"] else ""
    messages.print(told, markup=False)
    if counts["refused"]:
        raise typer.Exit(1)


def _lines(file: str) -> Iterator[tuple[int, Any]]:
    """Numbered; what is not JSON is sent as it is, for the server to refuse with all the others."""
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as problem:
        fail(f"{file}: {problem.strerror}")
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError:
                yield number, line.decode(errors="replace")[:200]


def _sent(client: Client, lines: list[tuple[int, Any]], check: bool) -> list[dict[str, Any]]:
    """The results, with the lines of the file."""
    found: list[dict[str, Any]] = []
    for some in _parts(lines):
        answer = client.import_subscriptions([one for _, one in some], check=check)
        found += [{**one, "line": some[one["line"] - 1][0]} for one in answer["results"]]
    return found


def _parts(lines: list[tuple[int, Any]]) -> Iterator[list[tuple[int, Any]]]:
    part: list[tuple[int, Any]] = []
    size = 0
    for number, one in lines:
        length = len(json.dumps(one))
        if part and (len(part) == _AT_ONCE or size + length > _MOST_BYTES):
            yield part
            part, size = [], 0
        part.append((number, one))
        size += length
    if part:
        yield part


def _refused(results: list[dict[str, Any]]) -> Iterator[tuple[int, str]]:
    for one in results:
        if one["status"] == "refused":
            yield one["line"], one["problem"]["detail"]
