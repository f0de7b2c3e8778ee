"""What can be wrong with a path. Each error shows the place; a construct outside the subset is named."""

from __future__ import annotations

from tidings.errors import LanguageError


class PathError(LanguageError):
    """A path's text is wrong at one place."""


class PathSyntax(PathError):
    found: str
    wanted: str
    template = "expected {wanted}, found {found}"

    @property
    def expected(self) -> str:
        return self.wanted


class UnsupportedPath(PathError):
    """XPath that Tidings does not take; `instead` is the way to say it, or empty."""

    construct: str
    instead: str
    template = "{construct} is not supported{remedy}"

    @property
    def remedy(self) -> str:
        return f"; {self.instead}" if self.instead else ""


class UnknownPrefix(PathError):
    name: str
    known: tuple[str, ...]
    template = "prefix {name!r} is not declared{hint}"


class PathTooLarge(PathError):
    what: str
    limit: int
    template = "the path has more than {limit:,} {what}"
