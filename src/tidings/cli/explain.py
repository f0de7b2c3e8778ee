"""`tidings explain`: why an event matches a filter, or why not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.markup import escape

from tidings.cli.options import SchemaFile, load_catalog
from tidings.cli.terminal import fail, output, plain_errors, warn
from tidings.errors import suggestion
from tidings.events import Event, RefusedEvent, validate
from tidings.language import Filter, read_subscriptions
from tidings.matching.explain import Explanation
from tidings.matching.explain import explain as explain_match
from tidings.schema.catalog import Catalog


def explain(
    filter: Annotated[
        str, typer.Argument(metavar="FILTER", help="The filter's text, or a file of subscriptions.", show_default=False)
    ],
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="The event as JSON, or a file of JSON Lines.", show_default=False)
    ],
    schema: SchemaFile,
    subscription: Annotated[str, typer.Option(metavar="ID", help="Which one of the file.")] = "",
    event_id: Annotated[str, typer.Option("--event", metavar="ID", help="Which one of the file.")] = "",
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Explain one event against one filter: each predicate, true or false, with the event's values.

    Example: tidings explain "price < 1300 and brand = 'mini'"
    '{"id": "e1", "event_type": "car", "attributes": {"price": 900, "brand": "mini"}}' --schema schema.json
    """
    with plain_errors():
        catalog = load_catalog(schema)
        chosen = _filter(filter, subscription, catalog)
        for warning in chosen.warnings:
            warn(warning)
        explanation = explain_match(chosen, _event(event, event_id, catalog), catalog)
    if json:
        output.print_json(data=explanation.as_json())
    else:
        _show(explanation)


def _filter(text: str, id: str, catalog: Catalog) -> Filter:
    path = _file(text)
    if path is None:
        return Filter.parse(text, catalog)
    with path.open("rb") as file:
        subscriptions = {one.id: one.filter for one in read_subscriptions(file, catalog)}
    return subscriptions[_chosen(id, tuple(subscriptions), "subscription", path)]


def _event(text: str, id: str, catalog: Catalog) -> Event:
    path = _file(text)
    if path is None:
        raw = _decoded(text.encode(), "the event")
    else:
        lines = [_decoded(line, f"{path.name}") for line in path.read_bytes().splitlines() if line.strip()]
        events = {str(one.get("id")): one for one in lines if isinstance(one, dict)}
        raw = events[_chosen(id, tuple(events), "event", path)]
    try:
        return validate(raw, catalog)
    except RefusedEvent as refused:
        fail(f"the event is not valid, so it would never be matched:\n{refused}")


def _file(text: str) -> Path | None:
    if len(text) > 1000 or "\n" in text or text.lstrip().startswith("{"):
        return None
    path = Path(text)
    return path if path.is_file() else None


def _decoded(line: bytes, where: str) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        fail(f"{where} is no JSON ({problem}), and there is no file of that name")


def _chosen(id: str, known: tuple[str, ...], what: str, path: Path) -> str:
    if id in known:
        return id
    if not id and len(known) == 1:
        return known[0]
    if id:
        fail(f"{path.name} has no {what} {id!r}{suggestion(id, known)}")
    fail(f"{path.name} has {len(known):,} {what}s: say which by --{what} ID")


def _show(explanation: Explanation) -> None:
    verdict = "[bold green]matches[/]" if explanation.matches else "[bold red]does not match[/]"
    output.print(f"event {escape(repr(explanation.event))} {verdict} {escape(explanation.filter)}")
    for number, alternative in enumerate(explanation.alternatives, 1):
        if len(explanation.alternatives) > 1:
            output.print(f"  alternative {number}: {'yes' if alternative.matches else 'no'}")
        for finding in alternative.findings:
            sign = "[green]✓[/]" if finding.holds else "[red]✗[/]"
            output.print(f"    {sign} {escape(finding.predicate)}   [dim]{escape(finding.seen)}[/]")
        if alternative.note:
            output.print(f"    [red]✗[/] {escape(alternative.note)}")
