"""A schema and a mapping from what a source holds, for review before anything is changed.

`infer` starts from the bytes alone, `propose` from a mapping whose kinds win. Kinds: numeric and time where all values
can be read so, enumerated where few values repeat, text where they are long, else string. Attributes are optional
unless the mapping says otherwise. `changes` says by which growth rules a schema comes to have all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tidings.errors import shown
from tidings.feeds.errors import NothingToInfer, SchemaClash, UnknownColumn
from tidings.feeds.event_maker import kind_of, pairs
from tidings.feeds.inference.checking import Checked, checked
from tidings.feeds.inference.column_kinds import are_list_paths, guess, there_in
from tidings.feeds.inference.domains import domain_of, found_values, joined, values_of
from tidings.feeds.inference.guess import Guess
from tidings.feeds.inference.ids import candidates, unique
from tidings.feeds.inference.number_columns import is_numeric, signs
from tidings.feeds.inference.place_columns import with_places
from tidings.feeds.inference.record_shapes import shape_of
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.inference.source_records import SourceRecords, spread
from tidings.feeds.mapping.mapping import Field, Layout, Mapping, Origin, Reading
from tidings.feeds.records.conversion import as_text
from tidings.feeds.records.patterns import limited_patterns
from tidings.feeds.records.records import Record
from tidings.feeds.sources.content import Content
from tidings.language.tokens import KEYWORDS
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.catalog import RESERVED
from tidings.schema.growth import grow

SAMPLED = 10_000  # records by which kinds are guessed
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # yearOfRegistration, XMLFile
_MOST_TIMES = 3  # columns that are suggested as the event's time
_ROUNDS = 3  # guesses again, with records that the guess before refused
_OF_SAMPLE = 20  # of so many values in the sample, one is added of those that were refused


# Marks a remark that a form words differently.
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
    contents: Content | Iterable[Content],
    layout: Layout,
    origin: Origin,
    event_type: str,
    mandatory: Iterable[str] = (),
    there: Catalog | None = None,
    *,
    most: int = 0,
    tell: Callable[[str], None] = lambda line: None,
) -> Proposal:
    """From the bytes alone; raises NothingToInfer, UnreadableFeed, UnknownColumn or SchemaClash.

    `contents` are gone through several times. `mandatory` are attributes by their names, or by those of their columns.
    `most`: how many records are looked at; 0: all. `tell` hears every few seconds how far a long source is."""
    contents = (contents,) if isinstance(contents, Content) else contents
    advice = (
        "a CSV file needs a line of column names and at least one row"
        if layout.format == "csv"
        else "use --records to say where they are"
    )
    shape = shape_of(contents, layout)
    if not shape.names:
        raise NothingToInfer(str(origin), advice)
    names = _attribute_names(shape.names)
    demanded = {_demanded(name, names, shape.names) for name in mandatory}
    fields = tuple(Field(name, Reading(path), mandatory=path in demanded) for path, name in names.items())
    draft = Mapping(event_type, origin, shape.layout, (event_type,), fields)
    records = SourceRecords(contents, shape.layout, draft.paths, most=most, tell=tell)
    sample, count = spread(records, SAMPLED)
    if not sample:
        for problem in records.problems:
            raise problem
        raise NothingToInfer(str(origin), advice)
    id, remarks = _id(sample, count, records, names)
    draft = replace(draft, id=id, fields=with_places(fields, sample, there))
    proposal = _propose(draft, records, sample, count, there)
    told = (*shape.remarks, *remarks, *proposal.remarks, *_when(proposal.mapping))
    return replace(proposal, remarks=told)


def _id(
    sample: list[Record], count: int, records: SourceRecords, names: dict[str, str]
) -> tuple[tuple[str, ...], list[str]]:
    """The column that is the id, and remarks: which could be, or is not after all."""
    named, others = candidates(sample, names)
    tried = [*named, *others]
    kept = unique(tried, records) if tried and count > len(sample) else tried
    remarks = [f"{path!r} is not the id: it is missing or repeated in later records" for path in named[:1]]
    if found := [path for path in named if path in kept]:
        return (found[0],), []
    suggested = [path for path in others if path in kept][:1]
    own = [f'every record has its own {path!r}; add id = "{path}" if it identifies the event' for path in suggested]
    return (), [*remarks, *own]


def _when(mapping: Mapping) -> Iterator[str]:
    """The columns that could be the time of the event: only people know."""
    found = [one for one in mapping.fields if one.kind is Kind.TIME and not one.several and not one.reading.split]
    for one in found[:_MOST_TIMES] if mapping.time is None else ():
        path, form = one.reading.path, one.reading.time_format
        time = f'{{ from = "{path}", time_format = "{form[0]}" }}' if form else f'"{path}"'
        yield f"{path!r} {TIMES} = {time} if that is when the event happened"


def propose(mapping: Mapping, records: Iterable[Record], there: Catalog | None = None) -> Proposal:
    """From a mapping and the records of its source. Kinds that `there` knows are kept; raises SchemaClash.

    A sample from all over the records tells the kinds; then the mapping is tried on all of them, and the kinds are
    guessed again with some of those that it would refuse."""
    records = records if isinstance(records, list | SourceRecords) else list(records)
    return _propose(mapping, records, *spread(records, SAMPLED), there)


@limited_patterns()
def _propose(
    mapping: Mapping, records: list[Record] | SourceRecords, sample: list[Record], count: int, there: Catalog | None
) -> Proposal:
    problems = [str(problem) for problem in records.problems] if isinstance(records, SourceRecords) else []
    listed: dict[Field, Domain] = {}  # of the values of all records
    size = len(sample)
    proposal = _guess(mapping, records, sample, (size, count), there, listed)
    found = checked(proposal.mapping, records, _as_grown(proposal.catalog, there))
    for _ in range(_ROUNDS if count > size else 0):
        faulty = _faulty(proposal.mapping, found, sample)
        if not faulty:
            break
        sample = [*sample, *faulty]
        better = _guess(mapping, records, sample, (size, count), there, listed)
        if better.mapping == proposal.mapping:
            break
        proposal = better
        found = checked(proposal.mapping, records, _as_grown(proposal.catalog, there))
    if isinstance(records, SourceRecords) and records.most == count:
        problems.append(f"only the first {count:,} records were looked at; later ones may be refused")
    return replace(proposal, records=count, remarks=(*problems, *found.remarks()))


def _guess(
    mapping: Mapping,
    records: Iterable[Record],
    sample: list[Record],
    sizes: tuple[int, int],
    there: Catalog | None,
    listed: dict[Field, Domain],
) -> Proposal:
    """By a sample; the domains that list their values by all records. `sizes`: of the sample before faulty records came
    to it, and of all records."""
    fields: list[Field] = []
    seen: dict[str, str] = {}
    domains: dict[str, Domain] = {}
    columns = [[value for record in sample for value in found_values(record, one.reading)] for one in mapping.fields]
    decimal = _decimal(mapping, columns)
    for one, values in zip(mapping.fields, columns, strict=True):
        guessed = _guessed(one, values, there, decimal)
        path = one.path or guessed.path or _list_path(one, sample, there)
        kind = Kind.HIERARCHICAL if path else guessed.kind
        several = one.several or (not path and any(len(values_of(record, guessed.reading)) > 1 for record in sample))
        is_new = there is None or there.domain_of(one.attribute) is None
        unsaid = one.kind is None and kind is not None and kind.listed
        open = one.open or (unsaid and kind is Kind.ENUMERATED and is_new and not one.grow)
        grow = one.grow or (unsaid and not open and (kind is Kind.ENUMERATED or bool(path)))
        filled_in = replace(one, kind=kind, reading=guessed.reading, several=several, grow=grow, open=open, path=path)
        fields.append(filled_in)
        seen[one.attribute] = _seen(sample[: sizes[0]], sizes[1], one, filled_in, there, guessed.junk)
        name = one.domain or one.attribute
        if filled_in not in listed:
            listed[filled_in] = domain_of(name, filled_in, sample if open else records)
        domain = listed[filled_in]
        domains[name] = joined(domains[name], domain) if name in domains else domain
    filled = replace(mapping, fields=tuple(fields))
    attributes = tuple(Attribute(one.attribute, one.domain or one.attribute) for one in fields)
    uses = tuple(AttributeUse(one.attribute, one.mandatory, not one.several) for one in fields)
    types = tuple(EventType(name, uses) for name in mapping.event_types)
    return Proposal(Catalog(tuple(domains.values()), attributes, types), filled, len(sample), seen=seen)


def _as_grown(wanted: Catalog, there: Catalog | None) -> Catalog:
    """The schema as it will be."""
    for change in () if there is None else changes(wanted, there):
        there = grow(there, change) if there is not None else None
    return wanted if there is None else there


def _faulty(mapping: Mapping, found: Checked, sample: list[Record]) -> list[Record]:
    """Some of the records that show what the sample does not: few, so that it stays in proportion."""
    made: list[Record] = []
    for one in mapping.fields:
        some = [record for record in found.faulty.get(one.attribute, ()) if record not in made]
        if some:
            there = sum(bool(record.get(one.reading.path)) for record in sample)
            made += some[: max(1, there // _OF_SAMPLE)]
    return made


def _list_path(one: Field, sample: list[Record], there: Catalog | None) -> bool:
    """Whether each record has one list there, and the lists are paths."""
    if one.kind is not None or (there is not None and there.domain_of(one.attribute) is not None):
        return False
    found = [
        values for record in sample if (values := record.get(one.reading.path, ())) and values[0] not in (None, [])
    ]
    lists = [values[0] for values in found if len(values) == 1 and isinstance(values[0], list)]
    return len(lists) == len(found) and are_list_paths(lists)


def _seen(
    sample: list[Record], count: int, before: Field, after: Field, there: Catalog | None, junk: tuple[str, ...]
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
    sampled = "" if len(sample) == count else "sampled "
    known = f"{share} % of {len(sample):,} {sampled}records, {len(distinct):,} distinct"
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


def _told(record: Record, one: Field) -> list[str]:
    """For people to read."""
    if one.longitude:
        both = pairs(record.get(one.reading.path, ()), record.get(one.longitude, ()), one.reading.missing)
        return [f"{latitude}, {longitude}" for latitude, longitude in both]
    return values_of(record, one.reading)


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
