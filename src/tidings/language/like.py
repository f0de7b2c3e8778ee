"""The patterns of `like`: `%` is any run of characters, `_` any one character, `\\` makes the next one itself.

`starts with` and `ends with` are such patterns too, so that one function decides which covers which. A pattern is a
list of segments between its `%`. The first and the last are at the ends of the value; each of the others is sought from
where the one before ended. That takes time in proportion to the value, whatever the pattern: one that is sought with
`_` in it has at most 1,000 characters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

# Unpaired surrogates, which no value has. In a segment `ANY` is any one character; in the picture of a pattern that
# another may cover `RUN` is any run.
ANY, RUN = "\ud800", "\ud801"
LONGEST_SOUGHT = 1_000


class LikePattern(NamedTuple):
    """At least one segment; with one, the value must fit it from its first to its last character."""

    segments: tuple[str, ...]

    @property
    def prefix(self) -> str:
        """The characters that every value begins with."""
        return self.segments[0].partition(ANY)[0]

    @property
    def suffix(self) -> str:
        return self.segments[-1].rpartition(ANY)[2]

    @property
    def is_prefix(self) -> bool:
        """Whether it says no more than how a value begins."""
        return len(self.segments) == 2 and not self.segments[1] and ANY not in self.segments[0]

    @property
    def is_suffix(self) -> bool:
        return len(self.segments) == 2 and not self.segments[0] and ANY not in self.segments[1]

    @property
    def is_value(self) -> bool:
        return len(self.segments) == 1 and ANY not in self.segments[0]

    @property
    def longest_sought(self) -> int:
        """The length of the longest segment with `_` that is between two `%`: the time to find it grows with it."""
        return max((len(one) for one in self.segments[1:-1] if ANY in one), default=0)

    def covers(self, narrower: LikePattern) -> bool:
        """Whether every value that fits the narrower one fits. Sound, not complete."""
        return fits(self, RUN.join(narrower.segments))


@lru_cache(maxsize=1024)
def pattern_of(form: str, text: str) -> LikePattern:
    """The pattern of `starts with`, `ends with` or `like`; raises ValueError for a final backslash."""
    match form:
        case "starts":
            return LikePattern((text, ""))
        case "ends":
            return LikePattern(("", text))
    segments = [""]
    characters = iter(text)
    for character in characters:
        if character == "%":
            if len(segments) == 1 or segments[-1]:  # `%%` is `%`
                segments.append("")
            continue
        if character == "\\":
            escaped = next(characters, None)
            if escaped is None:
                raise ValueError(r"a final \ escapes nothing")
            segments[-1] += escaped
        else:
            segments[-1] += ANY if character == "_" else character
    return LikePattern(tuple(segments))


def fits(pattern: LikePattern, value: str) -> bool:
    return fitted(pattern, value) is not None


def fitted(pattern: LikePattern, value: str) -> list[tuple[int, int]] | None:
    """Where each segment stands in the value; None if the value does not fit."""
    first, last = pattern.segments[0], pattern.segments[-1]
    begin, end = len(first), len(value) - len(last)
    if len(pattern.segments) == 1:
        return [(0, begin)] if begin == len(value) and _stands(first, value, 0) else None
    if begin > end or not _stands(first, value, 0) or not _stands(last, value, end):
        return None
    found = [(0, begin)]
    for segment in pattern.segments[1:-1]:
        at = _place(segment, value, begin, end)
        if at < 0:
            return None
        begin = at + len(segment)
        found.append((at, begin))
    return [*found, (end, len(value))]


def _stands(segment: str, value: str, at: int) -> bool:
    if ANY not in segment:
        return value.startswith(segment, at)
    pairs = zip(segment, value[at : at + len(segment)], strict=True)
    return all(one == other or (one == ANY and other != RUN) for one, other in pairs)


def _place(segment: str, value: str, begin: int, end: int) -> int:
    """Where the segment stands first; -1 if nowhere."""
    if ANY not in segment:
        return value.find(segment, begin, end)
    # All places at once: bit i says that the segment's first i + 1 characters end here (Baeza-Yates and Gonnet).
    anything = sum(1 << place for place, one in enumerate(segment) if one == ANY)
    masks = {RUN: 0}
    for place, one in enumerate(segment):
        if one != ANY:
            masks[one] = masks.get(one, anything) | 1 << place
    state, whole = 0, 1 << (len(segment) - 1)
    for at in range(begin, end):
        state = (state << 1 | 1) & masks.get(value[at], anything)
        if state & whole:
            return at + 1 - len(segment)
    return -1
