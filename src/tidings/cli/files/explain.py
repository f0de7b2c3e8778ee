"""`tidings explain`: why an event matches a filter, or why not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tidings.cli.options import Dialect, ExistingFile, existing_file, load_catalog
from tidings.cli.server.server import InsteadServer, Token, connected, instead
from tidings.cli.terminal import fail, output, plain, plain_errors, warn
from tidings.errors import shown, suggestion
from tidings.events import Event, Refused, RefusedEvent, read_events, validate
from tidings.language import Filter, read_subscriptions
from tidings.language.dialects import CORE, core_text
from tidings.matching.explain import Alternative, Explanation, Finding
from tidings.matching.explain import explain as explain_match
from tidings.schema.catalog import Catalog

_NEVER = "the event is not valid, so it would never be matched"
_OTHER = Event("", ())  # in place of an event that was not asked for


def explain(
    filter: Annotated[
        str,
        typer.Argument(metavar="FILTER", help="The filter's text, or a file of subscriptions.", show_default=False),
    ],
    event: Annotated[
        str | None,
        typer.Argument(metavar="EVENT", help="The event as JSON, or a file of events.", show_default=False),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The schema, JSON or XML.", show_default=False, **ExistingFile)
    ] = None,
    server: InsteadServer = "",
    token: Token = "",
    subscription: Annotated[str, typer.Option(metavar="ID", help="Which one in the file.")] = "",
    event_id: Annotated[str, typer.Option("--event", metavar="ID", help="Which one in the file.")] = "",
    dialect: Dialect = CORE,
    translated: Annotated[
        bool, typer.Option("--translated", help="Print the filter as it is stored and indexed; EVENT may be left out.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Explain one event against one filter: each predicate, true or false, with the event's values.

    Example: tidings explain "price < 1300 and brand = 'mini'"
    '{"id": "e1", "event_type": "car", "attributes": {"price": 900, "brand": "mini"}}' --schema schema.json
    """
    if event is None and not translated:
        raise typer.BadParameter("Missing argument 'EVENT'.")
    if address := instead(server, schema):
        _at_server(address, token, filter, event, subscription, event_id, json, dialect, translated)
        return
    if schema is None:
        raise typer.BadParameter("Missing option '--schema' or '--server'.")
    with plain_errors():
        catalog = load_catalog(schema)
        chosen = _filter(filter, subscription, catalog, dialect)
        for warning in chosen.warnings:
            warn(warning)
        if translated:
            output.print(plain(chosen.text))
        if event is None:
            return
        explanation = explain_match(chosen, _event(event, event_id, catalog), catalog)
        if json:
            output.print_json(data=explanation.as_json())
        else:
            _show(explanation)


def _at_server(
    address: str,
    token: str,
    filter: str,
    event: str | None,
    subscription: str,
    event_id: str,
    as_json: bool,
    dialect: str,
    translated: bool,
) -> None:
    """Whatever is in files is read here; an event may also be the position of a stored one."""
    with connected(address, token) as client:
        catalog = client.schema()
        chosen = _filter(filter, subscription, catalog, dialect)
        if translated:
            output.print(plain(chosen.text))
        if event is None:
            return
        if event.isdecimal() and existing_file(event) is None:
            found = client.explain(chosen.text, position=int(event))
        else:
            found = client.explain(chosen.text, _event(event, event_id, catalog))
    for warning in found.get("warnings", chosen.warnings):
        warn(warning)
    if as_json:
        output.print_json(data=found)
    else:
        _show(_explanation(found))


def _explanation(found: dict[str, Any]) -> Explanation:
    """What a server answered, as what it made it of."""
    alternatives = [
        Alternative(
            one["matches"],
            tuple(
                Finding(
                    each["predicate"],
                    each["holds"],
                    tuple((name, tuple(v)) for name, v in each["values"].items()),
                    note=each["note"],
                )
                for each in one["predicates"]
            ),
            one["note"],
        )
        for one in found["alternatives"]
    ]
    return Explanation(found["filter"], found["event"], found["matches"], tuple(alternatives))


def _filter(text: str, id: str, catalog: Catalog, dialect: str) -> Filter:
    path = existing_file(text)
    if path is None:
        if text.endswith(".jsonl") and " " not in text:
            raise typer.BadParameter(f"no file {text!r}.", param_hint="'FILTER'")
        return Filter.parse(core_text(dialect, text), catalog)
    with path.open("rb") as file:
        subscriptions = {one.id: one.filter for one in read_subscriptions(file, catalog)}
    return subscriptions[_chosen(id, tuple(subscriptions), "subscription", path)]


def _event(text: str, id: str, catalog: Catalog) -> Event:
    path = existing_file(text)
    if path is not None:
        return _event_of_file(path, id, catalog)
    if not text.lstrip().startswith(("{", "[")):
        message = f"{shown(text)} is neither a file nor an event as JSON."
        raise typer.BadParameter(message, param_hint="'EVENT'")
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        fail(f"the event is not valid JSON: {problem}")
    try:
        return validate(raw, catalog)
    except RefusedEvent as refused:
        fail(f"{_NEVER}: {refused}")


def _event_of_file(path: Path, id: str, catalog: Catalog) -> Event:
    """The wanted one of all events; the refused ones are among them, so that the reason can be told."""
    found: dict[str, Event | Refused] = {}
    for reading in read_events(path, catalog):
        for row, name in enumerate(reading.batch.ids.to_pylist()):
            if name == id or (not id and len(found) < 2):
                found.setdefault(name, reading.batch.event(row))
            else:
                found.setdefault(name, _OTHER)
        for refused in reading.refused:
            found.setdefault(refused.id or f"line {refused.line}", refused)
    chosen = found[_chosen(id, tuple(found), "event", path)]
    if isinstance(chosen, Refused):
        fail(f"{path.name}, line {chosen.line}: {_NEVER}: {RefusedEvent(chosen.id, chosen.errors)}")
    return chosen


def _chosen(id: str, known: tuple[str, ...], what: str, path: Path) -> str:
    if id in known:
        return id
    if not id and len(known) == 1:
        return known[0]
    if not known:
        fail(f"{path.name} has no {what}")
    if id:
        fail(f"{path.name} has no {what} {shown(id)}{suggestion(id, known)}")
    fail(f"{path.name} has {len(known):,} {what}s: choose one with --{what} ID")


def _show(explanation: Explanation) -> None:
    verdict = "[bold green]matches[/]" if explanation.matches else "[bold red]does not match[/]"
    output.print(f"event {plain(repr(explanation.event))} {verdict} {plain(explanation.filter)}")
    for number, alternative in enumerate(explanation.alternatives, 1):
        if len(explanation.alternatives) > 1:
            output.print(f"  alternative {number}: {'yes' if alternative.matches else 'no'}")
        for finding in alternative.findings:
            sign = "[green]✓[/]" if finding.holds else "[red]✗[/]"
            output.print(f"    {sign} {plain(finding.predicate)}   [dim]{plain(finding.seen)}[/]")
        if alternative.note:
            output.print(f"    [red]✗[/] {plain(alternative.note)}")
