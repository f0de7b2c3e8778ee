"""The ready mappings: TOML files like any mapping, without a source, and with `choices` where sources of the format
differ in what they have."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from tidings.feeds.errors import NothingToInfer, SchemaClash
from tidings.feeds.event_maker import first_text, kind_of
from tidings.feeds.inference.ids import tell_apart
from tidings.feeds.inference.infer import Proposal, infer, propose
from tidings.feeds.inference.source_records import SourceRecords
from tidings.feeds.mapping.mapping import Field, Layout, Mapping, Origin
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.ready.recognition import Recognized
from tidings.feeds.sources.content import Content
from tidings.schema import Catalog

READY = ("rss", "atom", "earthquakes", "icalendar", "common_log", "combined_log")


@dataclass(frozen=True, slots=True)
class ReadyMapping:
    """Of `ids` the first is taken that tells all records apart, of `times` the first that any record has."""

    mapping: Mapping
    ids: tuple[tuple[str, ...], ...] = ()
    times: tuple[str, ...] = ()


def ready_mapping(name: str, origin: Origin, event_type: str = "") -> ReadyMapping:
    document = tomllib.loads(files("tidings.feeds.ready").joinpath(f"{name}.toml").read_text("utf-8"))
    choices: dict[str, list[Any]] = document.pop("choices", {})
    document["event_type"] = event_type or document["event_type"]
    mapping = mapping_of({**document, "file": "-"}, f"{name}.toml", Path())
    ids = tuple((one,) if isinstance(one, str) else tuple(one) for one in choices.get("id", ()))
    return ReadyMapping(replace(mapping, origin=origin, source="", file=""), ids, tuple(choices.get("time", ())))


def proposed(
    contents: Content | Iterable[Content],
    found: Recognized,
    origin: Origin,
    name: str,
    there: Catalog | None = None,
    encoding: str = "",
    tell: Callable[[str], None] = lambda line: None,
) -> Proposal:
    """By the ready mapping, else by inference; `name` is the event type, and may be empty for a ready mapping. An
    attribute whose name means something else in the schema gets another one. `tell` hears how far a long source is.
    Raises FeedError."""
    contents = (contents,) if isinstance(contents, Content) else contents
    if not found.ready:
        layout = Layout(found.format, found.records, encoding=encoding)
        try:
            return infer(contents, layout, origin, name, there=there, tell=tell)
        except SchemaClash:
            mapping = infer(contents, layout, origin, name, tell=tell).mapping
            return _fitted(mapping, SourceRecords(contents, mapping.layout, mapping.paths, tell=tell), there)
    ready = ready_mapping(found.ready, origin, name)
    ready = replace(ready, mapping=replace(ready.mapping, layout=replace(ready.mapping.layout, encoding=encoding)))
    paths = dict.fromkeys((*ready.mapping.paths, *(path for one in ready.ids for path in one), *ready.times))
    records = SourceRecords(contents, ready.mapping.layout, paths, tell=tell)
    if next(iter(records), None) is None:
        for problem in records.problems:
            raise problem
        raise NothingToInfer(str(origin), "try again when it has some")
    mapping, unused = _trimmed(_chosen(ready, records), records)
    proposal = _fitted(mapping, records.of(mapping.paths), there)
    remarks = (f"not in any record, so left out: {unused}",) if unused else ()
    return replace(proposal, remarks=remarks + proposal.remarks)


def _chosen(ready: ReadyMapping, records: SourceRecords) -> Mapping:
    mapping = ready.mapping
    if ready.ids:
        mapping = replace(mapping, id=next((ids for ids in ready.ids if tell_apart(ids, records)), ()))
    if ready.times and mapping.time is not None:
        path = next((path for path in ready.times if any(first_text(one, path) for one in records)), "")
        mapping = replace(mapping, time=replace(mapping.time, path=path) if path else None)
    return mapping


def _trimmed(mapping: Mapping, records: SourceRecords) -> tuple[Mapping, str]:
    """Without attributes that no record has, and their names."""
    empty = {one.reading.path for one in mapping.fields}
    for record in records:
        empty -= {path for path in empty if first_text(record, path)}
        if not empty:
            break
    used = tuple(one for one in mapping.fields if one.reading.path not in empty)
    unused = [one.attribute for one in mapping.fields if one not in used]
    return (replace(mapping, fields=used), ", ".join(unused)) if used else (mapping, "")


def _fitted(mapping: Mapping, records: SourceRecords, there: Catalog | None) -> Proposal:
    """With other names where the schema means something else by a name."""
    if there is None:
        return propose(mapping, records)
    fitting = fitted(mapping, there)
    remarks = tuple(
        f"{old.attribute!r} means something else in the schema; here it is {new.attribute!r}"
        for old, new in zip(mapping.fields, fitting.fields, strict=True)
        if old.attribute != new.attribute
    )
    proposal = propose(fitting, records, there)
    return replace(proposal, remarks=remarks + proposal.remarks)


def fitted(mapping: Mapping, there: Catalog) -> Mapping:
    """With other names where the schema means something else by a name."""
    return replace(mapping, fields=tuple(_renamed(one, mapping.event_types[0], there) for one in mapping.fields))


def _renamed(one: Field, event_type: str, there: Catalog) -> Field:
    known = there.domain_of(one.attribute)
    longer = f"{event_type}_{one.attribute}"
    if known is None:
        domain = there.domain(one.domain or one.attribute)
        return one if domain is None or domain.kind is one.kind else replace(one, domain=longer)
    try:
        kind_of(one, there)
    except SchemaClash:
        return replace(one, attribute=longer, domain="")
    closed = known.listed and not known.open and one.kind is not known.kind
    return replace(one, attribute=longer, domain="") if closed else one
