"""Where something stands in JSON: `/data/items`, `seller/name`, `offers/*/price`, by the rules of a JSON pointer.

`~1` is a slash in a name and `~0` a tilde; a number counts in a list from 0; `*` is every element of a list. A field
may leave out the first slash. The empty path is the value itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidings.feeds.errors import WrongPath

_MOST_STEPS = 20


@dataclass(frozen=True, slots=True)
class JsonPath:
    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """Raises WrongPath."""
        if not text:
            return cls(())
        words = text.removeprefix("/").split("/")
        if len(words) > _MOST_STEPS:
            raise WrongPath(text, f"has more than {_MOST_STEPS} steps")
        for word in words:
            if "~" in word.replace("~0", "").replace("~1", ""):
                raise WrongPath(text, "has a lone ~; write ~0 for it, and ~1 for a slash in a name")
        return cls(tuple(word.replace("~1", "/").replace("~0", "~") for word in words))

    def values(self, root: Any) -> Iterator[Any]:
        """What stands there; nothing where a step leads nowhere."""
        if len(self.steps) == 1 and isinstance(root, dict):  # as most do
            if self.steps[0] in root:
                yield root[self.steps[0]]
            return
        waiting = [root]
        for step in self.steps:
            below: list[Any] = []
            for at in waiting:
                below += _below(at, step)
            waiting = below
        yield from waiting


def written(*steps: str) -> str:
    """The path of these names."""
    return "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)


def _below(at: Any, step: str) -> list[Any]:
    if isinstance(at, dict):
        return [at[step]] if step in at else []
    if not isinstance(at, list):
        return []
    if step == "*":
        return at
    if step.isascii() and step.isdecimal() and len(step) < 10 and int(step) < len(at):
        return [at[int(step)]]
    return []
