"""One record in, one raw event out, with what of it could not be read; `feed` publishes, `preview` shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping as TypingMapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import zip_longest
from typing import Any, TypeAlias

from tidings.events import BrokenRule
from tidings.feeds.errors import SchemaClash, SchemaLacks
from tidings.feeds.mapping.mapping import Field, Mapping
from tidings.feeds.records.conversion import Converter, as_text, is_empty
from tidings.feeds.records.json_path import written
from tidings.feeds.records.json_values import Damaged
from tidings.feeds.records.records import MOST_VALUES, Record
from tidings.schema import AttributeUse, Catalog, Kind, json_form
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.hierarchy import SEPARATOR, below
from tidings.schema.values import Place

Values: TypeAlias = tuple[Any, ...]

_LONGEST_ID = 1_000
_READ_ALIKE = {Kind.NUMERIC: "number", Kind.TIME: "time", Kind.PLACE: "place"}  # all other kinds are text


@dataclass(slots=True)
class Made:
    """`raw` in the file form of events; `parents` has, by attribute, the node above a hierarchical value.

    `errors` refuse it; `left_out` are bad values without which it is published. `faults` name both, for counting."""

    raw: dict[str, Any]
    errors: tuple[BrokenRule, ...] = ()
    parents: dict[str, str] = field(default_factory=dict)
    left_out: tuple[BrokenRule, ...] = ()
    faults: tuple[str, ...] = ()

    def refused(self) -> dict[str, Any]:
        return {"id": self.raw["id"], "errors": [error.as_json() for error in self.errors]}


class EventMaker:
    """Made for a mapping and a schema. Attributes that the schema does not have are read as the mapping says."""

    def __init__(self, mapping: Mapping, catalog: Catalog) -> None:
        self.mapping = mapping
        uses = _uses(mapping, catalog)
        self._readers = []
        for one in mapping.fields:
            mandatory = one.mandatory or (one.attribute in uses and uses[one.attribute].mandatory)
            refuses = (one.reading.on_bad or ("refuse" if mandatory else "missing")) == "refuse"
            kind = kind_of(one, catalog)
            converter = Converter(one.reading, kind)
            plain = one.reading.constant is None and not (one.longitude or one.path or one.parent)
            known = converter.known if plain and kind is not Kind.PLACE else None
            quick = converter.quick if plain else None
            self._readers.append((one.reading.path, one.attribute, quick, known, one, converter, refuses))
        types = mapping.event_types
        self._types = types[0] if len(types) == 1 else list(types)
        self._source = mapping.source or mapping.name
        self._when = None if mapping.time is None else Converter(mapping.time, Kind.TIME)

    def make(self, record: Record) -> Made:
        if type(record) is Damaged:
            return self._unreadable(record)
        faults = Faults()
        parents: dict[str, str] = {}
        raw: dict[str, Any] = {"id": self._id(record, faults), "source": self._source}
        if (time := self._time(record, faults)) is not None:
            raw["time"] = time
        if self.mapping.contact:
            raw["contact"] = self.mapping.contact
        raw[EVENT_TYPE] = self._types
        attributes: dict[str, Any] = {}
        for path, name, quick, known, one, converter, refuses in self._readers:
            found = record.get(path, ())
            if (
                quick is not None
                and len(found) == 1
                and type(found[0]) is str
                and (value := quick(found[0])) is not None  # the usual case of the usual case
            ):
                attributes[name] = value
                continue
            if known is not None and len(found) == 1 and (type(found[0]) is str or type(found[0]) is int):
                values, wrong = known.get(found[0]) or converter.single(found[0])
                if not wrong and len(values) < 2:  # the usual case: nothing more to do
                    if values:
                        attributes[name] = values[0]
                    continue
            if len(found) > MOST_VALUES:
                problem = f"{one.attribute!r}: more than {MOST_VALUES:,} values at {one.reading.path!r}"
                rule = BrokenRule("domain", one.attribute, list(found[:MOST_VALUES]), problem)
                faults.see(rule, "too many values", True)
                continue
            if one.longitude:
                found = pairs(found, record.get(one.longitude, ()), one.reading.missing)
            elif one.path:
                found = _known_paths(found, one.path) if len(found) == 1 else category_paths(found, one.path)
            values, wrong = converter.values(found)
            for bad in wrong:
                shown = found[0] if len(found) == 1 else list(found)
                faults.see(BrokenRule("domain", one.attribute, shown, f"{one.attribute!r}: {bad}"), bad.fault, refuses)
            if one.parent and (above := first_text(record, one.parent)):
                above = parents[one.attribute] = above.lower() if one.reading.lower else above
                values = tuple(value if value == above else below(above, str(value)) for value in values)
            if values and isinstance(values[0], Place):
                attributes[one.attribute] = _places(values)
            elif values:
                attributes[one.attribute] = values[0] if len(values) == 1 else list(values)
        raw["attributes"] = attributes
        if not faults.names:
            return Made(raw, (), parents)
        return Made(raw, tuple(faults.errors), parents, tuple(faults.left_out), tuple(faults.names))

    def _unreadable(self, record: Damaged) -> Made:
        id = sha256(record.text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        raw: dict[str, Any] = {"id": id, "source": self._source, EVENT_TYPE: self._types, "attributes": {}}
        rule = BrokenRule("form", None, record.text, record.problem)
        return Made(raw, (rule,), faults=("record: unreadable",))

    def _id(self, record: Record, faults: Faults) -> str:
        """By the mapping's paths; the digest of what is read of the record where there are none, or it is too long.

        Where a part is missing the record is refused: by a digest it would come again with each change of it."""
        if len(self.mapping.id) == 1:  # the usual case: one text
            found = record.get(self.mapping.id[0])
            if found and type(found[0]) is str and 0 < len(id := found[0].strip()) <= _LONGEST_ID:
                return id
        parts = [first_text(record, path) for path in self.mapping.id]
        for path, part in zip(self.mapping.id, parts, strict=True):
            if not part:
                faults.see(BrokenRule("form", "id", None, f"id: nothing found at {path!r}"), "missing", True)
        if parts and all(parts):
            id = parts[0] if len(parts) == 1 else written(*parts)
            if len(id) <= _LONGEST_ID:
                return id
        told = json.dumps(record, sort_keys=True, default=repr)  # as ASCII: whatever is in it can be written
        return sha256(told.encode()).hexdigest()[:32]

    def _time(self, record: Record, faults: Faults) -> str | None:
        reading = self.mapping.time
        if reading is None or self._when is None:
            return None
        values, wrong = self._when.values(record.get(reading.path, ())[:1])
        for bad in wrong:
            rule = BrokenRule("form", "time", record[reading.path][0], f"time: {bad}")
            faults.see(rule, bad.fault, reading.on_bad != "missing")
        return str(values[0]) if values else None


def pairs(latitudes: Values, longitudes: Values, missing: tuple[str, ...] = ()) -> Values:
    """Latitude and longitude of each place; not where both are missing."""
    both = zip_longest(_flat(latitudes), _flat(longitudes))
    return tuple(pair for pair in both if not all(is_empty(one, missing) for one in pair))


def category_paths(found: Values, path: str | bool) -> Values:
    """Texts as a hierarchy has them: `Clothing > Shoes`, of a list of names or of a text with a separator."""
    if path is True:
        listed = [one for one in found if isinstance(one, list) and any(isinstance(below, list) for below in one)]
        lists = [below for one in listed for below in one] if listed else [list(_flat(found))]
    else:
        lists = [str(text).split(str(path)) for text in _flat(found) if isinstance(text, str)]
    named = ([as_text(name).strip() for name in one if not is_empty(name)] for one in lists if isinstance(one, list))
    return tuple(SEPARATOR.join(name for name in names if name) for names in named if any(names))


def _known_paths(found: Values, path: str | bool) -> Values:
    """The same of a single value; categories repeat themselves."""
    return _known_path(found[0], path) if isinstance(found[0], str) else category_paths(found, path)


@lru_cache(maxsize=10_000)
def _known_path(text: str, path: str | bool) -> Values:
    return category_paths((text,), path)


def _flat(found: Values) -> Iterator[Any]:
    for one in found:
        if isinstance(one, list):
            yield from one
        else:
            yield one


def _places(values: tuple[Any, ...]) -> list[Any]:
    pairs = [value.pair for value in values]
    return pairs[0] if len(pairs) == 1 else pairs


class Faults:
    """What is wrong with one record."""

    __slots__ = ("errors", "left_out", "names")

    def __init__(self) -> None:
        self.errors: list[BrokenRule] = []
        self.left_out: list[BrokenRule] = []
        self.names: list[str] = []

    def see(self, rule: BrokenRule, name: str, refuses: bool) -> None:
        (self.errors if refuses else self.left_out).append(rule)
        self.names.append(f"{rule.attribute}: {name}")


def _uses(mapping: Mapping, catalog: Catalog) -> TypingMapping[str, AttributeUse]:
    if any(catalog.event_type(name) is None for name in mapping.event_types):
        return {}
    return catalog.view(mapping.event_types).uses


def kind_of(one: Field, catalog: Catalog) -> Kind:
    """As the schema says, else the mapping; raises SchemaClash where both do and one of them is no text."""
    domain = catalog.domain_of(one.attribute)
    if domain is None:
        return one.kind or Kind.STRING
    if one.kind is not None and _READ_ALIKE.get(one.kind) != _READ_ALIKE.get(domain.kind):
        raise SchemaClash(f"attribute {one.attribute!r}", str(domain.kind), str(one.kind))
    return domain.kind


def check_schema(mapping: Mapping, catalog: Catalog) -> None:
    """Raises SchemaLacks where no event of the mapping could be valid, SchemaClash where names mean other things."""
    missing = [f"event type {name!r}" for name in mapping.event_types if catalog.event_type(name) is None]
    uses = {} if missing else catalog.view(mapping.event_types).uses
    for one in mapping.fields:
        if catalog.domain_of(one.attribute) is None:
            missing.append(f"attribute {one.attribute!r}")
        elif not missing and one.attribute not in uses:
            missing.append(f"attribute {one.attribute!r} in {' and '.join(map(repr, mapping.event_types))}")
        kind_of(one, catalog)
    if missing:
        shows = (
            f"`tidings feed infer {mapping.file or mapping.name}` shows what would be added, and with --apply adds it"
        )
        raise SchemaLacks(tuple(missing), shows)


def schema_mark(mapping: Mapping, catalog: Catalog) -> str:
    """The same as long as the schema says the same to the mapping's events, whatever else grows in it."""
    domains = [catalog.domain_of(one.attribute) for one in mapping.fields]
    types = [catalog.event_type(name) for name in mapping.event_types]
    told = [
        [None if domain is None else json_form.write_domain(domain) for domain in domains],
        [None if event_type is None else json_form.write_event_type(event_type) for event_type in types],
    ]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def first_text(record: Record, path: str) -> str:
    """The first value at a path, as text; nothing where there is none."""
    for value in record.get(path, ()):
        if value is not None and not isinstance(value, list | dict):
            return as_text(value).strip()
    return ""
