"""What `tidings feed` looks at: the first records of a mapping's source, or of a file or URL without a mapping."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from tidings.cli.options import existing_file
from tidings.cli.terminal import warn

if TYPE_CHECKING:
    from tidings.feeds import Mapping, Proposal
    from tidings.feeds.mapping.mapping import Origin
    from tidings.feeds.records.records import Record
    from tidings.feeds.sources.content import Content
    from tidings.schema import Catalog


def sampled(mapping: Mapping, fewest: int = 0) -> list[Record]:
    """The first records: as many as `propose` looks at, or `fewest` if those are more. Raises FeedError; what cannot be
    read after some records have been is only told."""
    from tidings.feeds.errors import UnreadableFeed
    from tidings.feeds.inference.infer import SAMPLED, SAMPLED_PATHS
    from tidings.feeds.records.records import read_records
    from tidings.feeds.sources.sources import open_source

    most = max(SAMPLED_PATHS if any(one.path for one in mapping.fields) else SAMPLED, fewest)
    source = open_source(mapping.origin, sample=True)
    problems: list[UnreadableFeed] = []
    try:
        found: list[Record] = []
        for content in source.look():
            try:
                for record in islice(read_records(content, mapping.layout, mapping.paths), most - len(found)):
                    found.append(record)
            except UnreadableFeed as problem:
                problems.append(problem)
            if len(found) >= most:
                break
        if problems and not found:
            raise problems[0]
        for told in problems:
            warn(str(told))
        return found
    finally:
        source.close()


def inferred_from(
    source: str,
    event_type: str,
    form: str | None,
    records: str,
    each: str,
    encoding: str,
    mandatory: list[str],
) -> Callable[[Catalog], Proposal]:
    """What is proposed for a schema that is there; both raise FeedError. The source is read only once."""
    from tidings.feeds import infer, propose, read_mapping
    from tidings.feeds.mapping.mapping import Layout
    from tidings.feeds.ready.recognition import recognized

    path = existing_file(source)
    if path is not None and path.suffix == ".toml":
        if event_type or form or records or each or encoding or mandatory:
            raise typer.BadParameter("a mapping already defines this.", param_hint="'SOURCE'")
        mapping = read_mapping(path)
        return partial(propose, mapping, sampled(mapping))
    content, origin, name = fetched(source, encoding)
    layout = Layout(form or recognized(content, source).format, records, encoding=encoding, each=each)
    if each and layout.format not in ("json", "xml", "html"):
        raise typer.BadParameter(f"records in {layout.format} cannot contain others.", param_hint="'--each'")
    return partial(infer, content, layout, origin, event_type or name, mandatory)


def fetched(source: str, encoding: str = "") -> tuple[Content, Origin, str]:
    """The bytes of a file or URL, where they are from, and what they may be called. Raises FeedError."""
    from tidings.feeds import SourceUnreachable
    from tidings.feeds.mapping.mapping import Origin
    from tidings.feeds.sources.content import codec_of
    from tidings.feeds.sources.packed import ENDINGS
    from tidings.feeds.sources.sources import open_source

    path = existing_file(source)
    is_url = source.startswith(("http://", "https://"))
    if path is None and not is_url:
        raise typer.BadParameter(f"{source!r} is neither a file nor a URL.", param_hint="'SOURCE'")
    if encoding and codec_of(encoding) is None:
        raise typer.BadParameter(f"unknown encoding {encoding!r}.", param_hint="'--encoding'")
    origin = Origin(file=path.absolute()) if path is not None else Origin(url=source)
    looked = open_source(origin, sample=True)
    try:
        contents = list(islice(looked.look(), 1))
    finally:
        looked.close()
    if not contents:  # a site that answers "not modified" to a first question
        raise SourceUnreachable(source, "nothing to read")
    file = Path(urlsplit(source).path if is_url else source)
    name = (Path(file.stem).stem if file.suffix[1:].lower() in ENDINGS else file.stem) or "event"
    return contents[0], origin, name
