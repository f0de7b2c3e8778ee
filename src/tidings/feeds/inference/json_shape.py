"""Where the records of JSON are, the longest list of objects, and which paths lead to what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.inference.shape import MOST_OFFERED, Shape, cut, offer, outer
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.json_path import JsonPath, written
from tidings.feeds.records.json_values import json_document, json_records
from tidings.feeds.records.records import MOST_VALUES
from tidings.feeds.sources.content import Content

_DEEPEST = 6
_NESTED = frozenset((dict, list))
_MOST_KNOWN = 10_000  # paths, and forms of records; where there are more, they are data

Steps: TypeAlias = tuple[str, ...]


def json_shape(contents: Iterable[Content], layout: Layout) -> Shape:
    """Of all records of all contents. Raises UnreadableFeed where nothing can be read."""
    first = next(iter(contents))
    if not layout.records and first.large is None:
        whole = json_document(first, layout)
        lists = dict(_lists((), whole)) if isinstance(whole, dict) else {}
        if lists:
            layout = replace(layout, records="/" + max(lists, key=lambda path: lists[path]))
    if not layout.each:
        names, remarks = _names(_every(contents, layout))
        different = _different(_every(contents, layout))
        nested = dict.fromkeys(path for record in different for path in _nested_lists(record))
        return cut(layout, names, *remarks, *map(offer, islice(nested, MOST_OFFERED)))
    each = JsonPath.parse(layout.each)
    names, remarks = _names(_inside(_every(contents, layout), each))
    around, _ = _names(_every(contents, layout), each.steps)
    return cut(layout, {**names, **outer(around, names, "outer")}, *remarks)


def _every(contents: Iterable[Content], layout: Layout) -> Iterator[Any]:
    """As far as they can be read. Raises UnreadableFeed where the first cannot."""
    some = False
    for content in contents:
        try:
            for record in json_records(content, layout):
                some = True
                yield record
        except UnreadableFeed:
            if not some:
                raise


def _names(records: Iterable[Any], without: Steps = ()) -> tuple[dict[str, str], list[str]]:
    """A name for each path to a value, and remarks; not of what lies at or below the path `without`."""
    leaves: dict[Steps, bool] = {}  # whether anything ever stands there
    for record in _different(records):
        for steps, holds in _leaves((), record):
            if (steps in leaves or len(leaves) < _MOST_KNOWN) and (not without or steps[: len(without)] != without):
                leaves[steps] = leaves.get(steps, False) or holds
    above = {steps[:length] for steps in leaves for length in range(len(steps))}
    names: dict[str, str] = {}
    remarks = []
    for steps, holds in leaves.items():
        if steps in above and not holds:
            continue  # null or empty here, an object or a list of them in other records
        if path := written(*steps):
            names[path] = "_".join(step for step in steps if step != "*")
            if steps in above:
                remarks.append(f"{path!r} is a value in some records and nested in others, where it is left out")
    return names, remarks


def _inside(records: Iterable[Any], each: JsonPath) -> Iterator[Any]:
    """The nested records."""
    for record in records:
        for at in each.values(record):
            yield from (one for one in (at if isinstance(at, list) else [at]) if one is not None)


def _different(records: Iterable[Any]) -> Iterator[Any]:
    """Without objects of single values that have the names and types of one before: of those nothing new is learnt."""
    known: set[Any] = set()
    for record in records:
        if type(record) is dict:
            form = (*record, *map(type, record.values()))
            if form in known:
                continue
            if len(known) < _MOST_KNOWN and _NESTED.isdisjoint(form):
                known.add(form)
        yield record


def _nested_lists(record: Any, steps: Steps = ()) -> Iterator[str]:
    """Where lists of objects stand that say more than one thing each."""
    if not isinstance(record, dict) or len(steps) >= _DEEPEST:
        return
    for name, below in record.items():
        if isinstance(below, list) and any(isinstance(one, dict) and _says_much(one) for one in below):
            yield written(*steps, name)
        else:
            yield from _nested_lists(below, (*steps, name))


def _says_much(record: dict[str, Any]) -> bool:
    return len(list(islice(_leaves((), record), 2))) > 1


def _lists(steps: Steps, at: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Lists of objects, with their lengths; only a root that is one record itself has none."""
    for name, below in at.items():
        way = (*steps, name)
        if isinstance(below, list) and below and all(isinstance(one, dict) for one in below):
            yield written(*way), len(below)
        elif isinstance(below, dict) and len(way) < _DEEPEST:
            yield from _lists(way, below)


def _leaves(steps: Steps, at: Any) -> Iterator[tuple[Steps, bool]]:
    """Where single values, or lists of them, stand, and whether any do."""
    if len(steps) > _DEEPEST:
        return
    if isinstance(at, dict):
        for name, below in at.items():
            yield from _leaves((*steps, name), below)
    elif isinstance(at, list) and steps[-1:] == ("coordinates",) and 2 <= len(at) <= 3 and _are_numbers(at):
        yield from (((*steps, str(place)), True) for place in range(len(at)))  # GeoJSON's: each says something else
    elif isinstance(at, list) and any(isinstance(one, dict | list) for one in at):
        for one in at[:MOST_VALUES]:
            yield from _leaves((*steps, "*"), one)
    else:
        yield steps, at is not None and at != []


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(one, int | float) for one in values)
