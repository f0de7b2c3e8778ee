"""`tidings feed`: outside sources turned into events by a mapping file, and two sources that ship with Tidings."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tidings.cli.files.feed_add import add
from tidings.cli.files.feed_examples import auctions, flights
from tidings.cli.files.feed_interview import interviewed
from tidings.cli.files.feed_refused import refused
from tidings.cli.files.feed_results import report, until_stopped, write_proposal
from tidings.cli.files.feed_sources import first_records, inferred_from, records_of
from tidings.cli.options import ExistingFile, load_catalog, writable
from tidings.cli.server.server import DEFAULT_SERVER, AsJson, InsteadServer, Server, Token, connected, instead
from tidings.cli.terminal import (
    INPUT_WAS_WRONG,
    counted,
    messages,
    note,
    plain,
    plain_errors,
    service_log,
    warn,
)
from tidings.garbage_collector import collecting_less
from tidings.schema import Catalog, json_form

if TYPE_CHECKING:  # httpx and lxml take long to load, and `--help` needs neither
    pass

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Turn files and web pages into events: CSV, JSON, XML, HTML, news feeds, calendars, logs.",
)

MappingFile = Annotated[
    Path, typer.Argument(metavar="MAPPING", help="A TOML file.", show_default=False, **ExistingFile)
]


@app.command()
def run(
    mappings: Annotated[
        list[Path], typer.Argument(metavar="MAPPING…", help="TOML files.", show_default=False, **ExistingFile)
    ],
    server: Server = DEFAULT_SERVER,
    token: Token = "",
    once: Annotated[bool, typer.Option("--once", help="Run once; exit with 1 if anything is refused.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            show_default=False,
            help="Folder for progress files. Default: beside each mapping.",
        ),
    ] = None,
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="Write all refused records to this file, as JSON Lines."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish records from the mappings' sources as they appear, until Ctrl-C.

    Nothing is published twice: progress is saved for the next run. Refused records are reported and stop nothing;
    failing sources and servers are retried with growing pauses.

    Example: tidings feed run examples/feeds/auctions.toml

    Example: tidings feed run cars.toml prices.toml --once --rejects refused.jsonl
    """
    log = nullcontext() if once else service_log("feed", people_watch=True)
    with log, connected(server, token) as client:
        from tidings.feeds import Feed, read_mapping, state_path
        from tidings.feeds.memory.rejects import Rejects

        read = [(read_mapping(path), state_path(path, state)) for path in mappings]
        kept = None if rejects is None else Rejects(rejects)
        feeds = [Feed(mapping, client, warn, state=where, rejects=kept, progress=note) for mapping, where in read]
        try:
            with collecting_less():
                if once:
                    for feed in feeds:
                        feed.once()
                else:
                    until_stopped(feeds)
        finally:
            if kept is not None:
                kept.close()
            for feed in feeds:
                report(feed.mapping.name, feed.counters, as_json)
    if once and any(feed.counters.refused or feed.counters.failures for feed in feeds):
        raise typer.Exit(INPUT_WAS_WRONG)


@app.command()
def preview(
    mapping: MappingFile,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check against this schema.", **ExistingFile)
    ] = None,
    server: InsteadServer = "",
    token: Token = "",
    limit: Annotated[int, typer.Option(min=1, help="How many records.")] = 5,
) -> None:
    """Show the first records as the events they would become, and why any would be refused. Publishes nothing.

    Without a schema or a server they are checked against the schema that `tidings feed infer` would propose.

    Example: tidings feed preview examples/feeds/cars.toml --limit 3
    """
    address = instead(server, schema)
    with connected(address, token) if address else plain_errors() as client:
        from tidings.feeds import SchemaLacks, propose, read_mapping
        from tidings.feeds.event_maker import check_schema
        from tidings.feeds.inference.infer import SAMPLED
        from tidings.feeds.inference.schema_changes import changes
        from tidings.feeds.memory.told_once import EmptyPaths
        from tidings.feeds.preview import previewed
        from tidings.feeds.records.patterns import limited_patterns
        from tidings.schema.growth import grow

        read = read_mapping(mapping)
        records = first_records(read, max(SAMPLED, limit))
        if client is not None:
            catalog = client.schema()
        else:
            catalog = load_catalog(schema) if schema is not None else propose(read, records).catalog
        if client is not None or schema is not None:
            try:
                check_schema(read, catalog)
            except SchemaLacks as lacking:  # one line for all records; they are shown as they will be
                warn(str(lacking))
                for change in changes(propose(read, records, catalog).catalog, catalog):
                    catalog = grow(catalog, change)
        shown, refused, left_out = records[:limit], 0, 0
        with limited_patterns():
            for one in previewed(read, shown, catalog):
                refused += "errors" in one
                left_out += len(one.get("left_out", ()))
                typer.echo(json.dumps(one))
        empty = EmptyPaths(read, fewest=1)
        empty.see(records)
        for line in empty.told(str(read.origin)):
            warn(line)
    said = f"{counted(len(shown), 'record')}, {refused:,} would be refused"
    said += f", {counted(left_out, 'bad value')} would be left out" if left_out else ""
    messages.print(f"{said}{'' if len(shown) == limit else '; these are all'}", markup=False)


@app.command()
def infer(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A file, a folder, a URL, or a mapping (.toml).", show_default=False)
    ],
    event_type: Annotated[
        str, typer.Option(metavar="NAME", help="The event type. Default: the source's name. Not with a mapping.")
    ] = "",
    form: Annotated[
        Literal["csv", "json", "xml", "html", "icalendar", "log"] | None,
        typer.Option("--format", help="The format, if the content does not show it."),
    ] = None,
    records: Annotated[str, typer.Option(metavar="PATH", help="Where the records are. Default: detected.")] = "",
    each: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Path of nested records that become the events, e.g. the bids of each auction."
        ),
    ] = "",
    encoding: Annotated[
        str,
        typer.Option(metavar="NAME", help="Text encoding, e.g. cp1252. Default: what the source declares, else UTF-8."),
    ] = "",
    mandatory: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An attribute that every event must have.")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Look only at the first records; 0: at all.")] = 0,
    mapping: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=writable, help="Write the mapping to this file.")
    ] = None,
    server: InsteadServer = "",
    token: Token = "",
    apply: Annotated[bool, typer.Option("--apply", help="Apply the changes at the server.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask about each field; answers may be piped in.")
    ] = False,
) -> None:
    """Print the schema changes that a source's records need, as JSON Lines for review.

    Nothing is changed without --apply. With a server, only what its schema lacks is printed.
    Edit the lines if needed, and apply them with `tidings schema grow`.

    Example: tidings feed infer examples/feeds/cars.csv --event-type car --mapping cars.toml

    Example: tidings feed infer examples/feeds/cars.csv --interactive --mapping cars.toml

    Example: tidings feed infer cars.toml --server http://127.0.0.1:8080 --apply
    """
    address = instead(server) or (DEFAULT_SERVER if apply else "")
    with connected(address, token) if address else plain_errors() as client:
        from tidings.feeds import SchemaClash
        from tidings.feeds.inference.schema_changes import changes, check_values

        there = client.schema() if client is not None else Catalog()
        inferred = inferred_from(source, event_type, form, records, each, encoding, mandatory or [], limit)
        try:
            if interactive:
                guess = inferred(Catalog())
                proposal = interviewed(guess, records_of(guess.mapping, limit), there)
            else:
                proposal = inferred(there)
            wanted = changes(proposal.catalog, there)
        except SchemaClash:
            if mapping is not None:  # in which the name that clashes can be changed
                write_proposal(inferred(Catalog()), mapping)
            raise
        for remark in proposal.remarks:
            note(remark)
        for name, seen in () if interactive else proposal.seen.items():
            messages.print(plain(f"{name}: {seen}"), highlight=False)
        for change in wanted:
            typer.echo(json.dumps(json_form.write_change(change)))
        if mapping is not None:
            write_proposal(proposal, mapping)
        if apply and client is not None:
            check_values(proposal.mapping, wanted)
            version = there.version
            for change in wanted:
                version = client.grow(change)
            messages.print(f"schema version {there.version} became {version}", markup=False)
        else:
            seen = f"{counted(len(wanted), 'change')} from {counted(proposal.records, 'record')}"
            messages.print(f"{seen}; nothing was changed; use --apply to make them", markup=False)


app.command()(add)
app.command()(refused)
app.command()(auctions)
app.command()(flights)
