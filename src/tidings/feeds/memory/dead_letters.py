"""The dead letters of a feed: refused records, kept beside its state until they are published or dropped.

One JSON object a line, as `Rejects` writes them; of those beyond MOST or MOST_BYTES only digests of their ids are kept,
in the last line, so that they can be counted: MOST_BEYOND of them. Pages change and files are moved away; what was
refused stays here, so that a corrected mapping can try it again."""

from __future__ import annotations

import json
import time
from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.memory.rejects import rejected
from tidings.feeds.records.records import Located
from tidings.whole_file import whole_file

MOST = 10_000  # letters of one feed; beyond it the oldest are only counted
MOST_BYTES = 64 << 20  # of all letters, as they are written
MOST_BEYOND = 100_000  # letters that are counted so; from there on it is said that there are more
_BETWEEN = 10.0  # seconds between two writings

_At: TypeAlias = tuple[str, int, int]  # file, line, and number where the line is not known


class DeadLetters:
    """By the id of the event that each would have become. Raises OSError, or UnreadableFeed where a line is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.letters: dict[str, dict[str, Any]] = {}
        self._beyond: set[int] = set()  # digests of the ids of letters that had to go
        self.more = False  # whether some beyond are not even counted
        self._places: dict[_At, str] = {}  # which letter is of the record there
        self._sizes: dict[str, int] = {}  # of each letter, in bytes
        self._bytes = 0
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
                    self.more = bool(letter.get("more"))
                    continue
                self._put(str(letter["id"]), letter, len(line))
            except (ValueError, KeyError, TypeError):
                raise UnreadableFeed(str(path), f"line {number} is damaged; remove the file to continue") from None

    def __len__(self) -> int:
        return len(self.letters)

    @property
    def beyond(self) -> int:
        """How many more records were refused and not published since; they are not kept. A lower bound if `more`."""
        return len(self._beyond)

    def add(self, feed: str, place: str, found: Located, told: dict[str, Any], faults: Iterable[str]) -> None:
        id = str(told.get("id"))
        self.settle(id, place, found)
        letter = {**rejected(feed, place, found, told), "faults": list(faults)}
        self._put(id, letter, len(_line(letter)))
        while len(self.letters) > MOST or self._bytes > MOST_BYTES:
            oldest = next(iter(self.letters))
            self._remove(oldest)
            if len(self._beyond) < MOST_BEYOND:
                self._beyond.add(_digest(oldest))
            else:
                self.more = True
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
        self._remove(id)
        if self._beyond:
            self._beyond.discard(_digest(id))
            self.more = self.more and bool(self._beyond)
        self._changed = self._changed or len(self.letters) + len(self._beyond) < before

    def drop_all(self) -> None:
        for of_each in (self.letters, self._places, self._sizes, self._beyond):
            of_each.clear()
        self.more, self._bytes, self._changed = False, 0, True

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
                file.write(_line(letter) + b"\n")
            if self._beyond:
                digests = array("Q", self._beyond).tobytes().hex()
                file.write(_line({"beyond": digests, **({"more": True} if self.more else {})}) + b"\n")

    def _put(self, id: str, letter: dict[str, Any], size: int) -> None:
        self.letters[id], self._places[_at(letter)], self._sizes[id] = letter, id, size
        self._bytes += size

    def _remove(self, id: str) -> None:
        letter = self.letters.pop(id, None)
        if letter is not None:
            self._bytes -= self._sizes.pop(id)
            if self._places.get(_at(letter)) == id:
                del self._places[_at(letter)]


def _digest(id: str) -> int:
    return int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _line(letter: dict[str, Any]) -> bytes:
    return json.dumps(letter, default=repr).encode()


def _place(place: str, found: Located) -> _At:
    return (place, found.line, 0) if found.line else (place, 0, found.number)


def _at(letter: dict[str, Any]) -> _At:
    return letter["file"], letter.get("line", 0), letter.get("number", 0)


def letters_path(state: Path) -> Path:
    """Beside the state file."""
    return state.with_name(f"{state.name.removesuffix('.state')}.refused")
