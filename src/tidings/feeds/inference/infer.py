"""A schema and a mapping from what a source holds, for review before anything is changed.

`infer` starts from the bytes alone, `propose` from a mapping whose kinds win. Kinds: numeric and time where all values
can be read so, enumerated where few values repeat, text where they are long, else string. Attributes are optional
unless the mapping says otherwise. `changes` says by which growth rules a schema comes to have all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from tidings.errors import shown
from tidings.feeds.errors import NothingToInfer, SchemaClash, UnknownColumn, UnreadableFeed
from tidings.feeds.event_maker import category_paths, first_text, kind_of, pairs
from tidings.feeds.inference.column_kinds import are_list_paths, guess, there_in
from tidings.feeds.inference.guess import Guess
from tidings.feeds.inference.number_columns import is_numeric, signs
from tidings.feeds.inference.place_columns import with_places
from tidings.feeds.inference.record_shapes import shape_of
from tidings.feeds.mapping.mapping import Field, Layout, Mapping, Origin, Reading
from tidings.feeds.preview import previewed
from tidings.feeds.records.conversion import as_text, parts
from tidings.feeds.records.records import Record, read_records
from tidings.feeds.sources.content import Content
from tidings.language.tokens import KEYWORDS
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind
from tidings.schema.catalog import RESERVED
from tidings.schema.hierarchy import LEVELS, SEPARATOR, below, is_node_name

SAMPLED = 10_000  # records
SAMPLED_PATHS = 100_000  # of a source with category paths: the tree has to hold all of them
_MOST_VALUES = 1_000  # of a proposed enumeration
_MOST_NODES = 50_000  # of a proposed tree
_LONGEST_VALUE = 200
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # yearOfRegistration, XMLFile
_IDS = re.compile(r"(?:.*[_ -])?(?:id|guid|uuid|key|number|nr)", re.IGNORECASE)
_LIKE_AN_ID = re.compile(r"[\w-]{1,64}")  # neither a sentence nor a fraction nor a time of day
_MOST_TIMES = 3  # columns that are suggested as the event's time
_ENOUGH_FOR_AN_ID = 20  # records; in fewer, most columns are unique


# Marks of remarks that a form words differently.
PROMISE = "would be refused and"
TIMES = "has times; add time"

_WHY = {
    Kind.NUMERIC: "every value is a number",
    Kind.TIME: "every value is a time",
    Kind.ENUMERATED: "few short values repeat",
    Kind.TEXT: "the texts are long",
    Kind.STRING: "the values differ and are short",
    Kind.HIERARCHICAL: "the values are paths of categories",
    Kind.PLACE: "columns of latitudes and longitudes",
}


_NOUNS = {Kind.NUMERIC: "numbers", Kind.TIME: "times"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a feed wants of a schema, and the mapping with all kinds filled in; `records` were looked at.

    `seen` says of each attribute what stood there and why its kind was chosen; `remarks` say what of the source is not
    in the mapping, what may be wrong, and how many of the records looked at the mapping would refuse."""

    catalog: Catalog
    mapping: Mapping
    records: int
    remarks: tuple[str, ...] = ()
    seen: dict[str, str] = field(default_factory=dict)


def infer(
    content: Content,
    layout: Layout,
    origin: Origin,
    event_type: str,
    mandatory: Iterable[str] = (),
    there: Catalog | None = None,
) -> Proposal:
    """From the bytes alone; raises NothingToInfer, UnreadableFeed, UnknownColumn or SchemaClash.

    `mandatory` are attributes by their names, or by those of their columns."""
    advice = (
        "a CSV file needs a line of column names and at least one row"
        if layout.format == "csv"
        else "use --records to say where they are"
    )
    shape = shape_of(content, layout)
    if not shape.names:
        raise NothingToInfer(content.place, advice)
    names = _attribute_names(shape.names)
    demanded = {_demanded(name, names, shape.names) for name in mandatory}
    fields = tuple(Field(name, Reading(path), mandatory=path in demanded) for path, name in names.items())
    draft = Mapping(event_type, origin, shape.layout, (event_type,), fields)
    records: list[Record] = []
    remarks = shape.remarks
    all_records = read_records(content, shape.layout, draft.paths)
    try:
        for record in islice(all_records, SAMPLED):
            records.append(record)  # those before something that cannot be read count too
    except UnreadableFeed as problem:
        if not records:
            raise
        remarks += (str(problem),)
    if not records:
        raise NothingToInfer(content.place, advice)
    id = _id(records, names)
    remarks += () if id else tuple(_unique(records, names))
    draft = replace(draft, id=id, fields=with_places(fields, records, there))
    proposal = propose(draft, chain(records, _readable(all_records)), there)
    return replace(proposal, remarks=remarks + proposal.remarks + tuple(_when(proposal.mapping)))


def _when(mapping: Mapping) -> Iterator[str]:
    """The columns that could be the time of the event: only people know."""
    found = [one for one in mapping.fields if one.kind is Kind.TIME and not one.several and not one.reading.split]
    for one in found[:_MOST_TIMES] if mapping.time is None else ():
        path, form = one.reading.path, one.reading.time_format
        time = f'{{ from = "{path}", time_format = "{form[0]}" }}' if form else f'"{path}"'
        yield f"{path!r} {TIMES} = {time} if that is when the event happened"


def _readable(records: Iterator[Record]) -> Iterator[Record]:
    """As far as they can be read; how far that is has been told, or will be when they are published."""
    with suppress(UnreadableFeed):
        yield from records


def propose(mapping: Mapping, records: Iterable[Record], there: Catalog | None = None) -> Proposal:
    """From a mapping and some records of its source. Kinds that `there` knows are kept; raises SchemaClash.

    SAMPLED records are looked at; for the trees of category paths, SAMPLED_PATHS."""
    rest = iter(records)
    sample = list(islice(rest, SAMPLED))
    more: list[Record] | None = None
    fields: list[Field] = []
    seen: dict[str, str] = {}
    domains: dict[str, Domain] = {}
    columns = [[value for record in sample for value in _found(record, one.reading)] for one in mapping.fields]
    decimal = _decimal(mapping, columns)
    for one, values in zip(mapping.fields, columns, strict=True):
        guessed = _guessed(one, values, there, decimal)
        path = one.path or guessed.path or _list_path(one, sample, there)
        kind = Kind.HIERARCHICAL if path else guessed.kind
        several = one.several or (not path and any(len(_values(record, guessed.reading)) > 1 for record in sample))
        is_new = there is None or there.domain_of(one.attribute) is None
        unsaid = one.kind is None and kind is not None and kind.listed
        open = one.open or (unsaid and kind is Kind.ENUMERATED and is_new and not one.grow)
        grow = one.grow or (unsaid and not open and (kind is Kind.ENUMERATED or bool(path)))
        filled_in = replace(one, kind=kind, reading=guessed.reading, several=several, grow=grow, open=open, path=path)
        fields.append(filled_in)
        seen[one.attribute] = seen_in(sample, one, filled_in, there, guessed.junk)
        name = one.domain or one.attribute
        if path and more is None:
            more = list(islice(rest, SAMPLED_PATHS - SAMPLED))
        domain = _domain(name, filled_in, [*sample, *(more or ())] if path else sample)
        domains[name] = _joined(domains[name], domain) if name in domains else domain
    filled = replace(mapping, fields=tuple(fields))
    attributes = tuple(Attribute(one.attribute, one.domain or one.attribute) for one in fields)
    uses = tuple(AttributeUse(one.attribute, one.mandatory, not one.several) for one in fields)
    types = tuple(EventType(name, uses) for name in mapping.event_types)
    catalog = Catalog(tuple(domains.values()), attributes, types)
    return Proposal(catalog, filled, len(sample), tuple(_kept_promise(filled, sample, catalog)), seen)


def _list_path(one: Field, sample: list[Record], there: Catalog | None) -> bool:
    """Whether each record has one list there, and the lists are paths."""
    if one.kind is not None or (there is not None and there.domain_of(one.attribute) is not None):
        return False
    found = [
        values for record in sample if (values := record.get(one.reading.path, ())) and values[0] not in (None, [])
    ]
    lists = [values[0] for values in found if len(values) == 1 and isinstance(values[0], list)]
    return len(lists) == len(found) and are_list_paths(lists)


def _kept_promise(mapping: Mapping, sample: list[Record], catalog: Catalog) -> Iterator[str]:
    """What the proposed mapping would refuse or leave out of the records from which it was made."""
    refused = left_out = 0
    reasons: dict[str, str] = {}  # the first of each attribute
    for one in previewed(mapping, sample, catalog):
        refused += "errors" in one
        left_out += len(one.get("left_out", ()))
        for error in (*one.get("errors", ()), *one.get("left_out", ())):
            reasons.setdefault(error["attribute"], error["message"])
    if refused or left_out:
        would = f"{refused:,} {PROMISE} {left_out:,} bad values left out"
        yield f"of these {len(sample):,} records {would}; first: {'; '.join(list(reasons.values())[:3])}"


def seen_in(
    sample: list[Record], before: Field, after: Field, there: Catalog | None, junk: tuple[str, ...] = ()
) -> str:
    """`98 % of 500 records, 37 distinct: 'audi', 'bmw', 'vw'; enumerated: few short values repeat`."""
    texts = [texts for record in sample if (texts := _told(record, after))]
    distinct = dict.fromkeys(text for found in texts for text in found)
    share = 100 * len(texts) // len(sample) if sample else 0
    examples = ", ".join(shown(text) for text in list(distinct)[:3])
    if before.longitude:
        why = _WHY[Kind.PLACE]
    elif before.kind is not None:
        why = "the mapping says so"
    elif there is not None and there.domain_of(before.attribute) is not None:
        why = "the schema says so"
    elif junk:
        examples_of_junk = ", ".join(map(shown, junk[:2]))
        why = f"most values are {_NOUNS[after.kind or Kind.NUMERIC]}; others are skipped, e.g. {examples_of_junk}"
    else:
        why = _WHY[after.kind or Kind.STRING]
    known = f"{share} % of {len(sample):,} records, {len(distinct):,} distinct"
    return f"{known}{': ' + examples if examples else ''}; {after.kind}: {why}"


def _decimal(mapping: Mapping, columns: list[list[Any]]) -> str:
    """What one column leaves open, as `1.250` does, the others say, or the semicolons of CSV; empty: nothing does."""
    numbers = [texts for values in columns if is_numeric(texts := there_in([as_text(value) for value in values]))]
    told = [signs(texts) for texts in numbers]
    commas, points = (any(one[side] > one[1 - side] for one in told) for side in (0, 1))
    if commas != points:
        return "," if commas else "."
    has_comma = any("," in text for texts in numbers for text in texts)
    return "," if mapping.layout.delimiter == ";" and not points and has_comma else ""


def _guessed(one: Field, values: list[Any], there: Catalog | None, decimal: str) -> Guess:
    """As the mapping says, else the schema that is there, else by the values; raises SchemaClash."""
    if one.kind is not None:
        if there is not None:
            kind_of(one, there)
        return Guess(one.kind, one.reading)
    found = guess(values, replace(one.reading, decimal=decimal) if decimal else one.reading)
    if found.kind is not Kind.NUMERIC:
        found = replace(found, reading=replace(found.reading, decimal=one.reading.decimal))
    domain = None if there is None else there.domain_of(one.attribute)
    if domain is None:
        return found
    if values and domain.kind in (Kind.NUMERIC, Kind.TIME, Kind.PLACE) and found.kind is not domain.kind:
        raise SchemaClash(f"attribute {one.attribute!r}", str(domain.kind), str(found.kind))
    return Guess(domain.kind, found.reading if found.kind is domain.kind else one.reading)


def _found(record: Record, reading: Reading) -> list[Any]:
    """As they stand in the record, cut and stripped but not yet read as numbers or times."""
    return [value for value in parts(record.get(reading.path, ()), reading) if isinstance(value, str | int | float)]


def _told(record: Record, one: Field) -> list[str]:
    """For people to read."""
    if one.longitude:
        both = pairs(record.get(one.reading.path, ()), record.get(one.longitude, ()), one.reading.missing)
        return [f"{latitude}, {longitude}" for latitude, longitude in both]
    return _values(record, one.reading)


def _values(record: Record, reading: Reading) -> list[str]:
    """The same as text."""
    return [as_text(value) for value in _found(record, reading)]


def _domain(name: str, one: Field, sample: list[Record]) -> Domain:
    kind = one.kind or Kind.STRING
    if not kind.listed:
        return Domain(name, kind)
    texts = dict.fromkeys(value for record in sample for value in _values(record, one.reading) if _fits(value))
    if kind is Kind.ENUMERATED:
        return Domain(name, kind, values=tuple(sorted(texts))[:_MOST_VALUES], open=one.open)
    if one.path:
        return Domain(name, kind, hierarchy=_tree(one, sample))
    hierarchy = Hierarchy()
    above = replace(one.reading, path=one.parent, constant=None, split="")
    for record in sample:
        parent = next((p for p in _values(record, above) if _fits_a_node(p)), None) if one.parent else None
        if parent is not None and parent not in hierarchy:
            hierarchy = hierarchy.append(parent, None)
        for value in _values(record, one.reading):
            path = value if parent is None or value == parent else below(parent, value)
            if _fits_a_node(value) and path not in hierarchy and len(hierarchy) < _MOST_VALUES:
                hierarchy = hierarchy.append(value, parent)
    return Domain(name, kind, hierarchy=hierarchy)


def _tree(one: Field, sample: list[Record]) -> Hierarchy:
    """Of fields with whole paths."""
    found = (category_paths(record.get(one.reading.path, ()), one.path) for record in sample)
    paths = dict.fromkeys(str(path) for listed in found for path in parts(listed, one.reading))
    tree: dict[str, Any] = {}
    nodes = 0
    for path in paths:
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


def _joined(one: Domain, other: Domain) -> Domain:
    """Of two fields over one domain."""
    if one.kind is Kind.ENUMERATED and other.kind is Kind.ENUMERATED:
        values = tuple(dict.fromkeys((*one.values, *other.values)))
        return replace(one, values=values, open=one.open or other.open)
    return one


def _fits(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_VALUE and value.isprintable()


def _fits_a_node(value: Any) -> bool:
    return _fits(value) and is_node_name(value)


def _attribute_names(named: dict[str, str]) -> dict[str, str]:
    """Names that filters can write without quotes, each once."""
    made: dict[str, str] = {}
    for path, name in named.items():
        plain = re.sub(r"\W+", "_", _WORD_BEGINS.sub("_", name)).strip("_").lower()[:60].strip("_") or "field"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        plain = f"{plain}_" if plain in RESERVED or plain in KEYWORDS else plain
        unique, number = plain, 2
        while unique in made.values():
            unique, number = f"{plain}_{number}", number + 1
        made[path] = unique
    return made


def _demanded(name: str, attributes: dict[str, str], columns: dict[str, str]) -> str:
    """The path of what is called so; raises UnknownColumn."""
    for names in (attributes, columns):
        for path, known in names.items():
            if name in (known, path):
                return path
    raise UnknownColumn(name, tuple(dict.fromkeys((*attributes.values(), *columns.values()))))


def _id(records: list[Record], names: dict[str, str]) -> tuple[str, ...]:
    """The first column that is called so and tells all records from each other."""
    for path, name in names.items():
        if _IDS.fullmatch(name) and _tells_apart(records, path):
            return (path,)
    return ()


def _unique(records: list[Record], names: dict[str, str]) -> Iterator[str]:
    """The first column that could be the id by its values, though not by its name: only people know."""
    if len(records) < _ENOUGH_FOR_AN_ID:
        return
    for path in names:
        if _tells_apart(records, path, _LIKE_AN_ID):
            yield f'every record has its own {path!r}; add id = "{path}" if it identifies the event'
            return


def _tells_apart(records: list[Record], path: str, form: re.Pattern[str] | None = None) -> bool:
    """Whether each record has one value there that no other has."""
    seen: set[str] = set()
    for record in records:
        text = first_text(record, path) if len(record.get(path, ())) == 1 else ""
        if not text or text in seen or (form is not None and not form.fullmatch(text)):
            return False
        seen.add(text)
    return True
