"""A folder whose new and changed files are read, or one file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tidings.feeds.errors import SourceUnreachable, UnreadableFeed
from tidings.feeds.records.records import LARGEST
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.large_file import BROKEN, LargeFile, is_large

_MOST_FILES = 100_000  # remembered besides those that are there
_START = 1 << 20  # bytes of a large file, by which its format and encoding are known

Mark: TypeAlias = tuple[int, int, int]


class FolderSource:
    """Each file once, oldest first, and again when it has changed; hidden files and `*.part` are not looked at.

    `settled`: seconds for which a file has not changed, so whoever writes it is done. A look waits for that for
    `patience` seconds in all; without it the file is left for the next look."""

    def __init__(
        self,
        folder: Path,
        pattern: str,
        settled: float,
        clock: Callable[[], float] = time.time,
        one: bool = False,
        patience: float = 0.0,
    ) -> None:
        self.folder, self._pattern, self._settled, self._clock, self._one = folder, pattern, settled, clock, one
        self._patience = patience
        self._read: dict[str, Mark] = {}
        self._offered: dict[str, Mark] = {}
        self._ahead: dict[str, Mark] = {}

    def look(self, stop: threading.Event | None = None) -> Iterator[Content]:
        """A file that cannot be opened holds up no other, and is told at the end."""
        problem: SourceUnreachable | None = None
        names = self._names()
        self._forget(names)
        before, self._ahead = self._ahead, {}
        left = self._patience
        unread = [name for name in names if not self._is_read(name)]
        for number, name in enumerate(unread, 1):
            path = self.folder / name
            try:
                mark = _mark(path)
                if not self._is_settled(name, mark, before):
                    settled, left = self._waited_for(path, mark, left, stop)
                    if settled is None:
                        if self._patience:
                            problem = SourceUnreachable(str(path), "it is still being written, so it was left out")
                        continue
                    mark = settled
                with path.open("rb") as file:
                    body = file.read(LARGEST + 1)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as failed:
                problem = SourceUnreachable(str(path), failed.strerror or str(failed))
                continue
            self._offered = {str(path): mark}
            yield _content(path, body, number, len(unread))
        if problem is not None:
            raise problem

    def _is_read(self, name: str) -> bool:
        try:
            return self._read.get(name) == _mark(self.folder / name)
        except OSError:
            return False

    def _is_settled(self, name: str, mark: Mark, before: dict[str, Mark]) -> bool:
        age = self._clock() - mark[1] / 1e9
        if not self._settled or age >= self._settled:
            return True
        if age < 0:  # the clock was set back; then it counts that nothing changed between two looks
            self._ahead[name] = mark
            return before.get(name) == mark
        return False

    def _waited_for(
        self, path: Path, mark: Mark, left: float, stop: threading.Event | None
    ) -> tuple[Mark | None, float]:
        """The file's mark once it has stayed the same, None if it has not, and the patience that is left then."""
        waiting = stop or threading.Event()
        while left >= self._settled and not waiting.wait(self._settled):
            left -= self._settled
            before, mark = mark, _mark(path)
            if mark == before:
                return mark, left
        return None, left

    def _names(self) -> list[str]:
        if self._one:
            if not (self.folder / self._pattern).is_file():
                raise SourceUnreachable(
                    str(self.folder / self._pattern), "no such file; correct the path in the mapping"
                )
            return [self._pattern]
        try:
            found = [path for path in self.folder.glob(self._pattern) if path.is_file()]
        except OSError as problem:
            raise SourceUnreachable(str(self.folder), problem.strerror or str(problem)) from None
        if not self.folder.is_dir():
            raise SourceUnreachable(str(self.folder), "no such folder; correct the path in the mapping")
        names = [path.relative_to(self.folder).as_posix() for path in found if path.suffix != ".part"]
        shown = (name for name in names if not any(part.startswith(".") for part in name.split("/")))
        return sorted(shown, key=lambda name: (_age(self.folder / name), name))

    def _forget(self, names: list[str]) -> None:
        """Files that are gone, once there are many: a folder that is not mounted now may be so again."""
        if len(self._read) > len(names) + _MOST_FILES:
            there = set(names)
            self._read = {name: mark for name, mark in self._read.items() if name in there}

    def done(self, content: Content) -> None:
        mark = self._offered.get(content.place)
        if mark is not None:
            self._read[self._name(content.place)] = mark

    def again(self, place: str) -> None:
        self._read.pop(self._name(place), None)

    def _name(self, place: str) -> str:
        return Path(os.path.relpath(place, self.folder)).as_posix()

    def kept(self, without: set[str]) -> dict[str, Any]:
        return {name: list(mark) for name, mark in self._read.items() if str(self.folder / name) not in without}

    def restore(self, kept: dict[str, Any]) -> None:
        self._read = {name: (size, changed, touched) for name, (size, changed, touched) in kept.items()}

    def close(self) -> None:
        pass


def _content(path: Path, body: bytes, number: int, of: int) -> Content:
    """Of a file that begins so, or is that."""
    if is_large(str(path), body):
        try:
            large = LargeFile(path)
            return Content(str(path), large.start(_START), "", number, of, large)
        except (UnreadableFeed, *BROKEN):
            pass  # the reader reports why
    return Content(str(path), body, "", number, of)


def _mark(path: Path) -> Mark:
    """The time of the last change of whatever kind too: a file may be replaced by one of its size and age."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
