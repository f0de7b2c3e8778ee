"""The domain that a field's values ask for: the words of an enumeration, the tree of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tidings.feeds.event_maker import category_paths
from tidings.feeds.mapping.mapping import Field, Reading
from tidings.feeds.records.conversion import as_text, parts
from tidings.feeds.records.records import Record
from tidings.schema import Domain, Hierarchy, Kind
from tidings.schema.hierarchy import LEVELS, SEPARATOR, below, is_node_name

_MOST_VALUES = 1_000  # of a proposed enumeration
_MOST_COLLECTED = 100_000  # values of which those are chosen
_MOST_NODES = 50_000  # of a proposed tree
_LONGEST_VALUE = 200


def domain_of(name: str, one: Field, records: Iterable[Record]) -> Domain:
    kind = one.kind or Kind.STRING
    if not kind.listed:
        return Domain(name, kind)
    if kind is Kind.ENUMERATED:
        return Domain(name, kind, values=_words(one, records), open=one.open)
    return Domain(name, kind, hierarchy=_tree(one, records) if one.path else _nodes(one, records))


def _words(one: Field, records: Iterable[Record]) -> tuple[str, ...]:
    words: set[str] = set()
    for record in records:
        words.update(value for value in values_of(record, one.reading) if _fits(value))
        if len(words) > _MOST_COLLECTED:
            break
    return tuple(sorted(words))[:_MOST_VALUES]


def _nodes(one: Field, records: Iterable[Record]) -> Hierarchy:
    """Of fields with single names, and a column for those above them."""
    hierarchy = Hierarchy()
    above = replace(one.reading, path=one.parent, constant=None, split="")
    known: set[tuple[str | None, str]] = set()
    for record in records:
        parent = next((p for p in values_of(record, above) if _fits_a_node(p)), None) if one.parent else None
        for value in values_of(record, one.reading) or ([parent] if parent else []):
            if (parent, value) in known:
                continue
            if len(hierarchy) >= _MOST_VALUES:
                return hierarchy
            known.add((parent, value))
            if parent is not None and parent not in hierarchy:
                hierarchy = hierarchy.append(parent, None)
            path = value if parent is None or value == parent else below(parent, value)
            if _fits_a_node(value) and path not in hierarchy:
                hierarchy = hierarchy.append(value, parent)
    return hierarchy


def _tree(one: Field, records: Iterable[Record]) -> Hierarchy:
    """Of fields with whole paths."""
    tree: dict[str, Any] = {}
    nodes = 0
    for record in records:
        found = category_paths(record.get(one.reading.path, ()), one.path)
        for path in map(str, parts(found, one.reading)):
            names = path.split(SEPARATOR)
            if len(names) > LEVELS or not all(map(_fits_a_node, names)):
                continue
            at = tree
            for name in names:
                if name not in at and nodes == _MOST_NODES:
                    break
                nodes += name not in at
                at = at.setdefault(name, {})
    return Hierarchy.from_tree(tree)


def joined(one: Domain, other: Domain) -> Domain:
    """Of two fields over one domain."""
    if one.kind is Kind.ENUMERATED and other.kind is Kind.ENUMERATED:
        values = tuple(dict.fromkeys((*one.values, *other.values)))
        return replace(one, values=values, open=one.open or other.open)
    return one


def _fits(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_VALUE and value.isprintable()


def _fits_a_node(value: Any) -> bool:
    return _fits(value) and is_node_name(value)


def found_values(record: Record, reading: Reading) -> list[Any]:
    """As they stand in the record, cut and stripped but not yet read as numbers or times."""
    return [value for value in parts(record.get(reading.path, ()), reading) if isinstance(value, str | int | float)]


def values_of(record: Record, reading: Reading) -> list[str]:
    """The same as text."""
    return [as_text(value) for value in found_values(record, reading)]
