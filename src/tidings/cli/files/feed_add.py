"""`tidings feed add`: from a URL, a file or a folder to published events in one step, with one question."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.files.feed_results import report, until_stopped, write_proposal
from tidings.cli.files.feed_sources import fetched
from tidings.cli.options import writable
from tidings.cli.server.server import DEFAULT_SERVER, Server, Token, connected
from tidings.cli.terminal import INPUT_WAS_WRONG, counted, fail, messages, note, plain, warn
from tidings.schema import growth

if TYPE_CHECKING:
    from tidings.client import Client
    from tidings.feeds import Proposal
    from tidings.feeds.ready.recognition import Recognized
    from tidings.feeds.sources.content import Content

_SHOWN = 3  # records


def add(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, a folder or a URL.", show_default=False)],
    event_type: Annotated[
        str, typer.Option(metavar="NAME", help="The event type. Default: the ready mapping's, else the source's name.")
    ] = "",
    records: Annotated[str, typer.Option(metavar="PATH", help="Where the records are. Default: detected.")] = "",
    encoding: Annotated[
        str,
        typer.Option(metavar="NAME", help="Text encoding, e.g. cp1252. Default: what the source declares, else UTF-8."),
    ] = "",
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="The mapping to write. Default: named after the source."),
    ] = None,
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Keep publishing new records until Ctrl-C.")] = False,
) -> None:
    """Publish a file, a folder or a web page: recognize its format, show what would be done, ask once, do it.

    News feeds, calendars, earthquakes (GeoJSON) and web server logs have ready mappings; for other CSV, JSON, XML and
    HTML a mapping is inferred. It is written to a file, which `tidings feed run` can run again.

    Example: tidings feed add examples/feeds/notices.xml

    Example: tidings feed add http://127.0.0.1:8181/cars --event-type car --follow
    """
    with connected(server, token) as client:
        from tidings.feeds import read_mapping, state_path
        from tidings.feeds.feed import Feed
        from tidings.feeds.inference.schema_changes import changes, check_values
        from tidings.feeds.ready.ready import proposed
        from tidings.feeds.ready.recognition import recognized

        contents, origin, name = fetched(source, encoding)
        plain_name = re.sub(r"\W+", "_", name).strip("_").lower() or "event"
        path = mapping or Path(f"{plain_name}.toml")
        if path.exists():
            fail(f"{path} exists; choose another file with --mapping, or run it with `tidings feed run {path}`")
        content = next(iter(contents))
        found = recognized(content, source)
        if records:
            found = replace(found, records=records, ready="")
        there = client.schema()
        event_type = event_type or ("" if found.ready else plain_name)
        proposal = proposed(contents, found, origin, event_type, there, encoding, note)
        proposal = replace(proposal, mapping=replace(proposal.mapping, name=path.stem))  # the events' source
        wanted = changes(proposal.catalog, there)
        check_values(proposal.mapping, wanted)
        _show(content, found, proposal, wanted)
        _ask(yes, f"Write {path}, apply {counted(len(wanted), 'schema change')} at {server} and publish?")
        write_proposal(proposal, path)
        _apply(client, wanted, path)
        feed = Feed(read_mapping(path), client, warn, state=state_path(path), progress=note)
        try:
            if follow:
                until_stopped([feed])
            else:
                feed.once()
        finally:
            report(feed.mapping.name, feed.counters, False)
        if not follow:
            note(f"`tidings feed run {path}` publishes what is new from now on")
    if feed.counters.refused or feed.counters.failures:
        raise typer.Exit(INPUT_WAS_WRONG)


def _show(content: Content, found: Recognized, proposal: Proposal, wanted: list[growth.Change]) -> None:
    from tidings.feeds.preview import previewed
    from tidings.feeds.records.records import read_records

    how = f"ready mapping {found.ready!r}" if found.ready else "mapping inferred"
    _say(f"{proposal.mapping.origin}: {found.what}, {counted(proposal.records, 'record')}; {how}")
    _say(
        f"event type: {', '.join(proposal.mapping.event_types)}; id: {' and '.join(proposal.mapping.id) or 'a digest'}"
    )
    for name, seen in proposal.seen.items():
        _say(f"  {name}: {seen}")
    for line in summary(wanted):
        _say(f"schema: {line}")
    for remark in proposal.remarks:
        note(remark)
    records = islice(read_records(content, proposal.mapping.layout, proposal.mapping.paths), _SHOWN)
    for one in previewed(proposal.mapping, records, proposal.catalog):
        typer.echo(json.dumps(one))


def summary(wanted: list[growth.Change]) -> list[str]:
    """Changes of a schema in a few lines."""
    domains = [one.domain.name for one in wanted if isinstance(one, growth.CreateDomain)]
    attributes = [one.attribute.name for one in wanted if isinstance(one, growth.CreateAttribute)]
    types = [one.event_type.name for one in wanted if isinstance(one, growth.CreateEventType)]
    extended = [one.attribute.name for one in wanted if isinstance(one, growth.ExtendEventType)]
    values = [one.value for one in wanted if isinstance(one, growth.AppendValue)]
    nodes = [one.node for one in wanted if isinstance(one, growth.AppendNode)]
    told = [
        (f"new event type {', '.join(types)}", types),
        (f"new attributes {', '.join(attributes)}", attributes),
        (f"new domains {', '.join(domains)}", set(domains) - set(attributes)),
        (f"event type gets {', '.join(extended)}", extended),
        (f"{counted(len(values) + len(nodes), 'new value')}", values or nodes),
    ]
    return [line for line, there in told if there] or ["no change"]


def _ask(yes: bool, question: str) -> None:
    if yes:
        return
    try:
        if typer.confirm(question, err=True):
            return
    except typer.Abort:
        fail("nothing was changed: no answer; use --yes to skip the question")
    _say("nothing was changed")
    raise typer.Exit(0)


def _apply(client: Client, wanted: list[growth.Change], path: Path) -> None:
    from tidings.client import NotAllowed

    try:
        for change in wanted:
            client.grow(change)
    except NotAllowed as problem:
        then = f"`tidings feed infer {path} --apply`, then run `tidings feed run {path}`"
        fail(f"{problem}; the mapping is in {path}: have someone who may change the schema run {then}")


def _say(line: str) -> None:
    messages.print(plain(line), highlight=False)
