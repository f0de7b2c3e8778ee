"""A schema for events that a Python program has: what kind each attribute is, by the types of its values alone.

Nothing is guessed from what a text looks like: text stays string. (Feeds guess: their sources have only text.)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError, WrongArgument, expect, suggestion, typed
from tidings.events.arrow_columns import is_list_type, plain
from tidings.events.batch import EventBatch
from tidings.events.frames import columns_of
from tidings.events.reader import records_of
from tidings.events.records import EXPECTED, as_mapping, is_whole, tidied
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.catalog import EVENT_TYPE

_BOOLEAN = Domain("boolean", Kind.ENUMERATED, values=("false", "true"))
_BESIDE = frozenset({"id", EVENT_TYPE})  # all other columns are attributes, also `time`
_MOST_VALUES = 10_000  # of an enumeration
_CALL = "Schema.infer"


class NotInferred(EventError):
    """No schema could be made for these events: each attribute with the reason."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)

    def __str__(self) -> str:
        return "; ".join(self.args[0])


def infer_schema(events: Any, event_type: str = "event", kinds: Mapping[str, str] | None = None) -> Catalog:
    """See `Schema.infer`; raises NotInferred."""
    expect(event_type, str, _CALL, "event_type", "the name of an event type")
    wanted = _wanted(kinds)
    if isinstance(events, EventBatch):
        return events.catalog
    columns = columns_of(events)
    columns = _columns(events) if columns is None else columns
    types = _distinct(columns[EVENT_TYPE]) if EVENT_TYPE in columns else []
    domains: dict[str, Domain] = {}
    uses: dict[str, AttributeUse] = {}
    attributes, problems = [], []
    for name, column in columns.items():
        if name in _BESIDE:
            continue
        try:
            domain = _domain(name, column, wanted.pop(name, None))
        except ValueError as problem:
            problems.append(f"{name!r} {problem}")
            continue
        domains[domain.name] = domain
        attributes.append(Attribute(name, domain.name))
        uses[name] = AttributeUse(name, mandatory=False, unique=not _several(column))
    problems += [f"kinds: no attribute {name!r}{suggestion(name, tuple(uses))}" for name in wanted]
    if not attributes and not problems:
        problems.append("no event has an attribute to infer a schema from")
    if problems:
        raise NotInferred(tuple(problems))
    event_types = tuple(EventType(name, tuple(uses.values())) for name in types or [event_type])
    return Catalog(tuple(domains.values()), tuple(attributes), event_types)


def _wanted(kinds: Mapping[str, str] | None) -> dict[str, Kind]:
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise WrongArgument(_CALL, "kinds", "a dict such as {'brand': 'enumerated'}", typed(kinds))
    possible = tuple(str(kind) for kind in Kind if kind is not Kind.HIERARCHICAL)
    for name, kind in kinds.items():
        if kind not in possible:
            raise WrongArgument(_CALL, f"kinds[{name!r}]", "one of " + ", ".join(possible), typed(kind))
    return {name: Kind(kind) for name, kind in kinds.items()}


def _columns(events: Any) -> dict[str, list[Any]]:
    """The values of records by name, as far as they have any."""
    columns: dict[str, list[Any]] = {}
    for number, record in enumerate(records_of(events, _CALL)):
        members = as_mapping(record)
        if members is None:
            raise WrongArgument(_CALL, f"event {number}", EXPECTED, typed(record))
        whole = is_whole(members, frozenset())
        if whole:
            members = {**members["attributes"], EVENT_TYPE: members.get(EVENT_TYPE)}
        for name, value in members.items():
            if not isinstance(name, str):
                raise WrongArgument(_CALL, f"event {number}", "a dict with names as keys", f"one with {typed(name)}")
            columns.setdefault(name, []).append(value)
    return {name: values for name, values in columns.items() if name != EVENT_TYPE or any(values)}


def _several(column: Any) -> bool:
    if isinstance(column, list):
        return any(isinstance(tidied(value), list) for value in column)
    return is_list_type(column.type)


def _domain(name: str, column: Any, wanted: Kind | None) -> Domain:
    """Raises ValueError with the reason where there is none."""
    if wanted is Kind.ENUMERATED:
        values = _distinct(column)
        if len(values) > _MOST_VALUES:
            raise ValueError(f"has {len(values):,} different values, too many for an enumeration")
        return Domain(name, wanted, values=tuple(values))
    if wanted is not None:
        return Domain(name, wanted)
    if isinstance(column, list):
        kind = _kind_of_values(column)
        return _BOOLEAN if kind is Kind.ENUMERATED else Domain(name, kind)
    return _domain_of_type(name, column)


def _domain_of_type(name: str, column: Any) -> Domain:
    types, type_ = pa.types, column.type
    element = type_.value_type if is_list_type(type_) else type_
    if types.is_dictionary(element):
        if types.is_string(element.value_type) or _is_text(element.value_type):
            return Domain(name, Kind.ENUMERATED, values=tuple(_categories(column)), ordered=bool(element.ordered))
        element = element.value_type
    if types.is_boolean(element):
        return _BOOLEAN
    if types.is_integer(element) or types.is_floating(element) or types.is_decimal(element):
        return Domain(name, Kind.NUMERIC)
    if types.is_timestamp(element) or types.is_date(element):
        return Domain(name, Kind.TIME)
    if _is_text(element) or types.is_null(element):
        return Domain(name, Kind.STRING)
    raise ValueError(f"holds {type_}, which no attribute can hold: leave it out or convert it")


def _is_text(type_: Any) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def _categories(column: Any) -> list[str]:
    """In their order, also those that no row has."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    flat = [chunk.flatten() if is_list_type(chunk.type) else chunk for chunk in chunks]
    words: dict[str, None] = {}
    for chunk in flat:
        words |= dict.fromkeys(plain(chunk.dictionary).to_pylist())
    return [word for word in words if word is not None]


def _kind_of_values(values: list[Any]) -> Kind:
    found: dict[Kind, str] = {}
    for value in chain.from_iterable(map(_each, values)):
        kind = _kind_of_value(value)
        if kind is None:
            raise ValueError(f"holds {typed(value)}, which no attribute can hold: leave it out or convert it")
        found.setdefault(kind, typed(value))
    if len(found) > 1:
        raise ValueError(f"holds values of several kinds: {', '.join(found.values())}")
    return next(iter(found), Kind.STRING)


def _kind_of_value(value: Any) -> Kind | None:
    match tidied(value):
        case bool():
            return Kind.ENUMERATED
        case int() | float():
            return Kind.NUMERIC
        case str():
            return Kind.TIME if isinstance(value, date) or type(value).__name__ == "datetime64" else Kind.STRING
        case _:
            return None


def _each(value: Any) -> Iterable[Any]:
    """The values bound, one by one, as they came."""
    made = tidied(value)
    if made is None:
        return ()
    return [item for item in value if tidied(item) is not None] if isinstance(made, list) else (value,)


def _distinct(column: Any) -> list[str]:
    """The different texts, sorted; raises ValueError where there are others."""
    if isinstance(column, list):
        values = {value for cell in column for value in map(tidied, _each(cell))}
    else:
        flat = plain(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        values = set(pc.unique(flat.flatten() if is_list_type(flat.type) else flat).to_pylist()) - {None}
    if values and {type(value) for value in values} == {bool}:
        return list(_BOOLEAN.values)
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"holds {typed(value)}, not text")
    return sorted(values)
