"""`PRI(price > 100, TYPE=bid)`: the leaves of a profile, and the small things that all of it is read with."""

from __future__ import annotations

import re
from typing import NoReturn

from tidings.language.composites.cursor import CompositeCursor
from tidings.language.composites.errors import NotTranslatable, TooManyParts, WrongTimeOfDay
from tidings.language.composites.limits import CompositeLimits
from tidings.language.composites.time_leaves import parse_clock, zone
from tidings.language.composites.tree import EveryDay, Leaf, Part
from tidings.language.tree import Between, Comparison, Contains, In, Node, both
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.values import Value

_OFFSET = re.compile(r"([+-])([0-9]{1,2})\.([0-9]{1,2})")
_COMPARISONS = ("=", ">", "<", ">=", "<=")
_ONE_CLOCK = "write one time of day, e.g. PRI(time = 9:00:00, TYPE=TIMEPROFILE, TIMEZONE=+2.00)"


class PrimitiveParser(CompositeCursor):
    __slots__ = ("parts",)
    whole = "profile"

    def __init__(self, text: str, limits: CompositeLimits) -> None:
        super().__init__(text, limits)
        self.parts = 0

    def primitive(self) -> Part:
        at = self.offsets[self.next]
        self.opening("PRI")
        self.parts += 1
        if self.parts > self.limits.parts:
            raise TooManyParts(self.text, at, self.limits.parts)
        tests: list[tuple[int, Node]] = []
        leaf: Part | None = None
        while leaf is None:
            if self.at_word("type") and self.written[self.next + 1] == "=":
                self.next += 2
                leaf = self.typed(tests, at)
            else:
                tests.append((self.next, self.test()))
                if not self.at_mark(","):
                    leaf = Leaf(both([test for _, test in tests]), at=at)
                else:
                    self.next += 1
        self.mark(")", "',' or ')'")
        return leaf

    def typed(self, tests: list[tuple[int, Node]], at: int) -> Part:
        place = self.offsets[self.next]
        if self.kinds[self.next] not in ("name", "quoted", "text"):
            self.unexpected("an event type or TIMEPROFILE")
        if self.at_word("timeprofile"):
            self.next += 1
            return self.time_profile(tests, at)
        name = self.value()
        return Leaf(both([Contains(EVENT_TYPE, name, place), *(test for _, test in tests)]), at=at)

    def time_profile(self, tests: list[tuple[int, Node]], at: int) -> Part:
        where = "UTC"
        if self.at_mark(",") and self.written[self.next + 1].lower() == "timezone":
            self.next += 2
            where = self.time_zone()
        if len(tests) != 1:
            self.refuse(tests[1][0] if tests else self.next, "a TIMEPROFILE with other tests", _ONE_CLOCK)
        number, test = tests[0]
        if not isinstance(test, Comparison) or test.operator != "=":
            self.refuse(number + 1, "a TIMEPROFILE that is not one moment of the day", _ONE_CLOCK)
        clock = parse_clock(test.value) if isinstance(test.value, str) else None
        if clock is None:
            raise WrongTimeOfDay(self.text, self.offsets[number + 2], str(test.value))
        return EveryDay(clock, where, at=at)

    def time_zone(self) -> str:
        """`+2.00`, Greenwich being 0."""
        self.mark("=", "'='")
        sign = self.written[self.next] if self.at_mark("+") or self.at_mark("-") else ""
        self.next += bool(sign)
        written = sign + self.written[self.next]
        found = _OFFSET.fullmatch(written)
        if found is None:
            self.unexpected("an offset from Greenwich Mean Time, e.g. +2.00")
        self.next += 1
        name = f"{found[1]}{int(found[2]):02d}:{int(found[3]):02d}"
        try:
            zone(name)
        except ValueError:
            self.next -= 1
            self.unexpected("hours below 24 and minutes below 60")
        return name

    def test(self) -> Node:
        at = self.offsets[self.next]
        if self.kinds[self.next] not in ("name", "quoted"):
            self.unexpected("an attribute")
        attribute, sign = self.name(), self.written[self.next]
        self.next += 1
        if sign in _COMPARISONS:
            return Comparison(attribute, sign, self.value(), at)
        if sign == "<>":
            low = self.value()
            if not self.keyword("and"):
                self.unexpected("'and' and the upper bound")
            return Between(attribute, low, self.value(), at)
        if sign == "-" and self.written[self.next] == ">":
            self.next += 1
            self.mark("(", "'(' and values")
            values = [self.value()]
            while self.at_mark(","):
                self.next += 1
                values.append(self.value())
            self.mark(")", "',' or ')'")
            return In(attribute, tuple(values), at)
        self.next -= 1
        self.unexpected("= > < >= <= <> or ->")

    def value(self) -> Value:
        """A number, a word or a time of day; what is written in quotes is text."""
        kind, written = self.kinds[self.next], self.written[self.next]
        if kind == "number" and self.written[self.next + 1] == ":":
            return self.clock_text()
        if kind == "number":
            return self.number()
        self.next += 1
        if kind == "text":
            return written[1:-1].replace("''", "'")
        if kind in ("name", "keyword"):
            at = self.offsets[self.next - 1]
            return self.text[at : at + len(written)]  # keywords in their own case
        self.next -= 1
        if kind == "quoted":
            return self.name()
        self.unexpected("a value")

    def clock_text(self) -> str:
        first = self.next
        while self.kinds[self.next] == "number" or self.at_mark(":"):
            self.next += 1
        return "".join(self.written[first : self.next])

    def opening(self, word: str) -> None:
        if not self.word(word.lower()):
            self.unexpected(f"'{word}('")
        self.mark("(", f"'(' after {word}")

    def refuse(self, number: int, construct: str, instead: str) -> NoReturn:
        """At the token of this number."""
        raise NotTranslatable(self.text, self.offsets[number], construct, instead)
