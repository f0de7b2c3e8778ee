"""The parser's place in a filter's tokens: what predicate kinds read their operands with."""

from __future__ import annotations

import math
from typing import NoReturn

from tidings.language.errors import UnexpectedToken
from tidings.language.tokens import tokenize
from tidings.language.tree import Name, Operand, Word


class Cursor:
    """`next` is the number of the next token; `kinds`, `written` and `offsets` are those of `tokenize`."""

    __slots__ = ("kinds", "next", "offsets", "text", "written")

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

    def numeral(self, written: str, at: int) -> int | float:
        whole = written.isdigit() or (written[1:].isdigit() and written[0] in "+-")
        if whole and len(written) <= 15:
            return int(written)
        value = float(written)
        if math.isinf(value):
            raise UnexpectedToken(self.text, at, "a number beyond all bounds", "a number of at most 1.8e308")
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
        found = "the end of the filter" if kind == "end" else repr(written[:60])
        if kind == "keyword":
            found = f"the keyword {found}"
            if expected.startswith("an attribute"):
                expected += f' (an attribute of that name is written "{written}")'
        raise UnexpectedToken(self.text, self.offsets[self.next], found, expected)
