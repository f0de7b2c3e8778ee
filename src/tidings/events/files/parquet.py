"""Parquet to raw columns: named as in CSV, typed as `arrow_columns` says, read by batches of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.events.arrow_columns import rows_of
from tidings.events.files.chunk import Chunk, check_header
from tidings.events.files.lines import DamagedFile, EmptyFile, ForeignFile
from tidings.schema import Catalog


def parquet_chunks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Chunk]:
    """The file's rows in chunks of at most so many."""
    try:
        file = pq.ParquetFile(stream)
    except (pa.ArrowException, OSError) as problem:
        if "size is 0 bytes" in str(problem):
            raise EmptyFile(name) from None
        raise ForeignFile(name, f"no Parquet file ({problem})") from None
    check_header(file.schema_arrow.names, catalog, name)
    done = 0
    batches = file.iter_batches(batch_size=rows)
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as problem:
            raise DamagedFile(name, f"row {done}", str(problem)) from None
        if batch is None:
            return
        yield Chunk(rows_of(batch), range(done + 1, done + len(batch) + 1))
        done += len(batch)
