"""Where direct matching leaves the events it refuses: in the store, or as JSON Lines in a folder.

Called in Spark's workers, task by task."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from tidings.store import DeadLetter, Store
from tidings.whole_file import whole_file


@dataclass(frozen=True, slots=True)
class LettersInStore:
    url: str

    def open(self, name: str) -> OpenBox:
        return OpenBox(self, name)


@dataclass(frozen=True, slots=True)
class LettersInFolder:
    """One file for each task that refused something; it appears when the task has done all."""

    folder: Path

    def open(self, name: str) -> OpenBox:
        return OpenBox(self, name)


LetterBox = LettersInStore | LettersInFolder


class OpenBox:
    """A letter box as one task has it open; `name` tells its file from those of other tasks."""

    def __init__(self, box: LetterBox, name: str) -> None:
        self._box = box
        self._name = name
        self._stack = ExitStack()
        self._store: Store | None = None
        self._file: BinaryIO | None = None

    def __enter__(self) -> OpenBox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, problem, trace)

    def put(self, letters: list[DeadLetter]) -> None:
        """What is not needed is not made: without letters there is neither a connection nor a file."""
        if not letters:
            return
        match self._box:
            case LettersInStore(url):
                if self._store is None:
                    self._store = self._stack.enter_context(Store.open(url))
                self._store.bury(letters)
            case LettersInFolder(folder):
                if self._file is None:
                    folder.mkdir(parents=True, exist_ok=True)
                    self._file = self._stack.enter_context(whole_file(folder / f"{self._name}.jsonl"))
                self._file.writelines(msgspec.json.encode(_as_json(letter)) + b"\n" for letter in letters)


def _as_json(letter: DeadLetter) -> dict[str, Any]:
    plain = {name: _text(value) for name, value in asdict(letter).items() if name != "errors"}
    return {**plain, "errors": [error.as_json() for error in letter.errors]}


def _text(value: str | None) -> str | None:
    return (
        None if value is None else value.encode("utf-8", "replace").decode()
    )  # halves of characters cannot be written
