"""What can be wrong with a filter. Each error shows line and caret, what was expected and the nearest legal name."""

from __future__ import annotations

from tidings.errors import LanguageError, nearest, shown
from tidings.schema.values import UNITS, Value


class UnexpectedToken(LanguageError):
    found: str
    wanted: str
    template = "expected {wanted}, found {found}"

    @property
    def expected(self) -> str:
        return self.wanted


class UnterminatedText(LanguageError):
    quote: str
    template = "this text has no closing {quote} (a quote inside a text is written twice)"


class FilterTooLong(LanguageError):
    length: int
    limit: int
    template = (
        "the filter has {length:,} characters; at most {limit:,} are allowed, also in canonical form, "
        "where every value is quoted"
    )
    pictured = False


class NestedTooDeeply(LanguageError):
    limit: int
    template = "parentheses and 'not' may be nested at most {limit} deep"


class NormalFormTooLarge(LanguageError):
    count: int
    limit: int
    pictured = False
    template = (
        "written out as alternatives, this filter has {count!n} conjunctions; at most {limit:,} are allowed "
        "(an 'in' list counts as one predicate)"
    )


class TooManyPredicates(LanguageError):
    count: int
    limit: int
    pictured = False
    template = (
        "written out as alternatives, this filter has {count!n} predicates; at most {limit:,} are allowed "
        "(an 'in' list counts as one)"
    )


class ComparisonCycle(LanguageError):
    attributes: tuple[str, ...]
    limit: int
    template = "the comparisons of {listed} with each other form a cycle; {allowed}, so remove one of these comparisons"

    @property
    def listed(self) -> str:
        *most, last = map(repr, self.attributes)
        return f"{', '.join(most)} and {last}"

    @property
    def allowed(self) -> str:
        if self.limit < 3:  # one of the comparisons computes
            return "in a cycle, no comparison may have '*', '+' or '-'"
        return f"at most {self.limit} attributes may be compared in a cycle"


class UnknownAttribute(LanguageError):
    name: str
    known: tuple[str, ...]
    template = "no attribute {name!r}{hint}"


class UnknownWord(LanguageError):
    """A word that is neither a value nor an attribute."""

    word: str
    attribute: str
    kind: str
    legal: tuple[str, ...]

    def problem(self) -> str:
        word, attribute, hint = self.word, self.attribute, nearest(self.word, self.legal)
        if self.kind in ("string", "text", "time"):
            meant = f" (did you mean {hint!r}?)" if hint else ""
            return f"{word!r} is not an attribute{meant}; as a value of {attribute!r} write it in quotes: '{word}'"
        value = "a number" if self.kind == "numeric" else f"a value of {attribute!r}"
        meant = f"; did you mean {hint!r}?" if hint else ""
        return f"{word!r} is neither {value} nor an attribute{meant}"


class AmbiguousWord(LanguageError):
    word: str
    attribute: str
    template = (
        "{word!r} is both a value of {attribute!r} and an attribute; "
        "write '{word}' for the value or \"{word}\" for the attribute"
    )


class OperatorNotAllowed(LanguageError):
    attribute: str
    domain: str
    written: str
    needed: str
    allowed: tuple[str, ...]
    template = "domain {domain!r} of {attribute!r} does not allow {needed!r}{why}; it allows {allowed!w}"

    @property
    def why(self) -> str:
        return f" ({self.written!r} needs {self.needed!r})" if self.written != self.needed else ""


class ValueOutsideDomain(LanguageError):
    attribute: str
    value: Value
    reason: str
    template = "{value!v} is not a value of {attribute!r}; {reason}"


class NeedsValue(LanguageError):
    """An attribute where only a value may be."""

    word: str
    construct: str
    template = "'{construct}' takes values, and {word!r} is not one; write text in single quotes"


class DoubleQuotedValue(LanguageError):
    value: str
    template = "double quotes are for attributes; write the value in single quotes: '{value}'"


class WrongSpan(LanguageError):
    span: str
    template = "{span!r} is not a span; expected whole microseconds, at most 10,000 years"


class WrongSummand(LanguageError):
    """A number added to a time, or a span to a number."""

    attribute: str
    kind: str

    def problem(self) -> str:
        if self.kind == "time":
            return f"to the time {self.attribute!r} add a span with a unit, e.g. 2 h; units: {' '.join(UNITS)}"
        return f"{self.attribute!r} is {self.kind}; a span such as 2 h can only be added to a time"


class WrongPlace(LanguageError):
    reason: str
    template = "{reason}"


class NotComparable(LanguageError):
    left: str
    right: str
    reason: str
    template = "{left!r} and {right!r} cannot be compared: {reason}"


class FinalBackslash(LanguageError):
    template = r"this pattern ends with a \, which escapes the next character; for the character itself write \\"


class SegmentTooLong(LanguageError):
    length: int
    limit: int
    template = (
        "between two % of this pattern, {length:,} characters with a _ among them; at most {limit:,} can be sought; "
        "write % instead of one of these _, or of some characters"
    )


class UnclearWords(LanguageError):
    """`contains` with no word, or with several and neither `any` nor `all`."""

    literal: object
    words: tuple[str, ...]

    def problem(self) -> str:
        literal = shown(self.literal)
        if "*" in str(self.literal) or "~" in str(self.literal):
            pattern = _pattern(self.words)
            return f"in quotes * and ~ mean nothing; write a pattern in parentheses, e.g. contains ({pattern})"
        if not self.words:
            return f"{literal} has no word in it, so nothing can contain it"
        return f"{literal} has {len(self.words)} words; write contains any {literal} or contains all {literal}"


def _pattern(words: tuple[str, ...]) -> str:
    return " and ".join(f"{word}*" for word in words[:3]) or "red*"


class UnbalancedPattern(LanguageError):
    template = "this pattern has no closing )"


class PatternTooLong(LanguageError):
    limit: int
    template = "a pattern has at most {limit:,} words"


class WrongWord(LanguageError):
    """A word of a pattern that is none, or several."""

    word: str
    count: int

    def problem(self) -> str:
        if not self.count:
            return f'{shown(self.word)} has no word in it; write a word or a phrase such as "red car"'
        return f'{shown(self.word)} is {self.count} words; write it as a phrase: "{self.word}"'


class WrongGap(LanguageError):
    least: int
    most: int
    limit: int
    template = "a gap of {least} to {most} words is not possible; write <[i,j] with i <= j <= {limit:,}, e.g. <[0,5]"


class WrongAtLeast(LanguageError):
    count: int
    patterns: int
    template = "{patterns} patterns are listed, so write at least 1 to {patterns} of them, not {count}"


class WrongOperand(LanguageError):
    template = "the operands of < and near are words, phrases, and alternatives of these joined by 'or' in parentheses"


class WordlessText(LanguageError):
    given: str

    def problem(self) -> str:
        return f"{shown(self.given)} has no word in it; write a text such as 'interest rates'"


class WrongSimilarity(LanguageError):
    least: int | float
    template = "{least} is not a threshold; expected a number above 0, at most 1, e.g. at least 0.4"


class StemWithoutLanguage(LanguageError):
    word: str
    domain: str
    template = "domain {domain!r} has no language, so {word!r} has no stem; write {word} or {word}*"


class NotForThisKind(LanguageError):
    construct: str
    attribute: str
    kind: str
    needed: tuple[str, ...]
    template = "'{construct}' is for {kinds} attributes; {attribute!r} is {kind}"

    @property
    def kinds(self) -> str:
        return " or ".join(self.needed)


class OnlyOfEventType(LanguageError):
    """An expression in another language speaks of the whole event."""

    dialect: str
    template = "an expression in {dialect} applies to the whole event; write event_type {dialect} '…'"
