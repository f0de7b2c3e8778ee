"""The dead letters of a feed: refused records, kept beside its state until they are published or dropped.

One JSON object a line, as `Rejects` writes them; of those beyond MOST only digests of their ids are kept, in the last
line, so that they can be counted. Pages change and files are moved away; what was refused stays here, so
that a corrected mapping can try it again."""

from __future__ import annotations

import json
import time
from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.memory.rejects import rejected
from tidings.feeds.records.records import Located
from tidings.whole_file import whole_file

MOST = 10_000  # letters of one feed; beyond it the oldest are only counted
_BETWEEN = 10.0  # seconds between two writings


class DeadLetters:
    """By the id of the event that each would have become. Raises OSError, or UnreadableFeed where a line is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.letters: dict[str, dict[str, Any]] = {}
        self._beyond: set[int] = set()  # digests of the ids of letters that had to go
        self._places: dict[tuple[str, int, int], str] = {}  # which letter is of the record there
        self._changed, self._written = False, time.monotonic()
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return
        for number, line in enumerate(lines, 1):
            try:
                letter = json.loads(line)
                if "beyond" in letter:
                    self._beyond = set(array("Q", bytes.fromhex(letter["beyond"])))
                    continue
                self.letters[str(letter["id"])] = letter
                self._places[(letter["file"], letter.get("line", 0), letter.get("number", 0))] = str(letter["id"])
            except (ValueError, KeyError, TypeError):
                raise UnreadableFeed(str(path), f"line {number} is damaged; remove the file to continue") from None

    def __len__(self) -> int:
        return len(self.letters)

    @property
    def beyond(self) -> int:
        """How many more records were refused and not published since; they are not kept."""
        return len(self._beyond)

    def add(self, feed: str, place: str, found: Located, told: dict[str, Any], faults: Iterable[str]) -> None:
        id = str(told.get("id"))
        self.settle(id, place, found)
        self._places[_place(place, found)] = id
        self.letters[id] = {**rejected(feed, place, found, told), "faults": list(faults)}
        while len(self.letters) > MOST:
            oldest = next(iter(self.letters))
            del self.letters[oldest]
            self._beyond.add(_digest(oldest))
        self._changed = True

    def settle(self, id: str, place: str, found: Located) -> None:
        """It was published; also where it was refused under another id, as before the mapping named one."""
        if not self.letters and not self._beyond:
            return
        self.drop(id)
        other = self._places.get(_place(place, found))
        if other in self.letters:
            before = self.letters[other]["record"]
            if all(list(values) == list(before[path]) for path, values in found.record.items() if path in before):
                self.drop(other)

    def drop(self, id: str) -> None:
        before = len(self.letters) + len(self._beyond)
        self.letters.pop(id, None)
        if self._beyond:
            self._beyond.discard(_digest(id))
        self._changed = self._changed or len(self.letters) + len(self._beyond) < before

    def drop_all(self) -> None:
        self.letters.clear()
        self._beyond.clear()
        self._changed = True

    def update(self, id: str, told: dict[str, Any], faults: Iterable[str]) -> None:
        """It was refused again."""
        self.letters[id] |= {"errors": told["errors"], "faults": list(faults)}
        self._changed = True

    def faults(self) -> Counter[str]:
        return Counter(fault for letter in self.letters.values() for fault in letter["faults"])

    def keep(self, at_once: bool = False) -> None:
        """Writes them, now and then; no file where there are none. Raises OSError."""
        if not self._changed or (not at_once and time.monotonic() < self._written + _BETWEEN):
            return
        self._written, self._changed = time.monotonic(), False
        if not self.letters and not self._beyond:
            self.path.unlink(missing_ok=True)
            return
        with whole_file(self.path) as file:
            for letter in self.letters.values():
                file.write(json.dumps(letter, default=repr).encode() + b"\n")
            if self._beyond:
                digests = array("Q", self._beyond).tobytes().hex()
                file.write(json.dumps({"beyond": digests}).encode() + b"\n")


def _digest(id: str) -> int:
    return int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _place(place: str, found: Located) -> tuple[str, int, int]:
    return (place, found.line, 0) if found.line else (place, 0, found.number)


def letters_path(state: Path) -> Path:
    """Beside the state file."""
    return state.with_name(f"{state.name.removesuffix('.state')}.refused")
