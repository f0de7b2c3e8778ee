"""Text to tree, by recursive descent like the filter's parser, which reads what is in brackets.

composite = pattern [ "by" name { "," name } ] [ "start" text ] [ "for" span ] [ "report" "expired" ] end
pattern   = operand { operator operand [ "without" operand ] } options     (one kind of operator in a pattern)
operator  = "or" | "and" | "before" | "together" "with" | "unless"
operand   = "[" ( filter | time ) "]" [ "{" number "}" | "as" name ] | "(" pattern ")"
          | "nth" "(" pattern "," number ")" | "times" "(" pattern "," number ")" frame
          | "absent" "(" pattern ")" frame                                 (instead of the whole pattern)
options   = [ frame ] [ "select" selection "," selection ] [ "consume" "unique" ] [ "evaluate" "final" ]
            [ "where" condition { "and" condition } ]
frame     = "within" span
time      = "every" ( span | "day" "at" text [ "in" text ] )
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidings.language.composites.chains import OPTIONS, ChainStep, Options, combined
from tidings.language.composites.conditions import parse_condition
from tidings.language.composites.cursor import CompositeCursor
from tidings.language.composites.errors import (
    AbsenceTooShort,
    CompositeTooDeep,
    MixedOperators,
    OnlyAtRoot,
    OptionMeansNothing,
    OptionOutOfOrder,
    PartNameTaken,
    TooManyInBy,
    TooManyParts,
    WrongPartName,
    WrongRepeat,
    WrongStart,
)
from tidings.language.composites.limits import LIMITS, CompositeLimits
from tidings.language.composites.profiles import Profiles
from tidings.language.composites.time_leaves import opens_time_leaf, parse_time_leaf
from tidings.language.composites.tree import (
    Absent,
    Composite,
    Condition,
    Leaf,
    Nth,
    Part,
    Root,
    TimeLeaf,
    Times,
    expiring,
)
from tidings.language.cursor import LONGEST_SPAN
from tidings.schema.values import Instant

OPERATORS = ("or", "and", "before", "together with", "unless")
OF_THE_WHOLE = ("by", "start", "for", "report", "using")
_INHERITED = {
    "and": ("within", "select", "unique", "final"),
    "before": ("within", "select", "unique", "final"),
    "together with": ("select", "unique", "final"),
    "unless": ("within",),
}
_ORDER = ("without", *OPTIONS, *OF_THE_WHOLE)
_UNLESS = "write P unless Q within T"
_NOTHING_EXPIRES = "only what waits in 'before', 'and', 'together with' or 'times' can expire"
# Parts may be called `report`, as some were before it was an option.
_WORDS = frozenset((*_ORDER, *OPERATORS, "together", "with", "as", "nth", "times", "absent")) - {"report"}


def parse(text: str, limits: CompositeLimits = LIMITS, profiles: Profiles | None = None) -> Composite:
    """The tree of a composite's text; raises LanguageError at the first place that is wrong. `profiles` are those that
    it may use."""
    return CompositeParser(text, limits, profiles or {}).composite()


class CompositeParser(CompositeCursor):
    __slots__ = ("level", "names", "parts")

    def __init__(self, text: str, limits: CompositeLimits, profiles: Profiles) -> None:
        super().__init__(text, limits)
        self.defaults = self.inherited(profiles)
        self.level = 0
        self.parts = 0
        self.names: list[str] = []

    def composite(self) -> Composite:
        tree = self.absent() if self.opens("absent") else self.pattern()
        by, places = self.attributes() if self.word("by") else ((), ())
        start = self.instant() if self.word("start") else None
        span = self.bounded("for", LONGEST_SPAN) if self.word("for") else None
        expired = self.expired(tree) if self.at_word("report") else False
        if self.defaults is not None and self.word("using"):
            self.next += 1
        if self.kinds[self.next] != "end":
            said = {"report": expired, "for": span is not None, "start": start is not None, "by": bool(by)}
            self.refuse_late_option(next((option for option, is_said in said.items() if is_said), ""))
            self.unexpected("an operator, an option or the end of the composite")
        return Composite(tree, by, start, span, expired, places)

    def expired(self, tree: Root) -> bool:
        at = self.offsets[self.next]
        self.next += 1
        self.only("expired")
        if next(expiring(tree), None) is None:
            raise OptionMeansNothing(self.text, at, "report expired", "this pattern", _NOTHING_EXPIRES)
        return True

    def absent(self) -> Absent:
        at = self.offsets[self.next - 1]
        term = self.inner()
        self.mark(")", "an operator, an option or ')'")
        place = self.offsets[self.next]
        within = self.own_frame("absent")
        if within < self.limits.absence:
            raise AbsenceTooShort(self.text, place, self.limits.absence)
        if self.peeked() in OPTIONS:
            raise OptionMeansNothing(
                self.text, self.offsets[self.next], self.peeked(), "'absent'", "write it inside the parentheses"
            )
        if self.operator(None) is not None:
            raise OnlyAtRoot(self.text, at, "absent", _UNLESS)
        return Absent(term, within, at)

    def attributes(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Names, and where each stands."""
        found: dict[str, int] = {}
        while not found or self.at_mark(","):
            self.next += bool(found)
            if self.kinds[self.next] not in ("name", "quoted"):
                self.unexpected("an attribute, e.g. by auction")
            at, name = self.offsets[self.next], self.name()
            if len(found) == self.limits.by:
                raise TooManyInBy(self.text, at, self.limits.by)
            if name in found:
                self.next -= 1
                self.unexpected("an attribute that is not listed yet")
            found[name] = at
        return tuple(found), tuple(found.values())

    def instant(self) -> Instant:
        at = self.offsets[self.next]
        try:
            return Instant.parse(self.literal("a time in quotes, e.g. start '2026-05-01T00:00:00Z'"))
        except ValueError as problem:
            raise WrongStart(self.text, at, str(problem)) from None

    def pattern(self) -> Part:
        at = self.offsets[self.next]
        first, *repeated = self.term()
        steps = [ChainStep("before", at, part) for part in repeated]
        while True:
            at = self.offsets[self.next]
            operator = self.operator(steps[0].operator if steps else None)
            if operator is None:
                break
            right = self.term()
            if len(right) > 1 and operator != "before":
                raise WrongRepeat(self.text, at, f"this is {operator!r}", "write times(P, n) within T")
            steps += [ChainStep(operator, at, part) for part in right]
            if operator == "before" and self.word("without"):
                steps[-1] = steps[-1]._replace(without=self.without(right))
        options = self.options(steps)
        return combined(self.text, self.offsets[self.next], first, steps, options)

    def operator(self, earlier: str | None) -> str | None:
        """The operator that is next, if there is one; only the same may follow an earlier one."""
        at, operator = self.offsets[self.next], self.peeked()
        if operator == "together":
            self.next += 1
            if self.peeked() != "with":
                self.unexpected("'with'")
            operator = "together with"
        elif operator not in OPERATORS:
            return None
        self.next += 1
        if earlier is not None and (operator != earlier or operator == "unless"):
            raise MixedOperators(self.text, at, earlier, operator)
        return operator

    def without(self, right: list[Part]) -> Part:
        at = self.offsets[self.next - 1]
        if len(right) > 1:
            raise WrongRepeat(self.text, at, "'without' applies to one step", "write the steps out")
        term, *repeated = self.term()
        if repeated:
            raise WrongRepeat(self.text, at, "this is 'without'", "write times(P, n) within T")
        return term

    def term(self) -> list[Part]:
        """An operand; several for `[b]{3}`."""
        at = self.offsets[self.next]
        if self.at_mark("["):
            return self.leaf()
        if self.opens("absent"):
            raise OnlyAtRoot(self.text, at, "absent", _UNLESS)
        if self.opens("nth"):
            term, n = self.counted("nth", self.limits.nth)
            return [Nth(term, n, at=at)]
        if self.opens("times"):
            term, n = self.counted("times", self.limits.count)
            return [Times(term, n, self.own_frame("times"), at)]
        if not self.at_mark("("):
            self.unexpected("a part: a filter in square brackets, '(', 'nth(' or 'times('")
        inner = self.inner()
        self.mark(")", "an operator, an option or ')'")
        return [inner]

    def inner(self) -> Part:
        """What stands in parentheses, up to what closes it."""
        self.level += 1
        if self.level > self.limits.depth:
            raise CompositeTooDeep(self.text, self.offsets[self.next], self.limits.depth)
        self.next += 1
        pattern = self.pattern()
        self.level -= 1
        if self.peeked() in OF_THE_WHOLE:
            raise OnlyAtRoot(self.text, self.offsets[self.next], self.peeked(), "write it at the end")
        return pattern

    def counted(self, what: str, limit: int) -> tuple[Part, int]:
        """`(P, n)`"""
        term = self.inner()
        self.mark(",", f"an operator, an option, or ',' and how many, e.g. {what}(P, 3)")
        n = self.count(f"in {what}(P, n)", 1, limit)
        self.mark(")", "')'")
        return term, n

    def leaf(self) -> list[Part]:
        at = self.offsets[self.next]
        self.next += 1
        made: Leaf | TimeLeaf
        if opens_time_leaf(self):
            made = parse_time_leaf(self, at)
            self.mark("]", "']'")
        else:
            made = Leaf(self.any_of(), at=at)
            self.mark("]", "'and', 'or' or ']'")
        name = self.part_name() if self.word("as") else None
        repeats = 1
        if self.at_mark("{"):
            place = self.offsets[self.next]
            self.next += 1
            repeats = self.count("in '{n}'", 2, self.limits.parts)
            self.mark("}", "'}'")
            if name is not None or self.at_word("as"):
                raise WrongRepeat(
                    self.text, place, "its parts cannot share a name", "write them out, each with its own"
                )
        self.parts += repeats
        if self.parts > self.limits.parts:
            raise TooManyParts(self.text, at, self.limits.parts)
        return [made if name is None else replace(made, name=name)] * repeats

    def part_name(self) -> str:
        at, kind, name = self.offsets[self.next], self.kinds[self.next], self.written[self.next]
        if kind not in ("name", "keyword", "quoted"):
            self.unexpected("a name for the part")
        if kind == "quoted" or "." in name:
            raise WrongPartName(self.text, at, name, "a name consists of letters, digits, '_' and '-'")
        if kind == "keyword" or name.lower() in _WORDS:
            raise WrongPartName(self.text, at, name, "it is a word of the language")
        if name in self.names:
            raise PartNameTaken(self.text, at, name)
        self.next += 1
        self.names.append(name)
        return name

    def options(self, steps: list[ChainStep]) -> Options:
        found: dict[str, Any] = {}
        places: dict[str, int] = {}
        last = ""
        while (option := self.peeked()) in OPTIONS:
            if last and OPTIONS.index(option) <= OPTIONS.index(last):
                self.refuse_late_option(last)
            last = option
            places[option] = self.offsets[self.next]
            self.next += 1
            match option:
                case "within":
                    found["within"] = self.bounded("within", self.limits.frame)
                case "select":
                    found["select"] = self.select()
                case "consume":
                    found["unique"] = self.only("unique")
                case "evaluate":
                    found["final"] = self.only("final")
                case _:
                    found["conditions"] = self.where()
        self.refuse_after(last, steps)
        if self.defaults is not None and steps:
            for name in _INHERITED.get(steps[0].operator, ()):
                found.setdefault(name, getattr(self.defaults, name))
        return Options(**found, places=places)

    def refuse_after(self, last: str, steps: list[ChainStep]) -> None:
        """What cannot follow the options of a pattern: `without`, or another operator."""
        if self.at_word("without"):
            if last:
                self.refuse_late_option(last)
            operator = repr(steps[0].operator) if steps else "a single part"
            instead = "write P before Q without R within T or P unless R within T"
            raise OptionMeansNothing(self.text, self.offsets[self.next], "without", operator, instead)
        at = self.offsets[self.next]
        if last and steps and (second := self.operator(None)) is not None:
            raise MixedOperators(self.text, at, steps[0].operator, second)

    def refuse_late_option(self, earlier: str) -> None:
        if earlier and self.peeked() in _ORDER:
            raise OptionOutOfOrder(self.text, self.offsets[self.next], self.peeked(), earlier, _ORDER)

    def where(self) -> tuple[Condition, ...]:
        conditions = [parse_condition(self, self.names)]
        while self.keyword("and"):
            conditions.append(parse_condition(self, self.names))
        return tuple(conditions)
