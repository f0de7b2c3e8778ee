"""Events as the journal keeps them in, an `EventBatch` out.

What `validate` accepted is not checked again: a payload is the JSON of `write_event`, and growth of the schema never
makes an event invalid. Parsing still finds what cannot be such a payload, because the journal was damaged or written
by hand: an unknown name, a value of the wrong kind, a word that the domain lacks. These rows alone go to `validate`,
which names everything that is wrong with them, or accepts them after all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import arrays
from tidings.events.batch import EventBatch, vocabulary
from tidings.events.columns import Sieve
from tidings.events.elements import cells, elements, flattened, is_bound
from tidings.events.files.json_lines import raw_columns
from tidings.schema import Catalog, Domain, Kind
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE

_TYPES: dict[Kind, Any] = {Kind.NUMERIC: float | list[float], Kind.TIME: str | list[str], Kind.STRING: str | list[str],
                           Kind.TEXT: str | list[str], Kind.ENUMERATED: str | list[str],
                           Kind.HIERARCHICAL: str | list[str],
                           Kind.PLACE: list[float | list[float]], Kind.DOCUMENT: str | list[str]}  # fmt: skip


class EventDecoder:
    """Decodes payloads by one catalog, that of their acceptance or a later one.

    Keep it for all batches: it holds the domains' vocabularies and a parser made for the catalog. Up to `most_fields`
    attributes are parsed into the fields of a struct, more into dictionaries: of a thousand fields most would be empty
    in every event."""

    def __init__(self, catalog: Catalog, most_fields: int = 64) -> None:
        self.catalog = catalog
        self._domains = {attribute.name: _domain(catalog, attribute.name) for attribute in catalog.attributes}
        self._event_types = _domain(catalog, EVENT_TYPE)
        self._vocabularies: dict[str, Any] = {}  # by domain
        self._fields = {name: attrgetter(f"a{number}") for number, name in enumerate(self._domains)}
        self._narrow = len(self._domains) <= most_fields
        attributes = self._struct() if self._narrow else dict[str, float | str | list[float | str | list[float]]]
        self._parse = msgspec.json.Decoder(_payload(attributes)).decode
        self._nothing = self._parse(b'{"id": "-", "event_type": ["-"], "attributes": {}}')

    def decode(self, payloads: Sequence[str], positions: Any) -> tuple[EventBatch, list[tuple[int, str]]]:
        """The events at their positions, and for each payload that is not an event its position and why."""
        parsed, doubted = self._parsed(payloads)
        times = self._stored([one.time for one in parsed], ENVELOPE["event.time"], doubted)
        types = self._stored([one.event_type for one in parsed], self._event_types, doubted)
        columns = {}
        for name, values in self._bound([one.attributes for one in parsed], doubted):
            domain = self._domains[name]
            stored = self._stored(values, domain, doubted)
            if stored.null_count < len(stored):
                columns[name] = arrays.with_words(stored, domain, self._vocabulary(domain))
        batch = EventBatch(
            self.catalog,
            pa.array([one.id for one in parsed], pa.string()),
            pa.array([one.source for one in parsed], pa.string()),
            times.cast(arrays.INSTANTS),
            pa.array([one.contact for one in parsed], pa.string()),
            positions,
            arrays.as_lists(types),
            columns,
        )
        return self._decided(batch, payloads, doubted) if doubted.any() else (batch, [])

    def _parsed(self, payloads: Sequence[str]) -> tuple[list[Any], Any]:
        """What each payload says, and which of them do not parse."""
        doubted = _mask(pa.repeat(False, len(payloads)))
        try:
            return list(map(self._parse, payloads)), doubted
        except (msgspec.MsgspecError, ValueError, RecursionError):
            pass
        parsed = []
        for row, payload in enumerate(payloads):
            try:
                parsed.append(self._parse(payload))
            except (msgspec.MsgspecError, ValueError, RecursionError):
                parsed.append(self._nothing)
                doubted[row] = True
        return parsed, doubted

    def _bound(self, rows: list[Any], doubted: Any) -> Iterable[tuple[str, list[Any]]]:
        """Each attribute's values, row by row, None where it is not bound; rows with an unknown name become doubted."""
        if self._narrow:
            return ((name, list(map(field, rows))) for name, field in self._fields.items())
        names, known = set().union(*rows), self._domains.keys()
        if not names <= known:
            doubted |= _mask(pa.array([not row.keys() <= known for row in rows]))
        return ((name, [row.get(name) for row in rows]) for name in sorted(names & known))

    def _stored(self, values: list[Any], domain: Domain, doubted: Any) -> Any:
        """The column as a batch holds it; rows with a value outside the domain become doubted."""
        words = self._vocabulary(domain)
        values = list(cells(values, domain))
        if list not in set(map(type, values)):
            stored = elements(values, domain, words)
            if stored.null_count > values.count(None):
                doubted |= _mask(pc.and_(is_bound(values), stored.is_null()))
            return stored
        flat_values, lengths, empty = flattened(values)
        doubted |= _mask(empty)
        flat = elements(flat_values, domain, words)
        if flat.null_count:
            rows = _mask(pa.array(range(len(values)))).repeat(lengths.to_numpy())
            doubted[rows[_mask(flat.is_null())]] = True
        if (pc.max(lengths).as_py() or 0) <= 1:
            return arrays.spread(flat, lengths)
        return arrays.lists(flat, lengths, pc.equal(lengths, 0))

    def _decided(self, batch: EventBatch, payloads: Sequence[str], doubted: Any) -> tuple[EventBatch, Any]:
        """What `validate` says of the doubted rows."""
        places = doubted.nonzero()[0]
        raws = [_raw(payloads[place]) for place in places.tolist()]
        sifted = Sieve(self.catalog, most_values=None).sift(raw_columns(raws, self.catalog))
        problems = [(batch.positions[int(places[row])].as_py(), str(refusal)) for row, refusal in sifted.refused]
        sound = batch.filter(pa.array(~doubted))
        rescued = sifted.batch.at(batch.positions.take(pa.array(places[sifted.rows.to_numpy()])))
        if not len(rescued):
            return sound, problems
        both = EventBatch.concat([sound, rescued])
        return both.take(pc.sort_indices(both.positions)), problems

    def _struct(self) -> Any:
        fields = [(f"a{number}", _TYPES[domain.kind], None) for number, domain in enumerate(self._domains.values())]
        names = {f"a{number}": name for number, name in enumerate(self._domains)}
        return msgspec.defstruct("Attributes", fields, rename=names, gc=False, forbid_unknown_fields=True)

    def _vocabulary(self, domain: Domain) -> Any:
        if domain.name not in self._vocabularies:
            self._vocabularies[domain.name] = vocabulary(domain)
        return self._vocabularies[domain.name]


def _payload(attributes: Any) -> Any:
    fields: list[Any] = [
        ("id", Annotated[str, msgspec.Meta(min_length=1)]),
        ("event_type", Annotated[list[str], msgspec.Meta(min_length=1)]),
        ("attributes", attributes),
        ("source", str, ""),
        ("time", str, None),
        ("contact", str, None),
    ]
    return msgspec.defstruct("Payload", fields, gc=False, forbid_unknown_fields=True)


def _raw(payload: str) -> Any:
    try:
        return msgspec.json.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        return f"no JSON: {problem}"


def _domain(catalog: Catalog, name: str) -> Domain:
    domain = catalog.domain_of(name)
    assert domain is not None, name
    return domain


def _mask(array: Any) -> Any:
    return array.to_numpy(zero_copy_only=False)
