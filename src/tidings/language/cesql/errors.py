"""What can be wrong with a CESQL expression or a filters array, beside the errors that all filters share."""

from __future__ import annotations

from tidings.errors import LanguageError


class IntegerTooLarge(LanguageError):
    written: str
    template = "{written} is outside the integers of CESQL, -2147483648 to 2147483647"


class UnknownFunction(LanguageError):
    name: str
    known: tuple[str, ...]
    template = "CESQL has no function {name!r}{hint}"


class WrongArgumentCount(LanguageError):
    name: str
    count: int
    wanted: str
    template = "{name} takes {wanted} arguments, got {count}"


class AlwaysFails(LanguageError):
    """Whatever the event, this ends in an error: a text where only an integer will do, a division by zero."""

    reason: str
    template = "{reason}, so this always ends in an error"


class NotBoolean(LanguageError):
    """An expression whose value is a number or a text: as a filter it never passes."""

    returns: str
    template = "a filter must be true or false, and this expression is {returns}; compare it, e.g. … = 'x'"


class ExpressionTooLong(LanguageError):
    what: str
    length: int
    limit: int
    pictured = False
    template = "the {what} has {length:,} characters; at most {limit:,} are allowed"


class WrongFilters(LanguageError):
    """A filters array breaks a rule: at which of its members, and which rule."""

    path: str
    reason: str
    pictured = False
    template = "{path}: {reason}"
