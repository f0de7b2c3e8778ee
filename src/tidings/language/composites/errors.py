"""What can be wrong with a composite, beside the filters in it. Each error says what to write instead."""

from __future__ import annotations

from tidings.errors import LanguageError
from tidings.schema.values import Span


class MixedOperators(LanguageError):
    first: str
    second: str
    template = "{first!r} and {second!r} do not mix without parentheses; write {meant}"

    @property
    def meant(self) -> str:
        if self.first == self.second:
            return f"(P {self.first} Q within T) {self.second} R within T"
        return f"(P {self.first} Q …) {self.second} R … or P {self.first} (Q {self.second} R …)"


class FrameMissing(LanguageError):
    operator: str
    taken: str  # the part that the frame written here belongs to, or nothing
    template = "{operator!r} needs a frame of time{because}; write e.g. 'within 10 min' {where}"

    @property
    def because(self) -> str:
        return f", and this 'within' belongs to {self.taken!r}" if self.taken else ""

    @property
    def where(self) -> str:
        return "after its last operand" if self.operator not in ("times", "absent") else "right after ')'"


class FrameOutOfBounds(LanguageError):
    option: str
    limit: Span
    template = "after {option!r} write a span of more than 0 and at most {limit}, e.g. {option} 10 min"


class AbsenceTooShort(LanguageError):
    least: Span
    template = (
        "a frame of 'absent' is at least {least}, since each frame without an instance is reported; "
        "write e.g. within 10 min"
    )


class UnknownUnit(LanguageError):
    name: str
    known: tuple[str, ...]
    template = "no unit of time {name!r}{hint}"


class OptionMeansNothing(LanguageError):
    option: str
    operator: str
    instead: str
    template = "{option!r} is not allowed after {operator}; {instead}"


class OptionOutOfOrder(LanguageError):
    option: str
    earlier: str
    order: tuple[str, ...]
    template = "{option!r} cannot follow {earlier!r}; write each option once, in this order: {order!w}"


class WrongCount(LanguageError):
    where: str
    least: int
    limit: int
    template = "expected a whole number from {least} to {limit:,} {where}"


class WrongSelection(LanguageError):
    limit: int
    template = (
        "expected a selection for each operand, e.g. select last, first; "
        "valid: all, first, last, or a number from 1 to {limit:,}"
    )


class CompositeTooDeep(LanguageError):
    limit: int
    template = (
        "parentheses, 'nth' and 'times' may be nested at most {limit} deep; a chain P before Q before R needs none"
    )


class TooManyParts(LanguageError):
    limit: int
    template = "a composite may have at most {limit} parts in brackets; for many of one kind write times(P, n) within T"


class TooManyInBy(LanguageError):
    limit: int
    template = "'by' takes at most {limit} attributes; leave out those that follow from others"


class PartNameTaken(LanguageError):
    name: str
    template = "the name {name!r} is taken by an earlier part; choose another one"


class WrongPartName(LanguageError):
    name: str
    reason: str
    template = "{name!r} cannot name a part: {reason}; choose e.g. 'as first_bid'"


class WrongRepeat(LanguageError):
    construct: str
    instead: str
    template = "'{{…}}' repeats a part in a chain of 'before', and {construct}; {instead}"


class OnlyAtRoot(LanguageError):
    construct: str
    instead: str
    template = "{construct!r} is for the whole composite, not for an operand; {instead}"


class UnknownPart(LanguageError):
    """A name before the dot that no part has."""

    name: str
    known: tuple[str, ...]

    def problem(self) -> str:
        if not self.known:
            return f"no part is named {self.name!r}; name one: [filter] as {self.name}"
        return f"no part is named {self.name!r}{self.hint}"


class HiddenPart(LanguageError):
    name: str
    reason: str
    template = "the part {name!r} cannot be used here: {reason}"


class NotInWhere(LanguageError):
    construct: str
    template = (
        "'where' compares attributes of named parts by = != < <= > >=, joined by 'and'; "
        "{construct} belongs in a filter in brackets"
    )


class WrongStart(LanguageError):
    reason: str
    template = "{reason}"


class WrongTimeOfDay(LanguageError):
    written: str
    template = "{written!r} is not a time of day; expected e.g. '09:00' or '18:30:15'"


class UnknownZone(LanguageError):
    name: str
    known: tuple[str, ...]

    def problem(self) -> str:
        if not self.known:
            return f"no time zone {self.name!r}: this machine has no time zone data (tzdata); write e.g. '+02:00'"
        return f"no time zone {self.name!r}{self.hint or '; expected e.g. Europe/Athens or +02:00'}"


class WrongPeriod(LanguageError):
    limit: Span
    template = "after 'every' write a span from 1 s to {limit}, e.g. every 5 min"


class NotOfTimeEvents(LanguageError):
    attribute: str
    template = "a time event has no {attribute!r}; it has event.time, event.source and event.id"


class NotBoundByPart(LanguageError):
    """`by` an attribute that a part's events do not have."""

    attribute: str
    part: str
    reason: str
    instead: str
    template = "'by' needs {attribute!r} of every part, but {reason}: {part}; {instead}"


class NotTranslatable(LanguageError):
    """What an A-MEDIAS profile says and a composite cannot."""

    construct: str
    instead: str
    template = "{construct} cannot be expressed as a composite; {instead}"


class UnknownProfile(LanguageError):
    name: str
    known: tuple[str, ...]
    template = "an operator must set the profile {name!r} ('tidings journal profile') before it can be used{hint}"
