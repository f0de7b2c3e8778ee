"""What a conversion gives: the text, what to know about it, and what the filter language cannot say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tidings.errors import Explained, LanguageError, TidingsError
from tidings.language.parser import parse
from tidings.language.printer import print_filter
from tidings.language.tree import Node, both, either
from tidings.schema.values import number


class CannotBeSaid(Explained, TidingsError):
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "the filter language cannot express:\n" + "\n".join(f"  {one}" for one in self.problems)


class NotConvertible(Explained, TidingsError):
    """What was given is not a filter of that system."""

    place: str
    reason: str
    template = "{place}: {reason}"


@dataclass(frozen=True, slots=True)
class Converted:
    text: str
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Conversion:
    """Gathers what is told on the way."""

    problems: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)

    def unsayable(self, place: str, reason: str) -> None:
        self.problems.append(f"{place}: {reason}")

    def literal(self, value: Any, place: str) -> str | int | float | None:
        """The value as filters have it, Booleans as values of an enumeration; None, with a problem noted, for a number
        that events cannot have."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return value
        try:
            return number(value)
        except ValueError as problem:
            self.unsayable(place, f"{value}: {problem}")
            return None

    def finished(self, tree: Node | None) -> Converted:
        if self.problems:
            raise CannotBeSaid(tuple(self.problems))
        assert tree is not None
        text = print_filter(tree)
        try:
            parse(text)
        except LanguageError as problem:  # e.g. an attribute without a name, a text that is too long
            raise CannotBeSaid((str(problem),)) from None
        return Converted(text, tuple(self.notes))


def all_of(terms: list[Node | None]) -> Node | None:
    """None if one could not be said; then a problem was noted."""
    said = [term for term in terms if term is not None]
    return both(said) if said and len(said) == len(terms) else None


def any_of(terms: list[Node | None]) -> Node | None:
    said = [term for term in terms if term is not None]
    return either(said) if said and len(said) == len(terms) else None
