"""`tidings match`: files in, matches out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from tidings.cli.files.match_summary import MatchSummary, report
from tidings.cli.options import ExistingFile, Form, SchemaFile, load_catalog, writable
from tidings.cli.terminal import (
    INPUT_WAS_WRONG,
    counted,
    plain_errors,
    progress,
    warn,
    written_whole,
)
from tidings.composite.file_detections import FileDetections
from tidings.composite.trace import MOST_KEYS, MOST_WAITING
from tidings.errors import LanguageError, suggestion
from tidings.events import read_events
from tidings.events.files.document_files import read_document_files
from tidings.events.files.reading import Reading
from tidings.language.cesql.noted_errors import ExpressionError, noted_errors
from tidings.language.composites.bound import BoundComposite
from tidings.language.subscription_file import CompositeText, read_texts
from tidings.matching.algorithms import ALGORITHMS, DEFAULT, make_matcher
from tidings.matching.file_statistics import with_file_statistics
from tidings.matching.subscription_batch import SubscriptionBatch
from tidings.pipeline.batch.match_lines import MatchOutput, match_lines
from tidings.schema.catalog import Catalog
from tidings.schema.values import Instant

_WARNED = 20  # subscriptions
_LONGEST_SHOWN = 80


def _algorithm(name: str) -> str:
    if name not in ALGORITHMS:
        raise typer.BadParameter(f"no algorithm {name!r}{suggestion(name, tuple(ALGORITHMS))}.")
    return name


def _instant(text: str | None) -> Instant | None:
    try:
        return None if text is None else Instant.parse(text)
    except ValueError as problem:
        raise typer.BadParameter(f"{problem}.") from None


def match(
    subscriptions: Annotated[
        Path, typer.Argument(metavar="SUBS", help="JSON Lines of id and filter or composite.", **ExistingFile)
    ],
    events: Annotated[
        Path,
        typer.Argument(
            metavar="EVENTS",
            help="JSON Lines, CSV, Parquet or XML, by file extension; or a folder of XML documents.",
            exists=True,
            readable=True,
        ),
    ],
    schema: SchemaFile,
    algorithm: Annotated[str, typer.Option(callback=_algorithm, help=f"One of: {', '.join(ALGORITHMS)}.")] = DEFAULT,
    engine: Annotated[Literal["local", "spark"], typer.Option(help="Match in this process, or on Spark.")] = "local",
    master: Annotated[str, typer.Option(metavar="URL", help="Spark's master.")] = "local[2]",
    shared: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", exists=True, file_okay=False, help="A folder that Spark workers on other machines can read."
        ),
    ] = None,
    form: Annotated[Form | None, typer.Option(help="The events' format, if the file name does not show it.")] = None,
    event_type: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="EVENTS are XML documents, one event of this type each."),
    ] = None,
    until: Annotated[
        Instant | None,
        typer.Option(
            metavar="TIME",
            parser=_instant,
            help="How far time runs for composites, e.g. 2026-05-01T10:00:00Z; by default to the last event.",
        ),
    ] = None,
    rejects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="Where refused events go, as JSON Lines."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when an event is refused.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="Write the matches to a file, whole or not at all."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The summary as JSON on standard error.")] = False,
) -> None:
    """Match a file of events with a file of subscriptions.

    Matches go to standard output as JSON Lines, in event order, then by subscription id; then what composites
    detected, by time. The summary goes to standard error. Wrong subscriptions are all listed and nothing is
    matched (exit code 1). Refused events never stop the others.

    With --event-type, or given a folder, each XML file is one event: the document is its attribute, and its path is
    its id.

    Example: tidings match subscriptions.jsonl events.jsonl --schema schema.json --rejects refused.jsonl

    Example: tidings match subscriptions.jsonl articles/ --schema schema.json --event-type news
    """
    _refuse_overwriting({"--output": output, "--rejects": rejects}, (subscriptions, events, schema))
    if engine == "spark" and algorithm != DEFAULT:
        raise typer.BadParameter(f"Spark supports only the algorithm {DEFAULT!r}.", param_hint="'--algorithm'")
    with plain_errors():
        catalog = load_catalog(schema)
        started = time.monotonic()
        standing, composites = _subscriptions(subscriptions, catalog, composites=engine == "local")
        documents = event_type is not None or events.is_dir()
        read = (
            partial(read_document_files, events, event_type=event_type)
            if documents
            else partial(read_events, events, form=form)
        )
        filters = chain(standing.filters.others.values(), *(one.filters for one in composites.values()))
        if (counted_over := with_file_statistics(filters, partial(read, catalog=catalog), catalog)) is not catalog:
            catalog = counted_over
            standing, composites = _subscriptions(subscriptions, catalog, composites=engine == "local", quiet=True)
        found = FileDetections(composites, catalog) if composites else None
        if engine == "spark":
            if documents:
                raise typer.BadParameter("Spark matches files of events, not documents.", param_hint="'--engine'")
            from tidings.pipeline.batch.file_match import match_on_spark

            answers = match_on_spark(standing, events, catalog, form, master, shared)
        else:
            answers = _match_here(algorithm, standing, read(catalog=catalog), catalog, found)
        summary = MatchSummary(subscriptions=len(standing) + len(composites))
        with ExitStack() as stack:
            errors = stack.enter_context(noted_errors())
            matches = stack.enter_context(written_whole(output))
            refused_file = stack.enter_context(written_whole(rejects)) if rejects else None
            for answer in summary.count(answers):
                matches.write(answer.lines)
                report(answer.refused, refused_file, summary)
            if found is not None:
                summary.detections = _detect(found, until, matches)
        _tell_errors(errors)
        summary.seconds = time.monotonic() - started
        summary.show(json)
    if strict and summary.refused:
        raise typer.Exit(INPUT_WAS_WRONG)


def _match_here(
    algorithm: str,
    subscriptions: SubscriptionBatch,
    readings: Iterable[Reading],
    catalog: Catalog,
    composites: FileDetections | None,
) -> Iterator[MatchOutput]:
    matcher = make_matcher(algorithm, catalog)
    matcher.add_batch(subscriptions.ids, subscriptions.filters)
    for reading in readings:
        found = matcher.match(reading.batch)
        lines = match_lines(reading.batch.ids, found, matcher)
        if composites is not None:
            composites.take(reading.batch)
        yield MatchOutput(lines.text, len(found), len(reading.batch), reading.refused, reading.duplicates)


def _tell_errors(errors: list[ExpressionError]) -> None:
    """What is written in another language passes no event on which it ends in an error: its author should know."""
    by_expression: dict[str, list[str]] = {}
    for one in errors:
        by_expression.setdefault(one.expression, []).append(one.detail)
    for text, found in list(by_expression.items())[:_WARNED]:
        often = counted(len(found), "event")
        short = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
        warn(f"{short}: ended in an error on {often}, e.g. {found[0]}")


def _detect(composites: FileDetections, until: Instant | None, output: BinaryIO) -> int:
    """Writes what the composites detected; gives how many detections there were."""
    found = composites.detections(until)
    for id, detection, _ in found:
        events = [event.id for event in detection.events]
        line = {"subscription": id, "events": events, "time": str(Instant(detection.time))}
        if expired := composites.awaited(id, detection):
            line["expired"] = expired
        output.write(dumps(line, ensure_ascii=False).encode() + b"\n")
    if composites.untimed:
        warn(f"{counted(composites.untimed, 'event')} without a time took no part in composites")
    or_keys = f", or an event has more than {MOST_KEYS:,} combinations of values of 'by'"
    for id, dropped in sorted(composites.dropped.items()):
        warn(f"composite {id!r}: {dropped:,} instances were dropped, since more than {MOST_WAITING:,} waited{or_keys}")
    return len(found)


def _refuse_overwriting(written: dict[str, Path | None], read: tuple[Path, ...]) -> None:
    """No file that is read may be written, and no two answers may go to one file."""
    taken = {path.resolve() for path in read}
    for option, path in written.items():
        if path is None or path.is_char_device():
            continue
        if path.resolve() in taken:
            raise typer.BadParameter(f"{path} is used already; choose another file.", param_hint=f"'{option}'")
        taken.add(path.resolve())


def _subscriptions(
    path: Path, catalog: Catalog, composites: bool, quiet: bool = False
) -> tuple[SubscriptionBatch, dict[str, BoundComposite]]:
    with path.open("rb") as file, progress() as bar:
        lines = bar.track(file, description="reading subscriptions", total=None)
        texts = read_texts(lines, composites=composites)
        bound, problems = _bound(texts.composites, catalog)
        read = SubscriptionBatch.of(texts, catalog, problems)
    warnings = [(read.ids[place], told) for place, told in read.filters.warnings(_WARNED + 1).items()]
    warnings += [(id, one.warnings) for id, one in bound.items() if one.warnings]
    for id, told in () if quiet else warnings[:_WARNED]:
        for warning in told:
            warn(f"subscription {id!r}: {warning}")
    if len(warnings) > _WARNED and not quiet:
        warn("more subscriptions have warnings")
    return read, bound


def _bound(texts: list[CompositeText], catalog: Catalog) -> tuple[dict[str, BoundComposite], dict[int, LanguageError]]:
    bound: dict[str, BoundComposite] = {}
    problems: dict[int, LanguageError] = {}
    for place, (_, id, text) in enumerate(texts):
        try:
            bound[id] = BoundComposite.parse(text, catalog)
        except LanguageError as problem:
            problems[place] = problem
    return bound, problems
