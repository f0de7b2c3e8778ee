"""The parser's place in a filter's tokens: what predicate kinds read their operands with."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import ClassVar, NoReturn

from tidings.language.errors import UnexpectedToken, WrongSpan
from tidings.language.tokens import tokenize
from tidings.language.tree import Name, Operand, Word
from tidings.schema.values import UNITS, Span

LONGEST_SPAN = 10_000 * 366 * UNITS["day"]  # microseconds: more than between any two instants


class Cursor:
    """`next` is the number of the next token; `kinds`, `written` and `offsets` are those of `tokenize`."""

    __slots__ = ("kinds", "next", "offsets", "text", "written")
    whole: ClassVar[str] = "filter"  # what the text is, for errors

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds, self.written, self.offsets = tokenize(text)
        self.next = 0

    def operand(self) -> Operand:
        kind, written = self.kinds[self.next], self.written[self.next]
        at = self.offsets[self.next]
        self.next += 1
        if kind == "number":
            return self.numeral(written, at)
        if kind == "text":
            return written[1:-1].replace("''", "'")
        if kind == "name":
            return Word(written, at)
        self.next -= 1
        if kind == "quoted":
            return Name(self.name(), at)
        self.unexpected("a value: a number, a text in single quotes or a name")

    def number(self, expected: str = "a number") -> int | float:
        """A number where nothing else may be."""
        if self.kinds[self.next] != "number":
            self.unexpected(expected)
        self.next += 1
        return self.numeral(self.written[self.next - 1], self.offsets[self.next - 1])

    def degrees(self, count: int, expected: str) -> list[int | float]:
        """`(37.8, -122.4)`, with this many numbers."""
        self.mark("(", f"'(' and {expected}")
        made = [self.number(expected)]
        while len(made) < count:
            self.mark(",", f"',' and {expected}")
            made.append(self.number(expected))
        self.mark(")", "')'")
        return made

    def summand(self) -> int | float | Span | None:
        """`+ 50`, `-50` or `+ 2 h`, if it is next."""
        at, written = self.offsets[self.next], self.written[self.next]
        sign = 1
        if self.kinds[self.next] == "mark" and written in ("+", "-"):
            self.next += 1
            if self.written[self.next][:1] in ("+", "-"):
                self.unexpected("a number without a sign")
            sign = -1 if written == "-" else 1
        elif self.kinds[self.next] != "number" or written[0] not in "+-":
            return None
        return self.with_unit(sign * self.number(), at)

    def with_unit(self, value: int | float, at: int) -> int | float | Span:
        """A span, if a unit is next; else the number."""
        unit = self.written[self.next].lower()
        if self.kinds[self.next] != "name" or unit not in UNITS:
            return value
        self.next += 1
        span = Decimal(repr(value)) * UNITS[unit]
        if span != int(span) or abs(span) > LONGEST_SPAN:
            raise WrongSpan(self.text, at, f"{value!r} {unit}")
        return Span(int(span))

    def numeral(self, written: str, at: int) -> int | float:
        whole = written.isdigit() or (written[1:].isdigit() and written[0] in "+-")
        if whole and len(written) <= 15:
            return int(written)
        value = float(written)
        if math.isinf(value):
            raise UnexpectedToken(self.text, at, "a number that is too large", "a number of at most 1.8e308")
        if whole and len(written) <= 400:  # longer ones are mostly leading zeros
            return int(written)
        return int(value) if value.is_integer() and abs(value) <= 2**53 else value

    def name(self) -> str:
        written = self.written[self.next]
        self.next += 1
        if self.kinds[self.next - 1] != "quoted":
            return written
        name = written[1:-1].replace('""', '"')
        if not name:
            self.next -= 1
            self.unexpected("a name between the double quotes")
        return name

    def keyword(self, word: str) -> bool:
        """Steps over the keyword if it is next."""
        if self.written[self.next] != word:  # no token of another kind is written like a keyword
            return False
        self.next += 1
        return True

    def at_mark(self, mark: str) -> bool:
        return self.written[self.next] == mark

    def mark(self, mark: str, expected: str) -> None:
        if not self.at_mark(mark):
            self.unexpected(expected)
        self.next += 1

    def unexpected(self, expected: str) -> NoReturn:
        kind, written = self.kinds[self.next], self.written[self.next]
        found = f"the end of the {self.whole}" if kind == "end" else repr(written[:60])
        if kind == "keyword":
            found = f"the keyword {found}"
            if expected.startswith("an attribute"):
                expected += f' (an attribute of that name is written "{written}")'
        raise UnexpectedToken(self.text, self.offsets[self.next], found, expected)
