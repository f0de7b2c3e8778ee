"""What the readers of all file forms have in common: the chunk that each of them makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidings.errors import EventError, suggestion
from tidings.events.columns import RawColumns
from tidings.events.refusal import Refused
from tidings.events.validation import MEMBERS
from tidings.schema import Catalog
from tidings.schema.catalog import EVENT_TYPE

ENVELOPE_COLUMNS = tuple(name for name in MEMBERS if name != "attributes")


@dataclass(frozen=True)
class Chunk:
    """Rows of a file: their raw columns, the line of each, and what was refused before it could be a row."""

    columns: RawColumns
    lines: Sequence[int]
    refused: list[Refused] = field(default_factory=list)


class WrongHeader(EventError):
    """The columns of a file do not fit the schema: its name, and each thing that is wrong with them."""

    def __init__(self, file: str, problems: tuple[str, ...]) -> None:
        super().__init__(file, problems)

    def __str__(self) -> str:
        file, problems = self.args
        return f"{file}: " + "; ".join(problems)


def check_header(names: Sequence[str], catalog: Catalog, file: str) -> None:
    """Raises WrongHeader. A wrong column is the file's fault, not that of each of its rows."""
    own = tuple(attribute.name for attribute in catalog.attributes)
    problems = [f"the column {name!r} is missing" for name in ("id", EVENT_TYPE) if name not in names]
    for number, name in enumerate(names):
        if name in names[:number]:
            problems.append(f"the column {name!r} occurs twice")
        elif name not in ENVELOPE_COLUMNS and name not in own:
            problems.append(f"no attribute {name!r}{suggestion(name, (*ENVELOPE_COLUMNS, *own))}")
    if len(names) == 1:
        for separator, word in ((";", "semicolons"), ("\t", "tabs")):
            if separator in names[0]:
                problems = [f"its columns are separated by {word}; separate them by commas"]
    if problems:
        raise WrongHeader(file, tuple(problems))
