"""A mapping: where a feed comes from, where its records are, and which event each of them becomes.

`mapping_file` reads it from TOML, `mapping_text` writes it, `event_maker` applies it, `infer` proposes one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tidings.schema import Kind

FORMATS = ("csv", "json", "xml", "html", "icalendar", "log")
EVERY = 60.0  # seconds between two looks at a source
GROW_LIMIT = 1_000
OUTER = "^"
ON_BAD = ("refuse", "missing")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the bytes of a source are cut into records. `records` leads to them; of CSV the rows are.

    With `each` the records are what it leads to inside those, and a path that begins with OUTER looks into the one
    around."""

    format: str
    records: str = ""
    delimiter: str = ","
    encoding: str = ""  # empty: what the source says, else what its bytes look like
    each: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the bytes come from: exactly one of url, folder and file."""

    url: str = ""
    folder: Path | None = None
    file: Path | None = None
    pattern: str = "*"  # of the files in a folder
    every: float = EVERY

    def __str__(self) -> str:
        return self.url or str(self.folder or self.file)


@dataclass(frozen=True, slots=True)
class Reading:
    """How what stands in a record is read as a value."""

    path: str = ""
    constant: str | int | float | None = None  # instead of a path
    strip: bool = True
    lower: bool = False
    split: str = ""  # one text with several values
    decimal: str = "."
    unit: tuple[str, ...] = ()  # of numbers: the only ones that may stand beside them; none: any known one
    time_format: tuple[str, ...] = ()  # of `strptime`, or `rfc822`, `epoch` or `epoch-ms`; none: ISO 8601
    zone: str = ""  # of times that say none; empty: UTC
    missing: tuple[str, ...] = ()  # texts that say that there is no value, such as NA
    pattern: str = ""  # a regular expression with one group, which finds the value in its text
    replace: tuple[tuple[str, str], ...] = ()  # whole texts, after the pattern
    on_bad: str = ""  # of ON_BAD; empty: `missing` for optional attributes, else `refuse`


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute of the events."""

    attribute: str
    reading: Reading
    kind: Kind | None = None  # None: what the schema says
    domain: str = ""  # of an attribute that the feed creates; empty: one of the attribute's name
    mandatory: bool = False
    several: bool = False
    grow: bool = False  # unseen values may be appended to the domain
    parent: str = ""  # hierarchical: the path to the node above
    path: str | bool = False  # hierarchical: the separator of the names in one text; True: a list has the names
    open: bool = False  # enumerated: any text is a value, in a domain that the feed creates
    longitude: str = ""  # place: the path to it; then the reading's path leads to the latitude


@dataclass(frozen=True, slots=True)
class Mapping:
    """`name` is its file's, without the ending; where no source is named it is that of the events."""

    name: str
    origin: Origin
    layout: Layout
    event_types: tuple[str, ...]
    fields: tuple[Field, ...]
    source: str = ""
    contact: str = ""
    id: tuple[str, ...] = ()  # paths; none: a digest of the record
    time: Reading | None = None
    grow_limit: int = GROW_LIMIT  # values appended in one run
    file: str = field(default="", compare=False)

    @property
    def paths(self) -> tuple[str, ...]:
        """All that have to be read of a record."""
        wanted = [*self.id, *(path for one in self.fields for path in (one.reading.path, one.parent, one.longitude))]
        if self.time is not None:
            wanted.append(self.time.path)
        return tuple(dict.fromkeys(path for path in wanted if path))
