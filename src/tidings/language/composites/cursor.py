"""The parser's place in a composite's tokens, and the small things that it reads. The words of composites are keywords
only where they are due: attributes and values may have the same names."""

from __future__ import annotations

from tidings.language.composites.errors import (
    FrameMissing,
    FrameOutOfBounds,
    UnknownProfile,
    UnknownUnit,
    WrongCount,
    WrongSelection,
)
from tidings.language.composites.limits import CompositeLimits
from tidings.language.composites.profiles import Defaults, Profiles, read_options
from tidings.language.composites.tree import Select, Selection
from tidings.language.parser import FilterParser
from tidings.schema.values import UNITS, Span


class CompositeCursor(FilterParser):
    __slots__ = ("defaults", "limits")
    whole = "composite"

    def __init__(self, text: str, limits: CompositeLimits) -> None:
        super().__init__(text)
        self.limits = limits
        self.defaults: Defaults | None = None

    def inherited(self, profiles: Profiles) -> Defaults | None:
        """What `using NAME` at the end says: it must be known before the operators are read."""
        if len(self.kinds) < 4 or self.written[-3].lower() != "using" or self.kinds[-2] not in ("name", "quoted"):
            return None
        name = self.written[-2] if self.kinds[-2] == "name" else self.written[-2][1:-1].replace('""', '"')
        if name not in profiles:
            raise UnknownProfile(self.text, self.offsets[-2], name, tuple(sorted(profiles)))
        return read_options(profiles[name])

    def select(self) -> Select:
        left = self.selection()
        if not self.at_mark(","):
            raise WrongSelection(self.text, self.offsets[self.next], self.limits.count)
        self.next += 1
        return Select(left, self.selection())

    def selection(self) -> Selection:
        at, written = self.offsets[self.next], self.written[self.next].lower()
        self.next += 1
        if written == "all" or written == "last":
            return "all" if written == "all" else "last"
        if written == "first":
            return 1
        if not (written.isdecimal() and len(written) < 10 and 1 <= int(written) <= self.limits.count):
            raise WrongSelection(self.text, at, self.limits.count)
        return int(written)

    def count(self, where: str, least: int, limit: int) -> int:
        at, written = self.offsets[self.next], self.written[self.next]
        if not (written.isdecimal() and len(written) < 20 and least <= int(written) <= limit):
            raise WrongCount(self.text, at, where, least, limit)
        self.next += 1
        return int(written)

    def own_frame(self, what: str) -> Span:
        if not self.word("within"):
            if self.defaults is not None:
                return self.defaults.within
            raise FrameMissing(self.text, self.offsets[self.next], what, "")
        return self.bounded("within", self.limits.frame)

    def bounded(self, option: str, limit: int) -> Span:
        at = self.offsets[self.next]
        span = self.span(option)
        if not 0 < span <= limit:
            raise FrameOutOfBounds(self.text, at, option, Span(limit))
        return span

    def span(self, option: str) -> Span:
        at = self.offsets[self.next]
        made = self.with_unit(self.number(f"a span, e.g. {option} 10 min"), at)
        if isinstance(made, Span):
            return made
        if self.kinds[self.next] == "name":
            raise UnknownUnit(self.text, self.offsets[self.next], self.written[self.next], tuple(UNITS))
        self.unexpected(f"a unit of time: {' '.join(UNITS)}")

    def literal(self, expected: str) -> str:
        """A text in single quotes."""
        if self.kinds[self.next] != "text":
            self.unexpected(expected)
        self.next += 1
        return self.written[self.next - 1][1:-1].replace("''", "'")

    def only(self, word: str) -> bool:
        if not self.word(word):
            self.unexpected(repr(word))
        return True

    def word(self, word: str) -> bool:
        """Steps over the word if it is next: a keyword only here."""
        if not self.at_word(word):
            return False
        self.next += 1
        return True

    def at_word(self, word: str) -> bool:
        return self.peeked() == word

    def peeked(self) -> str:
        """The next word in lower case; nothing where none is next."""
        return self.written[self.next].lower() if self.kinds[self.next] in ("name", "keyword") else ""

    def opens(self, word: str) -> bool:
        """Whether the word with its parenthesis is next; if so, steps over the word."""
        if self.at_word(word) and self.written[self.next + 1] == "(":
            self.next += 1
            return True
        return False
