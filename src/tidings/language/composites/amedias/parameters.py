"""What follows the operands of COMP, SELECT and NOT: consumption, times, evaluation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from tidings.language.composites.amedias.primitives import PrimitiveParser
from tidings.language.composites.chains import takes_no_time
from tidings.language.composites.errors import FrameOutOfBounds, NotTranslatable, UnknownUnit, WrongTimeOfDay
from tidings.language.composites.limits import CompositeLimits
from tidings.language.composites.profiles import Profiles
from tidings.language.composites.time_leaves import parse_clock, time_events
from tidings.language.composites.tree import ALL, EveryDay, Part, Select, Selection
from tidings.language.cursor import LONGEST_SPAN
from tidings.schema.values import UNITS, Instant, Span

_LONG_UNITS = {"hours": "h", "minutes": "min", "seconds": "s"}  # of figure 9.9; figure 9.8 has ours
_FRAME = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*")
_PAIRS = ("ALL-PAIRS", "UNIQUE-PAIRS")
_TIMES = ("EVALTIME", "STARTTIME", "MAXTIME")


@dataclass(slots=True)
class Parameters:
    """Of one COMP, SELECT or NOT, with their places; None where it does not say."""

    within: Span | None = None
    unique: bool | None = None
    final: bool | None = None
    places: dict[str, int] = field(default_factory=dict)


class ParameterParser(PrimitiveParser):
    __slots__ = ("defined", "level", "span_of_all", "start_of_all")

    def __init__(self, text: str, defined: Instant, limits: CompositeLimits, profiles: Profiles) -> None:
        super().__init__(text, limits)
        self.defaults = self.inherited(profiles)
        self.defined = defined
        self.level = 0
        self.start_of_all: Instant | None = None
        self.span_of_all: Span | None = None

    def chosen(self) -> Selection | None:
        """`, FIRST`, if it is next."""
        if not self.at_mark(","):
            return None
        following = self.written[self.next + 1].lower()
        if following not in ("first", "last", "all") and self.kinds[self.next + 1] != "number":
            return None
        self.next += 1
        return self.selection()

    def parameters(self, allowed: tuple[str, ...], what: str) -> Parameters:
        """What follows the operands, in the order of the grammar, up to ')'."""
        found = Parameters()
        waiting = [name for known in allowed for name in (_TIMES if known == "EVALTIME" else (known,))]
        while self.at_mark(","):
            self.next += 1
            place, name = self.offsets[self.next], self.peeked().upper()
            known = "pairs" if name in _PAIRS else name
            if known not in waiting:
                valid = " ".join(" ".join(_PAIRS) if one == "pairs" else one for one in waiting)
                self.unexpected(f"{valid} or ')'" if valid else "')'")
            del waiting[: waiting.index(known) + 1]
            if known != "pairs":
                self.assignment(name)
            found.places[name] = place
            self.parameter(found, "MULTI" if known == "pairs" else name, what)
        self.mark(")", "',' or ')'")
        return found

    def parameter(self, found: Parameters, name: str, what: str) -> None:
        match name:
            case "MULTI":
                found.unique = self.one_of(_PAIRS) == "UNIQUE-PAIRS"
                found.places["MULTI"] = self.offsets[self.next - 1]
            case "EVAL":
                found.final = self.one_of(("CONTINUOUS", "FINAL")) == "FINAL"
            case "EVALTIME":
                found.within = self.frame(name, self.limits.frame)
            case _:
                if self.level > 1:
                    self.refuse(self.next - 2, f"{name} inside another profile", f"write it in the outermost {what}")
                if name == "STARTTIME":
                    self.start_of_all = self.start()
                else:
                    self.span_of_all = self.frame(name, LONGEST_SPAN)

    def start(self) -> Instant | None:
        """`0` is when the profile was defined; a time of day, in Greenwich Mean Time, is the next one from then on."""
        at, written = self.offsets[self.next], str(self.value())
        if written == "0":
            return None
        clock = parse_clock(written)
        if clock is None:
            raise WrongTimeOfDay(self.text, at, written)
        return next(time_events(EveryDay(clock), self.defined, Instant(self.defined + UNITS["day"])))

    def frame(self, name: str, limit: int) -> Span:
        at = self.offsets[self.next]
        if self.kinds[self.next] == "number":
            written = f"{self.written[self.next]} {self.written[self.next + 1]}"
            self.next += 2
        else:
            written = self.literal(f"a span in quotes, e.g. {name} = '10 min'")
        found = _FRAME.fullmatch(written)
        if found is None:
            self.next -= 1
            self.unexpected(f"a number and a unit, e.g. {name} = '10 min'")
        unit = _LONG_UNITS.get(found[2].lower(), found[2].lower())
        if unit not in UNITS:
            raise UnknownUnit(self.text, at, found[2], (*UNITS, *_LONG_UNITS))
        span = Decimal(found[1]) * UNITS[unit]
        if not 0 < span <= limit or span != int(span):
            raise FrameOutOfBounds(self.text, at, name, Span(limit))
        return Span(int(span))

    def only_defaults(self, select: Select, parameters: Parameters, what: str) -> None:
        """Refuses the parameters of pairs where no pairs are made."""
        if parameters.unique:
            place = parameters.places["MULTI"]
            raise NotTranslatable(self.text, place, f"UNIQUE-PAIRS of {what}", "it makes no pairs, so leave it out")
        if parameters.final:
            place = parameters.places["EVAL"]
            raise NotTranslatable(self.text, place, f"FINAL of {what}", "it makes no pairs, so leave it out")
        if select != ALL:
            instead = "it makes no pairs, so write ALL or nothing"
            raise NotTranslatable(self.text, self.offsets[self.next - 1], f"a selection of {what}", instead)

    def refuse_needless_frame(self, parameters: Parameters, terms: tuple[Part, ...], what: str, instead: str) -> None:
        if parameters.within is not None and all(map(takes_no_time, terms)):
            place = parameters.places["EVALTIME"]
            raise NotTranslatable(self.text, place, f"EVALTIME of {what} of single events", instead)

    def assignment(self, word: str) -> None:
        if not self.word(word.lower()):
            self.unexpected(f"{word} =")
        self.mark("=", f"'=' after {word}")

    def one_of(self, words: tuple[str, ...]) -> str:
        word = self.peeked().upper()
        if word not in words:
            self.unexpected(" or ".join(words))
        self.next += 1
        return word
