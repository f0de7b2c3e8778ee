"""Every type of problem that the service answers with: type, status, errors, meaning and remedy.

The table is problem_types.txt. `problems` looks an error up here; `/problems/{type}` and docs/reference/problems.md
show the rows. A type is part of the API and stays when an error's class is renamed, so the table lists classes by name;
importing them here would also be circular. An error without a row has the row of its nearest base.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException

PREFIX = "/problems/"
_TABLE = Path(__file__).with_name("problem_types.txt")
_HEAD = re.compile(r"(?P<status>\d{3}) (?P<name>[a-z0-9-]+)(: (?P<errors>[\w, ]+))?")


@dataclass(frozen=True, slots=True)
class ProblemType:
    """`errors` are names of classes."""

    name: str
    status: int
    errors: tuple[str, ...]
    meaning: str
    remedy: str

    @property
    def uri(self) -> str:
        return PREFIX + self.name

    @property
    def title(self) -> str:
        return self.name.replace("-", " ").capitalize()


def problem_type(error: BaseException | type[BaseException]) -> ProblemType:
    """Of an error of ours, or of what the web framework refuses by itself."""
    kind = error if isinstance(error, type) else type(error)
    found = _BY_CLASS.get(kind)
    if found is None:
        found = _looked_up(kind, error)
        if kind is not HTTPException:  # which has another type for each status
            _BY_CLASS[kind] = found
    return found


def _looked_up(kind: type[BaseException], error: BaseException | type[BaseException]) -> ProblemType:
    if isinstance(error, HTTPException) and kind is HTTPException:
        return _OF_STATUS.get(error.status_code, TYPES["bad-request"])
    for base in kind.__mro__:
        if base.__name__ in _BY_ERROR:
            return _BY_ERROR[base.__name__]
    return TYPES["internal-error"]


def _rows() -> Iterator[ProblemType]:
    """Each has three lines: status, type and errors; what it means; what to do."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    for head, meaning, remedy in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        found = _HEAD.fullmatch(head)
        assert found is not None, head
        errors = tuple(found["errors"].split(", ")) if found["errors"] else ()
        yield ProblemType(found["name"], int(found["status"]), errors, meaning.strip(), remedy.strip())


TYPES = {row.name: row for row in _rows()}
_BY_ERROR = {error: row for row in TYPES.values() for error in row.errors}
_OF_STATUS = {
    404: TYPES["not-found"],
    405: TYPES["method-not-allowed"],
    408: TYPES["request-timeout"],
    431: TYPES["headers-too-large"],
}
_BY_CLASS: dict[type[BaseException], ProblemType] = {}
