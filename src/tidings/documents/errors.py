"""What can be wrong with a document."""

from __future__ import annotations

from tidings.errors import Explained, TidingsError


class DocumentError(Explained, TidingsError):
    """A document is refused; line and column are 0 where there is no place."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.problem()}" if self.line else self.problem()


class MalformedDocument(DocumentError):
    """The bytes are not XML that Tidings reads; `what` is what the parser says."""

    what: str
    template = "{what}"


class DocumentTooLarge(DocumentError):
    what: str
    limit: int
    template = "the document has more than {limit:,} {what}"


class PathIndexError(Explained, TidingsError):
    """The index was asked for something it cannot do."""

    number: int


class PathNumberTaken(PathIndexError):
    template = "there is a path {number:,} already; remove it first"


class UnknownPathNumber(PathIndexError):
    template = "there is no path {number:,}"
