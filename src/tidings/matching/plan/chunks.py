"""Append-only rows in immutable chunks, which plans can share as they share segments.

Chunks of similar size are joined with their predecessor, up to a limit. This keeps chunks few and makes appending a row
cheap."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

_ALIKE = 4


@dataclass(frozen=True, eq=False)
class Chunk:
    """The rows from `first` on."""

    first: int
    rows: Any  # an Arrow record batch

    def __len__(self) -> int:
        return len(self.rows)


class Chunks:
    """Chunks are joined up to `largest` rows; rows appended at once may be four times as many."""

    def __init__(self, schema: Any, chunks: Iterable[Chunk] = (), largest: int = 1 << 18) -> None:
        self._schema, self._largest = schema, largest
        self._chunks = list(chunks)

    def __len__(self) -> int:
        """The number of rows."""
        return self._chunks[-1].first + len(self._chunks[-1]) if self._chunks else 0

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks)

    def append(self, columns: list[Any]) -> None:
        """Appends rows, given as a list or an array for each column."""
        arrays = [pa.array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
        rows = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        at_once = 4 * self._largest
        for start in range(0, len(rows), at_once):
            self._chunks.append(Chunk(len(self), rows.slice(start, at_once)))
        while len(self._chunks) > 1 and self._alike():
            before, last = self._chunks[-2:]
            self._chunks[-2:] = [Chunk(before.first, _joined([before.rows, last.rows]))]

    def replace(self, chunk: Chunk, column: str, values: Any) -> None:
        """Replaces a column of the chunk; a saved copy of the chunk is then stale."""
        place = next(place for place, one in enumerate(self._chunks) if one is chunk)
        at = self._schema.get_field_index(column)
        self._chunks[place] = Chunk(chunk.first, chunk.rows.set_column(at, self._schema.field(at), values))

    def cell(self, row: int, column: str) -> Any:
        """One value; None if it is null."""
        chunk = self._chunks[bisect_right(self._chunks, row, key=lambda one: one.first) - 1]
        return chunk.rows.column(column)[row - chunk.first].as_py()

    def column(self, name: str) -> Any:
        """All rows of a column, as a chunked Arrow array."""
        kind = self._schema.field(name).type
        return pa.chunked_array([chunk.rows.column(name) for chunk in self._chunks], kind)

    def _alike(self) -> bool:
        before, last = len(self._chunks[-2]), len(self._chunks[-1])
        return before < _ALIKE * last and before + last <= self._largest


def _joined(batches: list[Any]) -> Any:
    (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined
