"""A domain: which values an attribute may take and which operators may be asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, assert_never

from tidings.errors import SchemaError, nearest
from tidings.schema.documents.errors import DocumentError
from tidings.schema.documents.rules import NO_RULES, DocumentRules
from tidings.schema.hierarchy import AmbiguousNode, Hierarchy, UnknownNode, listed_paths
from tidings.schema.values import Instant, NotText, Place, Value, is_text, number

EQUALITY = ("=", "!=")
ORDER = ("<", "<=", ">", ">=")
COMPARISONS = EQUALITY + ORDER

# Those of Snowball, by which stems are found.
LANGUAGES = (
    "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "esperanto", "estonian", "finnish",
    "french", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali",
    "norwegian", "portuguese", "romanian", "russian", "serbian", "spanish", "swedish", "tamil", "turkish",
    "yiddish",
)  # fmt: skip

KeyType = Literal[
    "float", "microseconds", "text", "ordinal", "place", "document"
]  # what values are sorted and looked up by


class Kind(StrEnum):
    """A sort of values. Its traits are in the table below."""

    NUMERIC = "numeric"
    STRING = "string"
    ENUMERATED = "enumerated"
    HIERARCHICAL = "hierarchical"
    TEXT = "text"
    TIME = "time"
    PLACE = "place"
    DOCUMENT = "document"

    keys: KeyType
    operators: tuple[str, ...]  # that a domain may allow
    listed: bool  # a domain lists its values, and they have ordinals
    wordy: bool  # `contains` looks for words in a value, not for a member
    totally_ordered: bool  # any two values can be compared, so that `not (a < b)` is `a >= b`


_TRAITS: dict[Kind, tuple[KeyType, tuple[str, ...]]] = {
    Kind.NUMERIC: ("float", COMPARISONS),
    Kind.STRING: ("text", (*COMPARISONS, "contains", "starts", "ends", "like")),
    Kind.ENUMERATED: ("ordinal", COMPARISONS),
    Kind.HIERARCHICAL: ("ordinal", COMPARISONS),
    Kind.TEXT: ("text", ("=", "contains", "~")),
    Kind.TIME: ("microseconds", COMPARISONS),
    Kind.PLACE: ("place", ("near", "inside")),
    Kind.DOCUMENT: ("document", ("xpath",)),
}
for _kind in Kind:
    _kind.keys, _kind.operators = _TRAITS[_kind]
    _kind.listed = _kind.keys == "ordinal"
    _kind.wordy = _kind.keys == "text"
    _kind.totally_ordered = _kind is not Kind.HIERARCHICAL


class OperatorOutsideKind(SchemaError):
    """A domain declares an operator that its kind does not have."""

    domain: str
    kind: str
    operator: str
    legal: tuple[str, ...]
    template = "domain {domain!r}: {article} {kind} domain cannot allow {operator!r}; it may allow {legal!w}"

    @property
    def article(self) -> str:
        return "an" if self.kind == Kind.ENUMERATED else "a"


class PartOutsideKind(SchemaError):
    """A domain has values, an order or a hierarchy that its kind cannot have."""

    domain: str
    kind: str
    part: str
    needed: str
    template = "domain {domain!r}: {part!r} belongs to {needed} domains; this one is {kind}"


class RepeatedValue(SchemaError):
    domain: str
    value: str
    template = "domain {domain!r}: the value {value!r} is listed twice"


class UnknownLanguage(SchemaError):
    domain: str
    language: str
    known: tuple[str, ...]
    template = "domain {domain!r}: stemming is not supported for the language {language!r}; supported: {known!w}"


class OutsideDomain(SchemaError):
    """A value is not in a domain; `reason` says why or what was expected."""

    domain: str
    value: object
    reason: str
    template = "{value!v} is not in domain {domain!r}; {reason}"


@dataclass(frozen=True)
class Domain:
    """A named set of values. `values` is for enumerated domains, `hierarchy` for hierarchical ones."""

    name: str
    kind: Kind
    operators: tuple[str, ...] | None = None  # None: all that the kind allows
    values: tuple[str, ...] = ()
    ordered: bool = False
    hierarchy: Hierarchy = field(default_factory=Hierarchy)
    open: bool = False  # an enumeration of which any text is a value, and `values` are the known ones
    language: str | None = None  # of a text: whose stems `w~` compares
    document: DocumentRules = NO_RULES
    _ordinals: dict[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind is not Kind.ENUMERATED and (self.values or self.ordered):
            part = "values" if self.values else "ordered"
            raise PartOutsideKind(self.name, self.kind, part, Kind.ENUMERATED)
        if self.open and (self.kind is not Kind.ENUMERATED or self.ordered):
            which = f"ordered {self.kind}" if self.ordered else str(self.kind)
            raise PartOutsideKind(self.name, which, "open", f"unordered {Kind.ENUMERATED}")
        if self.kind is not Kind.HIERARCHICAL and self.hierarchy.nodes:
            raise PartOutsideKind(self.name, self.kind, "hierarchy", Kind.HIERARCHICAL)
        if self.language is not None:
            if self.kind is not Kind.TEXT:
                raise PartOutsideKind(self.name, self.kind, "language", Kind.TEXT)
            if self.language not in LANGUAGES:
                raise UnknownLanguage(self.name, self.language, LANGUAGES)
        if self.kind is not Kind.DOCUMENT and self.document != NO_RULES:
            raise PartOutsideKind(self.name, self.kind, _part_of_document(self.document), Kind.DOCUMENT)
        legal = legal_operators(self.kind, self.ordered)
        chosen = legal if self.operators is None else self.operators
        for operator in chosen:
            if operator not in legal:
                raise OperatorOutsideKind(self.name, self.kind, operator, legal)
        object.__setattr__(self, "operators", tuple(operator for operator in legal if operator in chosen))
        ordinals = {value: ordinal for ordinal, value in enumerate(self.values)}
        if len(ordinals) != len(self.values):
            raise RepeatedValue(self.name, next(v for i, v in enumerate(self.values) if ordinals[v] != i))
        for value in self.values:
            if not is_text(value):
                raise NotText(f"domain {self.name!r}", value)
        object.__setattr__(self, "_ordinals", ordinals)

    def allows(self, operator: str) -> bool:
        assert self.operators is not None
        return operator in self.operators

    @property
    def listed(self) -> bool:
        """Whether the domain lists all its values, so that they have ordinals."""
        return self.kind.listed and not self.open

    @property
    def stored_as(self) -> Kind:
        """The kind whose keys its values have: those of an open enumeration are text."""
        return Kind.STRING if self.open else self.kind

    def names(self, word: str) -> bool:
        """Whether a bare word in a filter is one of this domain's values, or the end of several paths."""
        return word in self._ordinals or word in self.hierarchy

    def ordinal(self, value: str) -> int:
        """An enumerated value's place in the list, a node's pre-order number."""
        return self.hierarchy.number(value) if self.kind is Kind.HIERARCHICAL else self._ordinals[value]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The canonical values by ordinal, of an enumerated or hierarchical domain; if it is open, the known ones."""
        return self.hierarchy.nodes if self.kind is Kind.HIERARCHICAL else self.values

    @property
    def words(self) -> tuple[str, ...]:
        """What a person may write for a listed value."""
        return self.hierarchy.words if self.kind is Kind.HIERARCHICAL else self.values

    def canonical(self, value: object, hints: bool = True) -> Value:
        """The value as the inside of Tidings knows it; raises OutsideDomain, if `hints` with the nearest word."""
        match self.kind:
            case Kind.NUMERIC:
                try:
                    return number(value)
                except ValueError as problem:
                    raise OutsideDomain(self.name, value, str(problem)) from None
            case Kind.TIME:
                return self._instant(value)
            case Kind.PLACE:
                return self._place(value)
            case Kind.DOCUMENT:
                return self._document(value)
            case Kind.ENUMERATED if not self.open:
                if isinstance(value, str) and value in self._ordinals:
                    return value
                raise OutsideDomain(self.name, value, self._legal_words(value, hints))
            case Kind.HIERARCHICAL:
                known = self.hierarchy.short_names.get(value) if type(value) is str else None
                return known or self._path(value, hints)
            case Kind.STRING | Kind.TEXT | Kind.ENUMERATED:
                if not isinstance(value, str):
                    raise OutsideDomain(self.name, value, "expected text")
                if not is_text(value):
                    raise OutsideDomain(self.name, value, "it contains an unpaired surrogate")
                return value
            case _:
                assert_never(self.kind)

    def _document(self, value: object) -> str:
        if not isinstance(value, str | bytes):
            raise OutsideDomain(self.name, value, "expected an XML document, as text")
        try:
            return self.document.canonical(value)
        except DocumentError as problem:
            raise OutsideDomain(self.name, value, str(problem)) from None

    def _place(self, value: object) -> Place:
        """A pair of degrees, or its text, since cells of a table are texts."""
        try:
            if isinstance(value, str):
                return value if isinstance(value, Place) else Place.parse(value)
            if isinstance(value, list | tuple) and len(value) == 2:
                return Place.of(*value)
        except ValueError as problem:
            raise OutsideDomain(self.name, value, str(problem)) from None
        raise OutsideDomain(self.name, value, "expected a latitude and a longitude, e.g. [37.8, -122.4]")

    def _path(self, value: object, hints: bool) -> str:
        try:
            if isinstance(value, str):
                return self.hierarchy.path(value)
        except AmbiguousNode as several:
            reason = f"several nodes have this name; write the whole path: {listed_paths(several.paths)}"
            raise OutsideDomain(self.name, value, reason) from None
        except UnknownNode:
            pass
        raise OutsideDomain(self.name, value, self._legal_words(value, hints))

    def _instant(self, value: object) -> Instant:
        if isinstance(value, Instant):
            return value
        if not isinstance(value, str):
            raise OutsideDomain(self.name, value, "expected an ISO 8601 time, e.g. '2026-05-01T10:00:00Z'")
        try:
            return Instant.parse(value)
        except ValueError as problem:
            raise OutsideDomain(self.name, value, str(problem)) from None

    def _legal_words(self, value: object, hints: bool) -> str:
        words = self.vocabulary
        if not words:
            return "the domain has no values yet"
        if hints and isinstance(value, str) and (word := nearest(value, self.words)):
            return f"did you mean {word!r}?"
        few = f"valid values: {', '.join(map(repr, words))}"
        return few if len(words) <= 12 else f"it is not one of the domain's {len(words):,} values"


def _part_of_document(rules: DocumentRules) -> str:
    return "grammar" if rules.grammar else "root" if rules.root else "namespaces"


def legal_operators(kind: Kind, ordered: bool) -> tuple[str, ...]:
    """What a domain of this kind may allow; an enumeration has an order only when it declares one."""
    return EQUALITY if kind is Kind.ENUMERATED and not ordered else kind.operators
