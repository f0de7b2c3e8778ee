"""What `tidings feed` looks at: the records of a mapping's source, or of a file, folder or URL without a mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from tidings.cli.options import existing_file
from tidings.cli.terminal import note, warn

if TYPE_CHECKING:
    from tidings.feeds import Mapping, Proposal
    from tidings.feeds.inference.source_records import SourceContents, SourceRecords
    from tidings.feeds.mapping.mapping import Origin
    from tidings.feeds.records.records import Record
    from tidings.schema import Catalog


def records_of(mapping: Mapping, most: int = 0) -> SourceRecords:
    """All records, or `most` of them, as often as they are gone through; says how far it is."""
    from tidings.feeds.inference.source_records import SourceContents, SourceRecords

    return SourceRecords(SourceContents(mapping.origin), mapping.layout, mapping.paths, most=most, tell=note)


def first_records(mapping: Mapping, count: int) -> list[Record]:
    """Raises FeedError; what cannot be read after some records have been is only told."""
    records = records_of(mapping, count)
    found = list(records)
    if records.problems and not found:
        raise records.problems[0]
    for problem in records.problems:
        warn(str(problem))
    return found


def inferred_from(
    source: str,
    event_type: str,
    form: str | None,
    records: str,
    each: str,
    encoding: str,
    mandatory: list[str],
    most: int = 0,
) -> Callable[[Catalog], Proposal]:
    """What is proposed for a schema that is there; both raise FeedError. `most`: of so many records; 0: of all."""
    from tidings.feeds import infer, read_mapping
    from tidings.feeds.mapping.mapping import Layout
    from tidings.feeds.ready.recognition import recognized

    path = existing_file(source)
    if path is not None and path.suffix == ".toml":
        if event_type or form or records or each or encoding or mandatory:
            raise typer.BadParameter("a mapping already defines this.", param_hint="'SOURCE'")
        mapping = read_mapping(path)
        return partial(_proposed, mapping, most)
    contents, origin, name = fetched(source, encoding)
    found = form or recognized(next(iter(contents)), source).format
    layout = Layout(found, records, encoding=encoding, each=each)
    if each and layout.format not in ("json", "xml", "html"):
        raise typer.BadParameter(f"records in {layout.format} cannot contain others.", param_hint="'--each'")
    return partial(infer, contents, layout, origin, event_type or name, mandatory, most=most, tell=note)


def _proposed(mapping: Mapping, most: int, there: Catalog) -> Proposal:
    from tidings.feeds import propose

    records = records_of(mapping, most)
    proposal = propose(mapping, records, there)
    if records.problems and not proposal.records:
        raise records.problems[0]
    return proposal


def fetched(source: str, encoding: str = "") -> tuple[SourceContents, Origin, str]:
    """What a file, a folder or a URL holds, where that is, and what it may be called. Raises FeedError."""
    from tidings.feeds import SourceUnreachable
    from tidings.feeds.inference.source_records import SourceContents
    from tidings.feeds.sources.content import codec_of
    from tidings.feeds.sources.packed import ENDINGS

    origin, file = _origin(source)
    if encoding and codec_of(encoding) is None:
        raise typer.BadParameter(f"unknown encoding {encoding!r}.", param_hint="'--encoding'")
    contents = SourceContents(origin)
    if next(iter(contents), None) is None:  # or a site that answers "not modified" to a first question
        raise SourceUnreachable(source, "nothing to read")
    name = (Path(file.stem).stem if file.suffix[1:].lower() in ENDINGS else file.stem) or "event"
    return contents, origin, name


def _origin(source: str) -> tuple[Origin, Path]:
    """And what names it: the file, the folder, or the path of the URL."""
    from tidings.feeds.mapping.mapping import Origin

    if source.startswith(("http://", "https://")):
        return Origin(url=source), Path(urlsplit(source).path)
    if (path := existing_file(source)) is not None:
        return Origin(file=path.absolute()), path
    try:
        if (folder := Path(source)).is_dir():
            return Origin(folder=folder.absolute(), pattern=_pattern(folder)), folder.resolve()
    except (OSError, ValueError):  # too long for a name, or no name at all
        pass
    raise typer.BadParameter(f"{source!r} is neither a file, a folder nor a URL.", param_hint="'SOURCE'")


def _pattern(folder: Path) -> str:
    """Of the files with the ending that most have; of subfolders too where the folder itself has none."""
    from tidings.feeds.sources.packed import ENDINGS

    for pattern in ("*", "**/*"):
        files = [path for path in folder.glob(pattern) if path.is_file() and not path.name.startswith(".")]
        endings = Counter(
            "".join(path.suffixes[-2:]) if path.suffix[1:].lower() in ENDINGS else path.suffix for path in files
        )
        if files:
            (ending, count), *_ = endings.most_common(1)
            if ending and count < len(files):
                note(f"{folder}: {count:,} of {len(files):,} files match {pattern + ending!r}; the others are left out")
            return pattern + escape(ending)
    return "*"
