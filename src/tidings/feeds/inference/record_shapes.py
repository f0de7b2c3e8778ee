"""Finds out, without a mapping, where the records of a source are and which paths lead to what is in them.

Of XML and HTML the records are the siblings that look alike and hold most; of JSON the longest list of objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from lxml import etree

from tidings.feeds.errors import WrongPath
from tidings.feeds.mapping.mapping import OUTER, Layout
from tidings.feeds.records.csv_rows import csv_rows
from tidings.feeds.records.element_path import ElementPath, local_name, place_of, text_of
from tidings.feeds.records.json_path import JsonPath, written
from tidings.feeds.records.records import document, flat_records, json_document, json_records, record_elements
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.lines import opened

_SAMPLED = 1_000  # records
_MOST_PATHS = 100  # of JSON, XML and HTML, where paths may be data, as in {"ann": {…}, "bob": {…}}
_DEEPEST = 6
_MOST_OFFERED = 3  # paths to records inside the records
_EXAMPLES = 3  # of siblings that look alike; the first may be a table's headings
_HEADER = 100_000  # characters in which the header of CSV ends
_DELIMITERS = (",", ";", "\t", "|")
_UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "option"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "a"})
_TOLD = ("datetime", "href")  # attributes that say more than the text inside


@dataclass(frozen=True, slots=True)
class Shape:
    """`names` has a name for each path; `remarks` say what has none, and what may be wrong."""

    layout: Layout
    names: dict[str, str]
    remarks: tuple[str, ...] = ()


def shape_of(content: Content, layout: Layout) -> Shape:
    """What the layout does not say is found; no names where nothing is. Raises UnreadableFeed."""
    match layout.format:
        case "csv":
            layout = replace(layout, delimiter=_delimiter(content, layout))
            return _csv_shape(layout, next(csv_rows(content, layout), (0, []))[1])
        case "json":
            return _json_shape(content, layout)
        case "icalendar" | "log":
            found = islice(flat_records(content, layout), _SAMPLED)
            return _cut(layout, {path: path for _, record in found for path in record if path != "text"})
        case _:
            return _element_shape(content, layout)


def _delimiter(content: Content, layout: Layout) -> str:
    """The one that stands most often in the header, outside of quotes, unless one was named."""
    if layout.delimiter != ",":
        return layout.delimiter
    with opened(content, layout) as text:
        start = re.sub(r'"[^"]*"', "", text.read(_HEADER))
    first = next((line for line in start.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)


def _csv_shape(layout: Layout, header: list[str]) -> Shape:
    counts = Counter(header)
    remarks = [
        f"there are {count} columns {name!r}; only the first is read"
        for name, count in counts.items()
        if name and count > 1
    ]
    if counts[""]:
        remarks.append(f"columns without a name are left out: {counts['']:,}")
    return Shape(layout, {name: name for name in header if name}, tuple(remarks))


# JSON


def _json_shape(content: Content, layout: Layout) -> Shape:
    if not layout.records and content.large is None:
        whole = json_document(content, layout)
        lists = dict(_lists((), whole)) if isinstance(whole, dict) else {}
        if lists:
            layout = replace(layout, records="/" + max(lists, key=lambda path: lists[path]))
    records = list(islice(json_records(content, layout), _SAMPLED))
    if not layout.each:
        names, remarks = _json_names(records)
        nested = dict.fromkeys(path for record in records for path in _nested_lists(record))
        return _cut(layout, names, *remarks, *map(_offer, islice(nested, _MOST_OFFERED)))
    each = JsonPath.parse(layout.each)
    found = (one for record in records for at in each.values(record) for one in (at if isinstance(at, list) else [at]))
    names, remarks = _json_names(list(islice((one for one in found if one is not None), _SAMPLED)))
    around, _ = _json_names(records, without=each.steps)
    return _cut(layout, {**names, **_outer(around, names, "outer")}, *remarks)


def _json_names(records: list[Any], without: tuple[str, ...] = ()) -> tuple[dict[str, str], list[str]]:
    """A name for each path to a value, and remarks; not of what lies at or below the path `without`."""
    leaves: dict[tuple[str, ...], bool] = {}  # whether anything ever stands there
    for record in records:
        for steps, holds in _leaves((), record):
            if not without or steps[: len(without)] != without:
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


def _nested_lists(record: Any, steps: tuple[str, ...] = ()) -> Iterator[str]:
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


def _offer(path: str) -> str:
    return f"at {path!r} are records inside the records; --each {path!r} makes events of them"


def _outer(around: dict[str, str], inner: dict[str, str], prefix: str) -> dict[str, str]:
    """What the record around says, by the paths that look into it; its names begin with that of the record."""
    taken = set(inner.values())
    return {
        f"{OUTER}{path}": f"{prefix}_{name}" if name in taken or name == "id" else name for path, name in around.items()
    }


def _cut(layout: Layout, names: dict[str, str], *remarks: str) -> Shape:
    if (more := len(names) - _MOST_PATHS) > 0:
        remarks += (f"{more:,} of {len(names):,} paths are left out; name those you want in the mapping",)
    return Shape(layout, dict(islice(names.items(), _MOST_PATHS)), remarks)


def _lists(steps: tuple[str, ...], at: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Lists of objects, with their lengths; only a root that is one record itself has none."""
    for name, below in at.items():
        way = (*steps, name)
        if isinstance(below, list) and below and all(isinstance(one, dict) for one in below):
            yield written(*way), len(below)
        elif isinstance(below, dict) and len(way) < _DEEPEST:
            yield from _lists(way, below)


def _leaves(steps: tuple[str, ...], at: Any) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Where single values, or lists of them, stand, and whether any do."""
    if len(steps) > _DEEPEST:
        return
    if isinstance(at, dict):
        for name, below in at.items():
            yield from _leaves((*steps, name), below)
    elif isinstance(at, list) and steps[-1:] == ("coordinates",) and 2 <= len(at) <= 3 and _are_numbers(at):
        yield from (((*steps, str(place)), True) for place in range(len(at)))  # GeoJSON's: each says something else
    elif isinstance(at, list) and any(isinstance(one, dict | list) for one in at):
        for one in at[:_SAMPLED]:
            yield from _leaves((*steps, "*"), one)
    else:
        yield steps, at is not None and at != []


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(one, int | float) for one in values)


# XML and HTML


def _element_shape(content: Content, layout: Layout) -> Shape:
    root = document(content, layout)
    is_xml = layout.format == "xml"
    if not layout.records:
        layout = replace(layout, records=_repeated(root, is_xml))
    if not layout.records:
        return Shape(layout, {})
    records = list(islice(record_elements(root, layout), _SAMPLED))
    if layout.each and records:
        each = ElementPath.parse(layout.each)
        nested = [one for record in records for one in each.elements(record)]
        names = _element_names(nested[:_SAMPLED], is_xml)
        around = _element_names(records, is_xml, frozenset(below for one in nested for below in one.iter()))
        return _cut(layout, {**names, **_outer(around, names, local_name(records[0]))})
    names = _element_names(records, is_xml)
    remarks: list[str] = []
    if is_xml:
        offered = dict.fromkeys(path for record in records for path in _nested_elements(record))
        remarks += map(_offer, islice(offered, _MOST_OFFERED))
    if not {id(record) for record in records}.isdisjoint(id(above) for one in records for above in one.iterancestors()):
        advice = "their values are mixed; use --records to choose narrower ones"
        remarks.append(f"some records at {layout.records!r} are nested in others: {advice}")
    return _cut(layout, names, *remarks)


def _element_names(
    records: list[etree._Element], is_xml: bool, without: frozenset[etree._Element] = frozenset()
) -> dict[str, str]:
    """A name for each path to a value; not of the elements `without`."""
    paths = xml_paths if is_xml else _paths
    headings = _headings(records[-1]) if records else {}
    found = filter(_can_be_read, dict.fromkeys(path for record in records for path in paths(record, without)))
    return {path: _name(path, headings) for path in found}


def _nested_elements(record: etree._Element) -> Iterator[str]:
    """Where elements of one name stand side by side that say more than one thing each."""
    ways = {record: ">"}
    for element in record.iter():
        if element not in ways:
            continue
        counts = Counter(local_name(child) for child in element)
        for child in element:
            name = local_name(child)
            if name and counts[name] > 1 and len(set(xml_paths(child))) > 1:
                yield f"{ways[element]} {name}"
            elif name:
                ways[child] = f"{ways[element]} {name}"


def _repeated(root: etree._Element, is_xml: bool) -> str:
    """The path of the siblings that look alike and hold most; empty where there are none."""
    best, most = "", 0
    for parent in root.iter():
        if local_name(parent) in _UNSEEN or len(parent) < 2:
            continue
        alike = Counter(_mark(child) for child in parent if local_name(child) not in _UNSEEN)
        mark, count = alike.most_common(1)[0] if alike else ("", 0)
        if count < 2:
            continue
        alike_ones = [child for child in parent if _mark(child) == mark]
        examples = [child for child in alike_ones if len(child) or (is_xml and child.attrib)][-_EXAMPLES:]
        paths = xml_paths if is_xml else _paths
        held = count * max((len(set(paths(example))) for example in examples), default=0)
        above = ">" if parent is root else _mark(parent)  # a path looks below the root, so no step can name it
        path = mark if "." in mark else f"{above} {mark}"
        if held > most and _can_be_read(path):
            best, most = path, held
    return best


def _can_be_read(path: str) -> bool:
    """HTML takes anything for a tag's or an attribute's name."""
    try:
        ElementPath.parse(path)
    except WrongPath:
        return False
    return True


def _mark(element: etree._Element) -> str:
    """Its tag and first class, as a step of a path."""
    first = next(iter((element.get("class") or "").split()), "")
    legal = first.replace("-", "").replace("_", "").isalnum()
    return f"{local_name(element)}.{first}" if legal else local_name(element)


def _paths(record: etree._Element, without: frozenset[etree._Element] = frozenset()) -> Iterator[str]:
    """To each text inside a record, and to attributes that say more; not to what is in `without`."""
    yield from (f"@{name}" for name in _attributes(record) if name == "id" or name.startswith("data-"))
    for element in record.iterdescendants():
        mark = _mark(element)
        if local_name(element) in _UNSEEN or not mark or element in without:
            continue
        if mark == "th" and local_name(record) == "tr" and not any(local_name(cell) == "td" for cell in record):
            continue
        if mark in ("td", "th"):  # what a table's cells are is said by their place
            mark += f":{place_of(element, _MOST_PATHS)}"
        if mark == "a" and (parent := element.getparent()) is not None and parent is not record:
            yield _mark(parent)  # `<h3><a href="…">` is a heading
            continue
        told = [f"{mark}@{name}" for name in _attributes(element) if name in _TOLD or name.startswith("data-")]
        yield from told
        # `<time datetime="…">in five days</time>` is told by its attribute
        if not any(path.endswith("@datetime") for path in told) and _holds_text(element):
            yield mark


def xml_paths(record: etree._Element, without: frozenset[etree._Element] = frozenset()) -> Iterator[str]:
    """To each text and each attribute inside a record, by all elements on the way: a `Country` of the record and one
    of something in it are not the same. Words marked within a text are part of that text. What is in `without` is left
    out."""
    yield from (f"@{name}" for name in _attributes(record))
    ways = {record: ""}
    for element in record.iterdescendants():
        parent = element.getparent()
        name = local_name(element)
        if parent is None or parent not in ways or not name or element in without:
            continue
        way = f"{ways[parent]} {name}" if ways[parent] else f"> {name}"
        if not _is_prose(element):
            ways[element] = way
        yield from (f"{way}@{attribute}" for attribute in _attributes(element))
        if _holds_text(element):
            yield way


def _attributes(element: etree._Element) -> list[str]:
    return [str(name).rpartition("}")[2] for name, _ in element.items()]


def _holds_text(element: etree._Element) -> bool:
    """Whether a text begins here, and not only in some element below."""
    return _is_prose(element) or (not len(element) and bool(text_of(element)))


def _is_prose(element: etree._Element) -> bool:
    """Whether text stands between the elements inside."""
    return len(element) > 0 and any((text or "").strip() for text in (element.text, *(one.tail for one in element)))


def _headings(record: etree._Element) -> dict[str, str]:
    """Of a table's row: what the table's first line says about the columns, by the path of each cell."""
    table = next((above for above in record.iterancestors() if local_name(above) == "table"), None)
    if local_name(record) != "tr" or table is None:
        return {}
    first = next(ElementPath.parse("tr").elements(table), record)
    if first is record or any(local_name(cell) == "td" for cell in first):
        return {}
    texts: list[str] = []
    for cell in first:
        span = cell.get("colspan") or ""
        texts += [text_of(cell)] * (min(int(span), _MOST_PATHS) if span.isascii() and span.isdecimal() else 1)
    cells = [cell for cell in record if local_name(cell) in ("td", "th")]
    paths = (f"{local_name(cell)}:{place_of(cell, _MOST_PATHS)}" for cell in cells[:_MOST_PATHS])
    return dict(zip(paths, texts, strict=False))


def _name(path: str, headings: dict[str, str]) -> str:
    """The attribute's, the class's, the column's or the tag's."""
    if headings.get(path):
        return headings[path]
    way, _, attribute = path.partition("@")
    if way.startswith(">"):
        words = [*way.split()[1:], *([attribute] if attribute else [])]
        return "_".join(words)
    last = way.split()[-1] if way else ""
    tag, _, place = last.partition(":")
    name = tag.rpartition(".")[2] or tag
    name = "title" if name in _HEADINGS else name
    if attribute and attribute != "datetime":
        attribute = attribute.removeprefix("data-")
        return f"{name}_{attribute}" if name and name != "title" else attribute
    return f"{name}_{place}" if place else name
