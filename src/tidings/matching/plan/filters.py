"""The filters of a matcher by number, for what boxes cannot answer: events that only the specification decides, and
renumbered categories.

Recently added filters are kept as objects. Saving a plan turns them into texts, which take a tenth of the memory and
are parsed again on demand. Boxes loaded as arrays have no filter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.language import Filter
from tidings.language.normal_form import NO_LIMIT
from tidings.language.predicates import attributes_of
from tidings.matching.plan.chunks import Chunks
from tidings.matching.spans import Numbers, Positions
from tidings.schema.catalog import Catalog

NUMBERS = pa.schema([("id", pa.string()), ("start", pa.int64()), ("filter", pa.large_string()), ("owner", pa.string())])
_MOST_READ = 1 << 15  # parsed texts whose filter is cached


class Filters:
    """`numbers` are the rows written for a plan: by number the id, the start of the span, the text and
    the owner."""

    def __init__(self, numbers: Chunks) -> None:
        self.numbers = numbers
        self._fresh: dict[int, Filter] = {}
        self._read: dict[int, Filter] = {}
        self._forgotten = False

    def add(self, number: int, filter: Filter) -> None:
        self._fresh[number] = filter

    def of(self, number: int, catalog: Catalog) -> Filter | None:
        """None if the number was loaded as arrays, or forgotten."""
        found = self._fresh.get(number) or self._read.get(number)
        if found is None and number < len(self.numbers):
            text = self.numbers.cell(number, "filter")
            if text is not None:
                found = Filter.parse(text, catalog, NO_LIMIT)
                if len(self._read) == _MOST_READ:
                    self._read.clear()
                self._read[number] = found
        return found

    def text(self, number: int) -> str | None:
        """The canonical text; None if there is no filter."""
        found = self._fresh.get(number)
        if found is not None:
            return found.text
        text: str | None = self.numbers.cell(number, "filter") if number < len(self.numbers) else None
        return text

    def forget(self, numbers: Numbers) -> None:
        """Forgets filters that have no boxes left."""
        self._forgotten = True
        for number in numbers.tolist():
            self._fresh.pop(number, None)
            self._read.pop(number, None)

    def texts(self) -> dict[int, str]:
        """The canonical texts by number."""
        written = enumerate(self.numbers.column("filter").to_pylist())
        fresh = {number: filter.text for number, filter in self._fresh.items()}
        return {number: text for number, text in written if text is not None} | fresh

    def write_down(self, ids: list[str], starts: Positions, texts: Any = None, owners: list[str] | None = None) -> None:
        """Appends rows for the numbers that follow, and turns their filters into texts unless the texts are given."""
        if texts is None and not self._fresh:
            texts = pa.nulls(len(ids), pa.large_string())
        if texts is None:
            first = len(self.numbers)
            fresh = [self._fresh.get(number) for number in range(first, first + len(ids))]
            texts = [None if filter is None else filter.text for filter in fresh]
            self._fresh.clear()
        self.numbers.append([ids, starts.copy(), texts, owners or [""] * len(ids)])

    def shrink(self, stop: Positions, committed: int) -> None:
        """Call after some were forgotten: drops texts that no position can need any more, if they are more than half of
        a chunk's."""
        if not self._forgotten:
            return
        self._forgotten = False
        for chunk in list(self.numbers):
            texts = chunk.rows.column("filter")
            there = texts.is_valid().to_numpy(zero_copy_only=False)
            gone = there & (stop[chunk.first : chunk.first + len(chunk)] <= committed)
            if 2 * np.count_nonzero(gone) > np.count_nonzero(there):
                kept = pc.if_else(pa.array(gone), pa.scalar(None, texts.type), texts)
                self.numbers.replace(chunk, "filter", kept)

    def mentioning(self, attributes: Iterable[str]) -> list[int]:
        """The numbers whose filters may test one of the attributes; for texts, a superset."""
        names = set(attributes)
        found = [number for number, filter in self._fresh.items() if names & _attributes(filter)]
        texts = self.numbers.column("filter")
        for name in names:
            written = name.replace('"', '""')  # as printed in quotes
            found += pc.indices_nonzero(pc.match_substring(texts, written)).to_pylist()
        return sorted(set(found))


def _attributes(filter: Filter) -> set[Any]:
    return {name for conjunction in filter.conjunctions for literal in conjunction for name in attributes_of(literal)}
