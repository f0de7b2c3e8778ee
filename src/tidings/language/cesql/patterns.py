r"""The patterns of LIKE: `%` any run of characters, `_` any one, `\%` and `\_` these characters themselves; every other
backslash is one. They are matched like those of `like`."""

from __future__ import annotations

import re
from functools import lru_cache

from tidings.language.like import ANY, LikePattern, fits

_PART = re.compile(r"\\[%_]|%+|_|[^%_\\]+|\\")


def parts_of(pattern: str) -> list[tuple[str, str]]:
    """Kind and text of each part: `fixed`, `any` (`%`) or `one` (`_`)."""
    parts: list[tuple[str, str]] = []
    for found in _PART.findall(pattern):
        if found[0] == "%":
            parts.append(("any", ""))
        elif found == "_":
            parts.append(("one", ""))
        else:
            fixed = found[1] if len(found) == 2 and found[0] == "\\" else found
            if parts and parts[-1][0] == "fixed":
                fixed = parts.pop()[1] + fixed
            parts.append(("fixed", fixed))
    return parts


def matches_pattern(text: str, pattern: str) -> bool:
    return fits(like_pattern(pattern), text)


@lru_cache(1024)
def like_pattern(pattern: str) -> LikePattern:
    segments = [""]
    for kind, text in parts_of(pattern):
        if kind == "any":
            segments.append("")
        else:
            segments[-1] += ANY if kind == "one" else text
    return LikePattern(tuple(segments))
