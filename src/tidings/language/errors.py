"""What can be wrong with a filter. Each shows line and caret, what was expected, the nearest legal name."""

from __future__ import annotations

from tidings.errors import LanguageError, nearest, shown, suggestion


class UnexpectedToken(LanguageError):
    """(text, offset, found, expected)"""

    @property
    def expected(self) -> str:
        return str(self.args[3])

    def problem(self) -> str:
        found, expected = self.args[2:]
        return f"expected {expected}, found {found}"


class UnterminatedText(LanguageError):
    """(text, offset, quote): a quoted text has no end."""

    def problem(self) -> str:
        (quote,) = self.args[2:]
        return f"the text that begins here has no closing {quote} (inside a text the quote is doubled)"


class FilterTooLong(LanguageError):
    """('', 0, length, limit)"""

    def problem(self) -> str:
        length, limit = self.args[2:]
        return (
            f"the filter has {length:,} characters; at most {limit:,} are read, "
            "in the canonical form too, where every value is quoted"
        )

    def __str__(self) -> str:
        return self.problem()


class NestedTooDeeply(LanguageError):
    """(text, offset, limit)"""

    def problem(self) -> str:
        return f"parentheses and 'not' may be nested {self.args[2]} deep at most"


class NormalFormTooLarge(LanguageError):
    """(text, 0, count, limit)"""

    def problem(self) -> str:
        count, limit = self.args[2:]
        many = f"{count:,}" if count < 10**12 else "more than 10^12"
        return (
            f"written out as alternatives this filter has {many} conjunctions; at most {limit:,} are allowed "
            "(an 'in' list counts as one predicate)"
        )

    def __str__(self) -> str:
        return self.problem()


class TooManyPredicates(LanguageError):
    """(text, 0, count, limit)"""

    def problem(self) -> str:
        count, limit = self.args[2:]
        many = f"{count:,}" if count < 10**12 else "more than 10^12"
        return (
            f"written out as alternatives this filter has {many} predicates; at most {limit:,} are allowed "
            "(an 'in' list counts as one)"
        )

    def __str__(self) -> str:
        return self.problem()


class ComparisonCycle(LanguageError):
    """(text, offset, attributes, limit)"""

    def problem(self) -> str:
        attributes, limit = self.args[2:]
        *most, last = map(repr, attributes)
        return (
            f"the comparisons of {', '.join(most)} and {last} with each other form a cycle; "
            f"at most {limit} attributes may be compared in a cycle, so remove one of these comparisons"
        )


class UnknownAttribute(LanguageError):
    """(text, offset, name, known)"""

    def problem(self) -> str:
        name, known = self.args[2:]
        return f"no attribute {name!r}{suggestion(name, known)}"


class UnknownWord(LanguageError):
    """(text, offset, word, attribute, kind, legal words): a word that is neither value nor attribute."""

    def problem(self) -> str:
        word, attribute, kind, legal = self.args[2:]
        hint = nearest(word, legal)
        if kind in ("string", "text", "time"):
            meant = f" (did you mean {hint!r}?)" if hint else ""
            quoted = f"as a value of {attribute!r} it is written in quotes: '{word}'"
            return f"{word!r} is no attribute{meant}; {quoted}"
        value = "a number" if kind == "numeric" else f"a value of {attribute!r}"
        meant = f"; did you mean {hint!r}?" if hint else ""
        return f"{word!r} is neither {value} nor an attribute{meant}"


class AmbiguousWord(LanguageError):
    """(text, offset, word, attribute)"""

    def problem(self) -> str:
        word, attribute = self.args[2:]
        return (
            f"{word!r} is a value of {attribute!r} and an attribute too: write '{word}' for the value "
            f'or "{word}" for the attribute'
        )


class OperatorNotAllowed(LanguageError):
    """(text, offset, attribute, domain, written, needed, allowed)"""

    def problem(self) -> str:
        attribute, domain, written, needed, allowed = self.args[2:]
        why = f" ({written!r} needs {needed!r})" if written != needed else ""
        legal = " ".join(allowed)
        return f"domain {domain!r} of {attribute!r} does not allow {needed!r}{why}; it allows {legal}"


class ValueOutsideDomain(LanguageError):
    """(text, offset, attribute, value, reason)"""

    def problem(self) -> str:
        attribute, value, reason = self.args[2:]
        return f"{shown(value)} is no value of {attribute!r}: {reason}"


class NeedsValue(LanguageError):
    """(text, offset, word, construct): an attribute stands where only a value may."""

    def problem(self) -> str:
        word, construct = self.args[2:]
        return f"'{construct}' takes values, and {word!r} names none here; a text is written in single quotes"


class DoubleQuotedValue(LanguageError):
    """(text, offset, value)"""

    def problem(self) -> str:
        return f"double quotes are for attributes; the value is written in single ones: '{self.args[2]}'"


class NotComparable(LanguageError):
    """(text, offset, left, right, reason)"""

    def problem(self) -> str:
        left, right, reason = self.args[2:]
        return f"{left!r} and {right!r} cannot be compared: {reason}"


class UnclearWords(LanguageError):
    """(text, offset, literal, words): `contains` with no word, or with several and no any/all."""

    def problem(self) -> str:
        literal, words = self.args[2:]
        if not words:
            return f"{shown(literal)} has no word in it, so nothing could contain it"
        return (
            f"{shown(literal)} has {len(words)} words: say which you mean, "
            f"contains any {shown(literal)} or contains all {shown(literal)}"
        )


class NotForThisKind(LanguageError):
    """(text, offset, construct, attribute, kind, needed kinds)"""

    def problem(self) -> str:
        construct, attribute, kind, needed = self.args[2:]
        return f"'{construct}' is for {' or '.join(needed)} attributes; {attribute!r} is {kind}"


class NotYetSupported(LanguageError):
    """(text, offset, construct)"""

    def problem(self) -> str:
        return f"{self.args[2]} is not supported yet"
