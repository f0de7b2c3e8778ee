"""Binding: the parsed tree against a catalog. Words become values or attributes, operators are checked."""

from __future__ import annotations

from tidings.errors import LanguageError
from tidings.language.errors import (
    AmbiguousWord,
    DoubleQuotedValue,
    NeedsValue,
    NotComparable,
    NotForThisKind,
    OperatorNotAllowed,
    UnclearWords,
    UnknownAttribute,
    UnknownWord,
    ValueOutsideDomain,
)
from tidings.language.tokens import tokenize
from tidings.language.tree import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Name,
    Node,
    Not,
    Operand,
    Or,
    Word,
)
from tidings.language.words import words_of
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind, OutsideDomain
from tidings.schema.values import Value

_WORDY = (Kind.STRING, Kind.TEXT)
_LISTED = (Kind.ENUMERATED, Kind.HIERARCHICAL)
_LITERALS = ("text", "number")
_OPERATORS = ("operator", "keyword")


def bind(tree: Node, text: str, catalog: Catalog) -> Node:
    """The tree with every name looked up; `text` is only for the errors' pictures."""
    return _Binder(text, catalog).bind(tree)


class _Binder:
    __slots__ = ("catalog", "text")

    def __init__(self, text: str, catalog: Catalog) -> None:
        self.text = text
        self.catalog = catalog

    def bind(self, node: Node) -> Node:
        match node:
            case Comparison():
                return self.comparison(node)
            case And(terms):
                return And(tuple([self.bind(term) for term in terms]))
            case Or(terms):
                return Or(tuple([self.bind(term) for term in terms]))
            case Not(term):
                return Not(self.bind(term))
            case Contains(attribute, value, at):
                return self.contains(attribute, value, at)
            case In(attribute, values, at):
                domain = self.domain(attribute, at)
                self.need(domain, attribute, at, "in", "=")
                bound = dict.fromkeys(self.value(domain, attribute, value, at, "in") for value in values)
                return In(attribute, tuple(bound), at)
            case Between(attribute, low, high, at):
                domain = self.domain(attribute, at)
                self.need(domain, attribute, at, "between", ">=", "<=")
                return Between(
                    attribute,
                    self.value(domain, attribute, low, at, "between"),
                    self.value(domain, attribute, high, at, "between"),
                    at,
                )
            case ContainsWords(attribute, quantifier, words, at):
                domain = self.domain(attribute, at)
                if domain.kind not in _WORDY:
                    kinds = ("string", "text")
                    place = self.place(at, "contains", _OPERATORS)
                    construct = f"contains {quantifier}"
                    raise NotForThisKind(self.text, place, construct, attribute, str(domain.kind), kinds)
                self.need(domain, attribute, at, "contains", "contains")
                return ContainsWords(attribute, quantifier if len(words) > 1 else "all", words, at)
            case Exists(attribute, at):
                self.domain(attribute, at)
                return node
            case AttributeComparison(attribute, operator, other, at):
                domain = self.domain(attribute, at)
                self.need(domain, attribute, at, operator, operator)
                return self.attributes(domain, attribute, operator, other, at, at)

    def comparison(self, node: Comparison) -> Node:
        attribute, operator, value, at = node.attribute, node.operator, node.value, node.at
        domain = self.domain(attribute, at)
        if operator == "under":
            if domain.kind is not Kind.HIERARCHICAL:
                kind = str(domain.kind)
                place = self.place(at, "under", _OPERATORS)
                raise NotForThisKind(self.text, place, "under", attribute, kind, ("hierarchical",))
            self.need(domain, attribute, at, "under", "<=")
            return Comparison(attribute, "<=", self.value(domain, attribute, value, at, "under"), at)
        if operator not in domain.operators:  # type: ignore[operator]
            self.need(domain, attribute, at, operator, operator)
        if type(value) is Word:
            if not domain.names(value.name) and self.catalog.domain_of(value.name) is not None:
                return self.attributes(domain, attribute, operator, value.name, at, value.at)
            if domain.names(value.name) and self.catalog.domain_of(value.name) is not None:
                raise AmbiguousWord(self.text, value.at, value.name, attribute)
        elif type(value) is Name:
            if domain.names(value.name) and self.catalog.domain_of(value.name) is None:
                raise DoubleQuotedValue(self.text, value.at, value.name)
            return self.attributes(domain, attribute, operator, value.name, at, value.at)
        return Comparison(attribute, operator, self.value(domain, attribute, value, at, operator), at)

    def contains(self, attribute: str, value: Operand, at: int) -> Node:
        domain = self.domain(attribute, at)
        if domain.kind not in _WORDY:
            return Contains(attribute, self.value(domain, attribute, value, at, "contains"), at)
        self.need(domain, attribute, at, "contains", "contains")
        literal = self.value(domain, attribute, value, at, "contains")
        words = tuple(dict.fromkeys(words_of(str(literal))))
        if len(words) != 1:
            raise UnclearWords(self.text, self.place(at, literal, _LITERALS), literal, words)
        return ContainsWords(attribute, "all", words, at)

    def attributes(
        self, domain: Domain, attribute: str, operator: str, other: str, at: int, other_at: int
    ) -> AttributeComparison:
        other_domain = self.domain(other, other_at)
        if domain.kind is not other_domain.kind:
            reason = f"one is {domain.kind}, the other {other_domain.kind}"
            raise NotComparable(self.text, at, attribute, other, reason)
        if domain.kind in _LISTED and domain is not other_domain:
            reason = f"their domains {domain.name!r} and {other_domain.name!r} have values of their own"
            raise NotComparable(self.text, at, attribute, other, reason)
        self.need(other_domain, other, at, operator, operator)
        return AttributeComparison(attribute, operator, other, at)

    def domain(self, attribute: str, at: int) -> Domain:
        domain = self.catalog.domain_of(attribute)
        if domain is None:
            raise UnknownAttribute(self.text, at, attribute, self.catalog.attribute_names)
        return domain

    def need(self, domain: Domain, attribute: str, at: int, written: str, *needed: str) -> None:
        """Raises OperatorNotAllowed unless the domain allows all that the written construct needs."""
        for operator in needed:
            if not domain.allows(operator):
                always = ("exists",) if domain.kind in _WORDY else ("contains", "exists")
                allowed = (*(domain.operators or ()), *always)
                place = self.place(at, written, _OPERATORS)
                raise OperatorNotAllowed(self.text, place, attribute, domain.name, written, operator, allowed)

    def value(self, domain: Domain, attribute: str, operand: Operand, at: int, construct: str) -> Value:
        """A value of the domain where one is due."""
        if isinstance(operand, Word):
            if domain.kind not in _LISTED or not domain.names(operand.name):
                raise self.no_value(domain, attribute, operand, construct)
            return operand.name
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
            place = self.place(at, operand, _LITERALS)
            raise ValueOutsideDomain(self.text, place, attribute, operand, reason) from None

    def place(self, at: int, sought: Value, among: tuple[str, ...]) -> int:
        """Where, from `at` on, the operator or literal stands (looked up only for an error)."""
        kinds, written, offsets = tokenize(self.text)
        for kind, token, offset in zip(kinds, written, offsets, strict=True):
            if offset >= at and kind in among and _reads(kind, token, sought):
                return offset
        return at

    def no_value(self, domain: Domain, attribute: str, word: Word, construct: str) -> LanguageError:
        if self.catalog.domain_of(word.name) is not None:
            return NeedsValue(self.text, word.at, word.name, construct)
        legal = (*domain.vocabulary, *self.catalog.attribute_names)
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
