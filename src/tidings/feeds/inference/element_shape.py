"""Where the records of XML and HTML are, the siblings that look alike and hold most, and which paths lead to what is
in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from lxml import etree

from tidings.feeds.errors import UnreadableFeed, WrongPath
from tidings.feeds.inference.shape import MOST_OFFERED, Shape, cut, offer, outer
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.element_path import ElementPath, local_name, place_of, text_of
from tidings.feeds.records.records import document, record_elements
from tidings.feeds.sources.content import Content

_MOST_CELLS = 100  # of a table's row
_EXAMPLES = 3  # of siblings that look alike; the first may be a table's headings
_UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "option"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "a"})
_TOLD = ("datetime", "href")  # attributes that say more than the text inside


def element_shape(contents: Iterable[Content], layout: Layout) -> Shape:
    """Of all records of all contents. Raises UnreadableFeed where the first content cannot be read."""
    names: dict[str, str] = {}
    around: dict[str, str] = {}
    remarks: dict[str, None] = {}
    for number, content in enumerate(contents):
        try:
            root = document(content, layout)
        except UnreadableFeed:
            if not number:
                raise
            continue  # which is said when the records are read
        layout = replace(layout, records=layout.records or _repeated(root, layout.format == "xml"))
        if not layout.records:
            return Shape(layout, {})
        records = list(record_elements(root, layout))
        if layout.each and records:
            each = ElementPath.parse(layout.each)
            nested = [one for record in records for one in each.elements(record)]
            names |= _element_names(nested, layout.format == "xml")
            without = frozenset(below for one in nested for below in one.iter())
            around |= outer(_element_names(records, layout.format == "xml", without), names, local_name(records[0]))
        else:
            names |= _element_names(records, layout.format == "xml")
            remarks |= dict.fromkeys(_remarks(records, layout))
    return cut(layout, {**names, **around}, *remarks)


def _remarks(records: list[etree._Element], layout: Layout) -> Iterator[str]:
    if layout.format == "xml":
        offered = dict.fromkeys(path for record in records for path in _nested_elements(record))
        yield from map(offer, islice(offered, MOST_OFFERED))
    if not {id(record) for record in records}.isdisjoint(id(above) for one in records for above in one.iterancestors()):
        advice = "their values are mixed; use --records to choose narrower ones"
        yield f"some records at {layout.records!r} are nested in others: {advice}"


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
    return best or (_single(root) if is_xml else "")


def _single(root: etree._Element) -> str:
    """The path of the one element that says something, where nothing repeats; empty where none does."""
    record, steps = root, [""]
    while len(record) == 1 and len(record[0]):
        record = record[0]
        steps.append(local_name(record))
    path = f">{' '.join(steps)}" if len(steps) > 1 else local_name(root)
    return path if _can_be_read(path) and any(True for _ in xml_paths(record)) else ""


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
            mark += f":{place_of(element, _MOST_CELLS)}"
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
        texts += [text_of(cell)] * (min(int(span), _MOST_CELLS) if span.isascii() and span.isdecimal() else 1)
    cells = [cell for cell in record if local_name(cell) in ("td", "th")]
    paths = (f"{local_name(cell)}:{place_of(cell, _MOST_CELLS)}" for cell in cells[:_MOST_CELLS])
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
