"""What can be wrong with a document, or with a domain's grammar."""

from __future__ import annotations

from tidings.errors import SchemaError


class DocumentError(SchemaError):
    """A document is refused; line and column are 0 where there is no place."""

    line: int
    column: int
    template = "the document is refused"

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


class WrongRoot(DocumentError):
    root: str
    expected: str
    template = "the root element is {root!r}; expected {expected!r}"


class InvalidDocument(DocumentError):
    """The document is XML, but not as the grammar of its domain has it; `what` is what the validator says."""

    what: str
    template = "not valid for the domain's grammar: {what}"


class WrongGrammar(SchemaError):
    """A grammar cannot be used; line is 0 where there is no place."""

    kind: str
    line: int
    what: str

    def problem(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"the grammar ({self.kind.upper()}) cannot be used: {place}{self.what}"


class WrongNamespace(SchemaError):
    prefix: str
    what: str
    template = "the prefix {prefix!r} cannot be declared: {what}"
