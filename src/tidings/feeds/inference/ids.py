"""Which columns tell all records of a source apart: the sample proposes them, the whole source decides."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice

from tidings.feeds.event_maker import first_text
from tidings.feeds.records.json_values import Damaged
from tidings.feeds.records.records import Record

_NAMED = re.compile(r"(?:.*[_ -])?(?:id|guid|uuid|key|number|nr)", re.IGNORECASE)
_LIKE_AN_ID = re.compile(r"[\w-]{1,64}")  # neither a sentence nor a fraction nor a time of day
_ENOUGH = 20  # records; in fewer, most columns are unique
_MOST_TRIED = 5  # columns
_MOST_COMPARED = 20_000_000  # texts, of which 8 bytes each are kept


class Repeats:
    """How many texts repeat an earlier one, by hashes of 64 bits: of a million texts it is wrong once in 10^7 times."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def see(self, text: str | tuple[str, ...]) -> None:
        if len(self._hashes) < _MOST_COMPARED:
            self._hashes.append(hash(text))

    @property
    def count(self) -> int:
        import numpy as np

        return len(self._hashes) - len(np.unique(np.frombuffer(self._hashes, np.int64))) if self._hashes else 0


def candidates(sample: list[Record], names: dict[str, str]) -> tuple[list[str], list[str]]:
    """The columns that tell the records of a sample apart: those called like an id, and those that only look so."""
    named = (path for path, name in names.items() if _NAMED.fullmatch(name) and _tells_apart(sample, path))
    others = (path for path in names if len(sample) >= _ENOUGH and _tells_apart(sample, path, _LIKE_AN_ID))
    first = list(islice(named, _MOST_TRIED))
    return first, [path for path in islice(others, _MOST_TRIED) if path not in first]


def tell_apart(paths: tuple[str, ...], records: Iterable[Record]) -> bool:
    """Whether these paths make an id: every record has them, and no two the same."""
    repeats = Repeats()
    for record in _whole(records):
        id = tuple(first_text(record, path) for path in paths)
        if not all(id):
            return False
        repeats.see(id)
    return not repeats.count


def unique(paths: list[str], records: Iterable[Record]) -> list[str]:
    """Those of which each record has one value that no other has; all records are gone through once."""
    repeats = {path: Repeats() for path in paths}
    for record in _whole(records):
        for path in list(repeats):
            text = first_text(record, path) if len(record.get(path, ())) == 1 else ""
            if text:
                repeats[path].see(text)
            else:
                del repeats[path]
        if not repeats:
            return []
    return [path for path, found in repeats.items() if not found.count]


def _tells_apart(records: list[Record], path: str, form: re.Pattern[str] | None = None) -> bool:
    """Whether each record has one value there that no other has."""
    seen: set[str] = set()
    for record in _whole(records):
        text = first_text(record, path) if len(record.get(path, ())) == 1 else ""
        if not text or text in seen or (form is not None and not form.fullmatch(text)):
            return False
        seen.add(text)
    return True


def _whole(records: Iterable[Record]) -> Iterator[Record]:
    return (record for record in records if type(record) is not Damaged)
