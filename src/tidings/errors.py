"""Every error that Tidings raises on purpose.

An error keeps its parts in `args` (so it survives the way back from a worker process), says what was expected, and
names the nearest legal word where a name was misspelt. All derive from `TidingsError`; one subclass per room."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from inspect import get_annotations
from string import Formatter
from typing import Any, ClassVar, dataclass_transform

__all__ = [
    "ChannelError",
    "ClientError",
    "EventError",
    "LanguageError",
    "MatchingError",
    "PipelineError",
    "SchemaError",
    "ServiceError",
    "StoreError",
    "TidingsError",
    "WrongArgument",
    "nearest",
    "one_of",
    "shown",
]

_SUGGESTIONS_AMONG = 20_000  # beyond this a suggestion would take longer than the user would wait
_LONGEST_SHOWN = 60
_UNCOUNTED = 10**12  # beyond it the exact count is of no use to anybody


class TidingsError(Exception):
    """The root of all errors that are the input's fault and can be put right by whoever sent it."""


@dataclass_transform()
class Explained(Exception):
    """An error whose message is a template, filled with its named parts.

    A class lists its parts as annotations, in the order of its arguments, after those of its base; they become
    attributes. In the template `{part}` may also be a property. Beside `!r` there are `!v`, a value as `shown`, `!w`,
    words joined by spaces, and `!n`, a large number.
    """

    template: ClassVar[str] = ""
    parts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = get_annotations(cls).items()
        cls.parts = (*cls.parts, *(name for name, type_ in own if not str(type_).startswith("ClassVar")))

    def __init__(self, *parts: object, **named: object) -> None:
        parts = (*parts, *(named[name] for name in self.parts[len(parts) :]))
        super().__init__(*parts)  # all of them, so that the error can be unpickled
        for name, part in zip(self.parts, parts, strict=True):
            setattr(self, name, part)

    @property
    def hint(self) -> str:
        """What to write instead, for an error with the parts `name` and `known`."""
        return suggestion(vars(self)["name"], vars(self)["known"])

    def problem(self) -> str:
        """What is wrong; a language error adds the place."""
        return _MESSAGES.vformat(self.template, (self,), {})

    def __str__(self) -> str:
        return self.problem()


class _Messages(Formatter):
    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return getattr(args[0], str(key))

    def convert_field(self, value: Any, conversion: Any) -> Any:
        match conversion:
            case "v":
                return shown(value)
            case "w":
                return " ".join(value)
            case "n":
                return f"{value:,}" if value < _UNCOUNTED else "more than 10^12"
            case _:
                return super().convert_field(value, conversion)


_MESSAGES = _Messages()


class SchemaError(Explained, TidingsError):
    """A schema, or a change to one, breaks a rule."""


class EventError(TidingsError):
    """An event, or a file of events, breaks a rule."""


class MatchingError(TidingsError):
    """A matcher was asked for something it cannot do."""


class StoreError(TidingsError):
    """The journal, or what is kept beside it, was asked for something it cannot do."""


class PipelineError(TidingsError):
    """The pipeline cannot run, or cannot go on."""


class ChannelError(TidingsError):
    """A channel cannot be used as it was described."""


class ServiceError(TidingsError):
    """The service was asked for something it does not give, or not to this caller, or not now."""


class ClientError(TidingsError):
    """The server could not be reached, or refused what was asked of it."""


class WrongArgument(TidingsError, TypeError):
    """A function was called with something it does not take: the call, the argument, what it takes, what it got."""

    def __init__(self, call: str, argument: str, expected: str, got: str) -> None:
        super().__init__(call, argument, expected, got)

    def __str__(self) -> str:
        return "{}: {} must be {}, not {}".format(*self.args)


class LanguageError(Explained, TidingsError):
    """A filter's text is wrong at one place."""

    text: str
    offset: int

    pictured: ClassVar[bool] = True  # whether the message shows the place

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        return self.offset - (self.text.rfind("\n", 0, self.offset) + 1) + 1

    @property
    def expected(self) -> str | None:
        """What would have been legal at this place, where one phrase can say it."""
        return None

    def __str__(self) -> str:
        if not self.pictured:
            return self.problem()
        return f"line {self.line}, column {self.column}: {self.problem()}\n{picture(self.text, self.offset)}"


def picture(text: str, offset: int) -> str:
    """The line with a caret below the offset; of a long line only the part around it."""
    start = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", offset)
    stop = len(text) if stop < 0 else stop
    left, right = max(start, offset - 60), min(stop, offset + 40)
    before = ("…" if left > start else "") + text[left:offset]
    after = text[offset:right] + ("…" if right < stop else "")
    padding = "".join(character if character == "\t" else " " for character in before)
    return f"  {before}{after}\n  {padding}^"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known word that `name` was most likely meant to be."""
    words = list(known)
    if len(words) > _SUGGESTIONS_AMONG or len(name) > 200:
        return None
    found = difflib.get_close_matches(name, words, n=1, cutoff=0.6)
    if not found:
        lowered = {word.casefold(): word for word in words}
        return lowered.get(name.casefold())
    return found[0]


def suggestion(name: str, known: Sequence[str]) -> str:
    """`; did you mean 'price'?`, or the valid words where they are few, or nothing."""
    word = nearest(name, known)
    if word is not None:
        return f"; did you mean {word!r}?"
    if not known:
        return "; none is defined yet"
    return f"; valid: {', '.join(map(repr, known))}" if len(known) <= 12 else ""


def one_of(words: Iterable[object]) -> str:
    """`'a', 'b' or 'c'`"""
    quoted = [repr(word) for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def expect(value: object, types: type | tuple[type, ...], call: str, argument: str, expected: str) -> None:
    """Raises WrongArgument unless the value is of one of the types."""
    if not isinstance(value, types):
        raise WrongArgument(call, argument, expected, typed(value))


def typed(value: object) -> str:
    """An argument as an error message names it: its type, and what it is where that is short."""
    if value is None:
        return "None"
    kind = type(value)
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if isinstance(value, str | bytes | int | float):
        return f"{kind.__qualname__} {value if isinstance(value, bool) else shown(value)}"
    room = kind.__module__.partition(".")[0]
    name = "Schema" if kind.__qualname__ == "Catalog" else kind.__qualname__  # as the library's users know it
    return name if room in ("builtins", "__main__") else f"{room}.{name}"


def shown(value: object) -> str:
    """A value as an error message shows it: never longer than a line, and as JSON writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    try:
        text = repr(value)
    except RecursionError:
        return "something nested too deeply to show"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
