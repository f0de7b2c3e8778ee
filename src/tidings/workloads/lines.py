"""Tables and batches to lines of text, column by column: no Python object per line.

Each function gives an Arrow array of strings, a line each with its newline; `content` gives the bytes of all
of them as they lie in memory, ready for a file. `files` is the caller.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError, shown
from tidings.events import EventBatch
from tidings.events.arrays import INSTANTS, is_list, lists
from tidings.events.files.chunk import ENVELOPE_COLUMNS
from tidings.matching.boxes.predicate_table import PredicateTable, number_texts
from tidings.schema import Catalog, Domain, Kind
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE
from tidings.workloads.columns import names

_SEVERAL = "|"


class NotForCsv(EventError):
    """A value could not be told from two of them: the attribute, which may have several, and the value."""

    def __init__(self, attribute: str, value: str) -> None:
        super().__init__(attribute, value)

    def __str__(self) -> str:
        attribute, value = self.args
        return f"{attribute!r}: CSV separates values by '|', so it cannot hold {shown(value)}; write JSON Lines"


def content(lines: Any) -> memoryview:
    """The bytes of all strings of the array, one after another."""
    if not len(lines):
        return memoryview(b"")
    _, offsets, data = lines.buffers()
    places = np.frombuffer(offsets, np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(data)[int(places[0]) : int(places[-1])]


def subscription_lines(table: PredicateTable, start: int = 0) -> Any:
    """`{"id": "s1", "filter": "…"}`, the ids counted from `start` + 1."""
    ids = names("s", len(table), start)
    return _joined('{"id": "', ids, '", "filter": ', _json_texts(table.printed()), "}\n")


def event_lines(batch: EventBatch) -> Any:
    """`{"id": "e1", "event_type": ["car"], "attributes": {"price": 900}}`; what is not bound is left out."""
    bound = [_member(name, _json_values(column, domain)) for name, domain, column in _attributes(batch)]
    attributes = _joined("{", _listed(bound, len(batch)), "}")
    envelope = [
        _member(name, _json_values(column, domain))
        for name, domain, column in _envelope(batch)
        if column.null_count < len(column)
    ]
    return _joined("{", _listed([*envelope, _member("attributes", attributes)], len(batch)), "}\n")


def csv_header(catalog: Catalog) -> list[str]:
    """All columns that some event may bind: a file's header must be known before its last event."""
    own = [attribute.name for attribute in catalog.attributes if catalog.is_used(attribute.name)]
    return [*ENVELOPE_COLUMNS, *own]


def csv_lines(batch: EventBatch) -> Any:
    """Rows under `csv_header`."""
    columns = {name: (domain, column) for name, domain, column in (*_envelope(batch), *_attributes(batch))}
    empty = pa.repeat("", len(batch))
    cells = []
    for name in csv_header(batch.catalog):
        if name not in columns or columns[name][1].null_count == len(batch):
            cells.append(empty)
        else:
            domain, column = columns[name]
            cells.append(pc.fill_null(_csv_cells(name, domain, column, batch.catalog), ""))
    return _joined(pc.binary_join_element_wise(*cells, ","), "\n")


def csv_header_line(catalog: Catalog) -> bytes:
    """The header with its newline, quoted like the cells."""
    return ",".join(_csv_texts(pa.array(csv_header(catalog))).to_pylist()).encode() + b"\n"


def words(array: Any, domain: Domain) -> Any:
    """A column, plain or of lists, with strings in place of dictionary entries and event types' ordinals."""
    if is_list(array):
        return _in_lists(array, words(array.flatten(), domain))
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_integer(array.type):
        return pa.array(domain.vocabulary, pa.string()).take(array)
    return array


def _envelope(batch: EventBatch) -> list[tuple[str, Domain, Any]]:
    types = batch.catalog.domain_of(EVENT_TYPE)
    assert types is not None
    text, instants = ENVELOPE["event.id"], ENVELOPE["event.time"]
    sources = pc.if_else(pc.equal(batch.sources, ""), None, batch.sources)
    return [
        ("id", text, batch.ids),
        ("source", text, sources),
        ("time", instants, batch.times),
        ("contact", text, batch.contacts),
        (EVENT_TYPE, types, batch.event_types),
    ]


def _attributes(batch: EventBatch) -> list[tuple[str, Domain, Any]]:
    found = []
    for name in sorted(batch.columns):
        domain = batch.catalog.domain_of(name)
        assert domain is not None
        found.append((name, domain, batch.columns[name]))
    return found


def _plain(array: Any, domain: Domain) -> Any:
    """The text of each single value, not quoted."""
    if domain.kind is Kind.NUMERIC:
        texts = number_texts(pc.fill_null(array, 0.0).to_numpy())
        return texts if not array.null_count else pc.if_else(array.is_valid(), texts, None)
    if array.type == INSTANTS:
        return pc.strftime(array, "%Y-%m-%dT%H:%M:%SZ")
    return words(array, domain)


def _json_values(array: Any, domain: Domain) -> Any:
    if is_list(array):
        each = _in_lists(array, _json_values(array.flatten(), domain))
        return _joined("[", pc.binary_join(each, ", "), "]")
    texts = _plain(array, domain)
    return texts if domain.kind is Kind.NUMERIC else _json_texts(texts)


def _csv_cells(name: str, domain: Domain, array: Any, catalog: Catalog) -> Any:
    listed = is_list(array)
    texts = _plain(array.flatten() if listed else array, domain)
    if catalog.may_be_multiple(name):
        odd = pc.fill_null(pc.match_substring(texts, _SEVERAL), False)
        if pc.any(odd).as_py():
            raise NotForCsv(name, texts.filter(odd)[0].as_py())
    if listed:
        texts = pc.binary_join(_in_lists(array, texts), _SEVERAL)
    return texts if domain.kind is Kind.NUMERIC else _csv_texts(texts)


def _json_texts(strings: Any) -> Any:
    """Strings as JSON writes them. What needs no escape, nearly all, is only put in quotes."""
    if not _has_bytes(strings, b'"\\', below=0x20):
        return _joined('"', strings, '"')
    encoded = strings.dictionary_encode()
    written = [json.dumps(text, ensure_ascii=False) for text in encoded.dictionary.to_pylist()]
    return pa.array(written, pa.string()).take(encoded.indices)


def _csv_texts(strings: Any) -> Any:
    """Strings as cells, all in quotes if one would be cut or is empty: an empty cell is not bound."""
    if not _has_bytes(strings, b'",\r\n') and not pc.any(pc.equal(strings, "")).as_py():
        return strings
    return _joined('"', pc.replace_substring(strings, '"', '""'), '"')


def _has_bytes(strings: Any, sought: bytes, below: int = 0) -> bool:
    data = np.frombuffer(content(strings), np.uint8)
    return bool((data < below).any() or any((data == byte).any() for byte in sought))


def _member(name: str, values: Any) -> Any:
    return _joined(json.dumps(name, ensure_ascii=False) + ": ", values)


def _listed(members: list[Any], n: int) -> Any:
    """The members of each row that are there, separated by commas."""
    if not members:
        return pa.repeat("", n)
    first, *others = members
    nothing = first.is_null()
    for member in others:
        nothing = pc.and_(nothing, member.is_null())
    # pyarrow (seen in 26.0.1; narwhals-dev/narwhals#3965) drops a row of nothing but nulls from the answer
    first = pc.if_else(nothing, "", first)
    return pc.binary_join_element_wise(first, *others, ", ", null_handling="skip")


def _joined(*parts: Any) -> Any:
    return pc.binary_join_element_wise(*parts, "")


def _in_lists(like: Any, flat: Any) -> Any:
    """The flat values in lists as long as those of the other array."""
    missing = like.is_null() if like.null_count else None
    return lists(flat, pc.fill_null(pc.list_value_length(like), 0), missing)
