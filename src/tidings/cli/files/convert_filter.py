"""`tidings convert-filter`: filters of other systems as text of the filter language."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tidings.cli.options import load_catalog
from tidings.cli.terminal import fail, output, plain, plain_errors, warn
from tidings.language import Filter
from tidings.language.conversion.converted import Converted
from tidings.language.conversion.eventbridge import from_eventbridge
from tidings.language.conversion.headers import from_headers


class Source(StrEnum):
    EVENTBRIDGE = "eventbridge"
    HEADERS = "headers"


_CONVERSIONS = {Source.EVENTBRIDGE: from_eventbridge, Source.HEADERS: from_headers}


def convert_filter(
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="JSON, a file of it, or - for standard input.", show_default=False)
    ],
    source: Annotated[Source, typer.Option("--from", help="Whose filter it is.")] = Source.EVENTBRIDGE,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check the text with this schema.", show_default=False)
    ] = None,
) -> None:
    """Convert an event pattern of AWS EventBridge, or a binding of a headers exchange, to a filter.

    The filter goes to standard output. If the filter language cannot express something, that is listed and no filter
    is printed.

    Example: tidings convert-filter '{"detail-type": ["car"], "detail": {"price": [{"numeric": ["<", 900]}]}}'
    """
    with plain_errors():
        made: Converted = _CONVERSIONS[source](_read(pattern))
        for note in made.notes:
            warn(note)
        if schema is not None:
            for warning in Filter.parse(made.text, load_catalog(schema)).warnings:
                warn(warning)
        output.print(plain(made.text))


def _read(given: str) -> Any:
    if given == "-":
        text = sys.stdin.read()
    else:
        text = given if given.lstrip().startswith(("{", "[")) else Path(given).read_text()
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as problem:
        fail(f"the pattern is not JSON: {problem}")
