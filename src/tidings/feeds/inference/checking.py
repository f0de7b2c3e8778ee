"""What a proposed mapping makes of all records of its source: which it would refuse, and which show something new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tidings.feeds.inference.ids import Repeats
from tidings.feeds.inference.source_records import SourceRecords
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.memory.told_once import EmptyPaths
from tidings.feeds.preview import Preview
from tidings.feeds.records.records import Record
from tidings.schema import Catalog

PROMISE = "would be refused and"
_MOST_OF_A_KIND = 100  # records that are shown to inference for one fault of one attribute
_MOST_REASONS = 3


@dataclass(slots=True)
class Checked:
    """`faulty` has, by attribute, some of the records of which a value is refused or left out; `reasons` the first."""

    records: int = 0
    refused: int = 0
    left_out: int = 0
    repeated: int = 0  # records with the id of another
    grown: set[tuple[str, str]] = field(default_factory=set)  # values that a run would append, by attribute
    grow_limit: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    faulty: dict[str, list[Record]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)  # which paths lead to nothing in all records

    def remarks(self) -> list[str]:
        said = []
        if self.refused or self.left_out:
            would = f"{self.refused:,} {PROMISE} {self.left_out:,} bad values left out"
            first = "; ".join(list(self.reasons.values())[:_MOST_REASONS])
            said.append(f"of these {self.records:,} records {would}; first: {first}")
        if self.repeated:
            said.append(
                f"{self.repeated:,} of these {self.records:,} records have the id of an earlier one and would not be "
                "published; choose another id"
            )
        if len(self.grown) > self.grow_limit:
            said.append(
                f"a run would append more than {self.grow_limit:,} values, and refuse records with others; raise "
                "grow_limit"
            )
        return [*self.empty, *said]


def checked(mapping: Mapping, records: Iterable[Record], catalog: Catalog) -> Checked:
    """Goes through all of them once."""
    found = Checked(grow_limit=mapping.grow_limit)
    ids = Repeats()
    kinds: Counter[tuple[str, str]] = Counter()
    located = records if isinstance(records, SourceRecords) else None
    preview = Preview(mapping, catalog)
    empty = EmptyPaths(mapping, fewest=1)
    for record in records:
        one = preview.of(record)
        empty.see((record,))
        found.records += 1
        if mapping.id:
            ids.see(one["event"]["id"])
        if len(one) == 1:  # the usual case
            continue
        if len(found.grown) <= mapping.grow_limit:
            found.grown.update((name, str(value)) for name, value in one.get("appends", {}).items())
        found.refused += "errors" in one
        found.left_out += len(one.get("left_out", ()))
        for error in (*one.get("errors", ()), *one.get("left_out", ())):
            attribute = error["attribute"]
            where = f"record {found.records:,}" if located is None else located.place
            found.reasons.setdefault(attribute, f"{where}: {error['message']}")
            kinds[attribute, error["rule"]] += 1
            if kinds[attribute, error["rule"]] <= _MOST_OF_A_KIND:
                found.faulty.setdefault(attribute, []).append(record)
    found.repeated = ids.count
    if mapping.layout.format != "csv":  # where a column that is not there is an error, and an empty one is usual
        found.empty = empty.told(str(mapping.origin))
    return found
