"""A folder into which files of events are moved: `files:FOLDER`.

Spark's file source lists it and remembers in its checkpoint which files were taken; only their names travel through
Spark, and workers read the files themselves. A file is taken once, under its name; it must be moved in whole (written
elsewhere on the same disk, or under a name that begins with a dot, then renamed), since what is half written would be
taken half. Names that begin with `.` or `_`, of folders too, are left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.errors import Explained, PipelineError
from tidings.events.files.reading import raw_chunks
from tidings.events.validation import MOST_VALUES
from tidings.pipeline.ingest.arrivals import Arrived, Clock, arrived, unreadable
from tidings.schema import Catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILES = "path string, modificationTime timestamp, length long, content binary"
_FOR_EVER = "36500d"  # else a file that is a week older than the newest one would be passed over without a word
_GLOB = str.maketrans({mark: f"\\{mark}" for mark in "\\*?[]{}"})


class NoFolder(Explained, PipelineError):
    folder: str
    template = "no folder {folder} to read files from; create it, or name another"


@dataclass(frozen=True, slots=True)
class FolderSource:
    """`most`: files in one batch; `most_values` as in `validate`."""

    folder: Path
    most: int = 1_000
    most_values: int = MOST_VALUES

    trigger = "1 second"  # each look lists the folder

    def __str__(self) -> str:
        return f"files:{self.folder}"

    def stream(self, spark: SparkSession) -> DataFrame:
        if not self.folder.is_dir():
            raise NoFolder(str(self.folder))
        return (
            spark.readStream.format("binaryFile")
            .schema(_FILES)
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", str(self.most))
            .option("maxFileAge", _FOR_EVER)
            .load(str(self.folder.resolve()).translate(_GLOB))
            .select("path")
        )

    def arrivals(self, rows: Iterator[Any], catalog: Callable[[], Catalog], clock: Clock | None) -> Iterator[Arrived]:
        """The files that the rows name, each chunk by chunk under the catalog that is the newest when it is opened."""
        folder = self.folder.resolve()
        for batch in rows:
            for name in batch.column("path").to_pylist():
                path = Path("/" + name.removeprefix("file:").lstrip("/"))
                relative = path.relative_to(folder)
                if not any(part.startswith((".", "_")) for part in relative.parts):
                    yield from _of_file(path, relative.as_posix(), catalog(), clock, self.most_values)


def _of_file(path: Path, origin: str, catalog: Catalog, clock: Clock | None, most_values: int) -> Iterator[Arrived]:
    try:
        for chunk in raw_chunks(path, catalog):
            yield arrived(origin, chunk, catalog, clock, most_values)
    except Exception as problem:  # whatever is wrong with one file, it must not stop the others for ever
        yield unreadable(origin, catalog, problem)
