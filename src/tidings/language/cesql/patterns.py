r"""The patterns of LIKE: `%` any run of characters, `_` any one, `\%` and `\_` these characters themselves; every other
backslash is one. The time to match is bounded by the value's length times the pattern's."""

from __future__ import annotations

import re
from functools import lru_cache

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
    return _compiled(pattern).fullmatch(text) is not None


@lru_cache(1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Each stretch between two `%` is taken where it first occurs and never tried elsewhere (an atomic group)."""
    stretches: list[str] = [""]
    for kind, text in parts_of(pattern):
        if kind == "any":
            stretches.append("")
        else:
            stretches[-1] += "." if kind == "one" else re.escape(text)
    first, *middle, last = stretches if len(stretches) > 1 else (*stretches, "")
    if len(stretches) == 1:
        return re.compile(first, re.DOTALL)
    return re.compile(first + "".join(f"(?>.*?{one})" for one in middle if one) + f".*{last}", re.DOTALL)
