"""Looking up names and values in a catalog while a filter is bound: what predicate kinds bind themselves with."""

from __future__ import annotations

from tidings.errors import LanguageError
from tidings.language.errors import (
    DoubleQuotedValue,
    NeedsValue,
    OperatorNotAllowed,
    UnknownAttribute,
    UnknownWord,
    ValueOutsideDomain,
)
from tidings.language.tokens import tokenize
from tidings.language.tree import Name, Operand, Word
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind, OutsideDomain
from tidings.schema.values import Value


class Scope:
    """A catalog, and the filter's text for the errors' pictures."""

    __slots__ = ("catalog", "text")

    def __init__(self, text: str, catalog: Catalog) -> None:
        self.text = text
        self.catalog = catalog

    def domain(self, attribute: str, at: int) -> Domain:
        domain = self.catalog.domain_of(attribute)
        if domain is None:
            raise UnknownAttribute(self.text, at, attribute, self.catalog.attribute_names)
        return domain

    def need(self, domain: Domain, attribute: str, at: int, written: str, *needed: str) -> None:
        """Raises OperatorNotAllowed unless the domain allows all that the written construct needs."""
        for operator in needed:
            if not domain.allows(operator):
                always = ("exists",) if domain.kind.wordy else ("contains", "exists")
                allowed = (*(domain.operators or ()), *always)
                place = self.place_of_operator(at, written)
                raise OperatorNotAllowed(self.text, place, attribute, domain.name, written, operator, allowed)

    def value(self, domain: Domain, attribute: str, operand: Operand, at: int, construct: str) -> Value:
        """A value of the domain where one is due."""
        if isinstance(operand, Word):
            if not domain.kind.listed or not (domain.names(operand.name) or self._is_new(domain, operand.name)):
                raise self._no_value(domain, attribute, operand, construct)
            try:
                return domain.canonical(operand.name)
            except OutsideDomain as outside:
                raise ValueOutsideDomain(self.text, operand.at, attribute, operand.name, outside.reason) from None
        if isinstance(operand, Name):
            if domain.names(operand.name):
                raise DoubleQuotedValue(self.text, operand.at, operand.name)
            raise NeedsValue(self.text, operand.at, operand.name, construct)
        try:
            return domain.canonical(operand)
        except OutsideDomain as outside:
            reason = outside.reason
            if domain.kind is Kind.NUMERIC and isinstance(operand, str):
                quoted = _is_number(operand)
                reason = "numbers are written without quotes" if quoted else "write a number like 1300 or 12.5"
            elif not isinstance(operand, str) and domain.kind is not Kind.NUMERIC:
                reason = f"{domain.kind} values are written in single quotes"
            place = self.place_of_literal(at, operand)
            raise ValueOutsideDomain(self.text, place, attribute, operand, reason) from None

    def _is_new(self, domain: Domain, word: str) -> bool:
        """Whether a bare word can only be a value that an open enumeration does not know yet."""
        return domain.open and self.catalog.domain_of(word) is None

    def place_of_operator(self, at: int, operator: str) -> int:
        """Where the operator of the predicate at `at` is (looked up only for an error)."""
        return self._place(at + 1, operator, ("operator", "keyword", "name"))

    def place_of_literal(self, at: int, literal: Value) -> int:
        """Where the literal of the predicate at `at` is (looked up only for an error)."""
        return self._place(at, literal, ("text", "number"))

    def _place(self, at: int, sought: Value, among: tuple[str, ...]) -> int:
        for kind, token, offset in zip(*tokenize(self.text), strict=True):
            if offset >= at and kind in among and _reads(kind, token, sought):
                return offset
        return at

    def _no_value(self, domain: Domain, attribute: str, word: Word, construct: str) -> LanguageError:
        if self.catalog.domain_of(word.name) is not None:
            return NeedsValue(self.text, word.at, word.name, construct)
        legal = (*domain.words, *self.catalog.attribute_names)
        return UnknownWord(self.text, word.at, word.name, attribute, str(domain.kind), legal)


def _is_number(text: str) -> bool:
    """Whether what was quoted would be a number without its quotes."""
    try:
        return tokenize(text).kinds == ["number", "end"]
    except LanguageError:
        return False


def _reads(kind: str, token: str, sought: Value) -> bool:
    """Whether the token is how the operator, text or number was written."""
    if isinstance(sought, str):
        return (token[1:-1].replace("''", "'") if kind == "text" else token) == sought
    return kind == "number" and float(token) == float(sought)
