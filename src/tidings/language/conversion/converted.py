"""What a conversion gives: the text, what to know about it, and what the filter language cannot say."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidings.errors import Explained, TidingsError
from tidings.language.printer import print_filter
from tidings.language.tree import Node, both, either


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

    def finished(self, tree: Node | None) -> Converted:
        if self.problems:
            raise CannotBeSaid(tuple(self.problems))
        assert tree is not None
        return Converted(print_filter(tree), tuple(self.notes))


def all_of(terms: list[Node | None]) -> Node | None:
    """None if one could not be said; then a problem was noted."""
    said = [term for term in terms if term is not None]
    return both(said) if said and len(said) == len(terms) else None


def any_of(terms: list[Node | None]) -> Node | None:
    said = [term for term in terms if term is not None]
    return either(said) if said and len(said) == len(terms) else None
