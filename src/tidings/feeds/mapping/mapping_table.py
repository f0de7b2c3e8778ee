"""One table of a mapping file, read key by key; every complaint names the file, the key and what was expected."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

from tidings.errors import one_of, shown, suggestion
from tidings.feeds.errors import WrongMapping

T = TypeVar("T")


class Table:
    """`prefix` is what stands before its keys in the file, `root` the whole file."""

    def __init__(
        self, file: str, prefix: str, raw: dict[str, Any], known: Iterable[str], root: dict[str, Any] | None = None
    ) -> None:
        self.file, self.prefix, self.raw = file, prefix, raw
        self.root = raw if root is None else root
        for key in raw:
            if key not in known:
                raise self.wrong(key, f"unknown key{suggestion(key, tuple(known))}")

    def wrong(self, key: str, problem: str) -> WrongMapping:
        return WrongMapping(self.file, self.prefix + key, problem)

    def _typed(self, key: str, default: T, kinds: Any, expected: str) -> T:
        value: Any = self.raw.get(key, default)
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise self.wrong(key, f"expected {expected}, got {shown(value)}")
        found: T = value
        return found

    def text(self, key: str, default: str = "") -> str:
        return self._typed(key, default, str, "text")

    def flag(self, key: str, default: bool) -> bool:
        return self._typed(key, default, bool, "true or false")

    def number(self, key: str, default: float) -> float:
        value = self._typed(key, default, (int, float), "a number")
        if not math.isfinite(value):
            raise self.wrong(key, "expected a number")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.raw.get(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
            raise self.wrong(key, f"expected text or a list of texts, got {shown(value)}")
        return tuple(dict.fromkeys(listed))

    def table(self, key: str) -> dict[str, Any]:
        return self._typed(key, {}, dict, "a table")

    def choice(self, key: str, legal: tuple[str, ...]) -> str:
        value = self.text(key)
        if value and value not in legal:
            raise self.wrong(key, f"expected {one_of(legal)}, got {shown(value)}")
        return value
