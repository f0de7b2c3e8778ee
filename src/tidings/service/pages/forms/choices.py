"""What the builder of filters offers: the attributes, and for each the operators that its domain allows."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.schema import Domain
from tidings.schema.catalog import RESERVED, Catalog
from tidings.schema.domain import Kind

_MOST_FOUND = 50  # values that a search answers
_ORDER = ("<", "<=", ">", ">=")
_PLAIN = {"=": "is", "!=": "is not"}
_AMOUNTS = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"}
_WORDS: dict[Kind, dict[str, str]] = {
    Kind.NUMERIC: {**_PLAIN, **_AMOUNTS},
    Kind.TIME: {**_PLAIN, "<": "before", "<=": "not after", ">": "after", ">=": "not before"},
    Kind.HIERARCHICAL: {
        **_PLAIN,
        "<=": "is within",
        "<": "is below",
        ">=": "is or is above",
        ">": "is above",
    },
    Kind.ENUMERATED: {**_PLAIN, **_AMOUNTS},
    Kind.STRING: {**_PLAIN, "<": "sorts before", "<=": "sorts not after", ">": "sorts after", ">=": "sorts not before"},
    Kind.TEXT: _PLAIN,
    Kind.PLACE: {},
    Kind.DOCUMENT: {},
}
_STRINGS = {
    "starts": ("begins with", "does not begin with"),
    "ends": ("ends with", "does not end with"),
    "like": ("looks like (% any text, _ any character)", "does not look like (% any text, _ any character)"),
}
_PATTERN = '(and, or, not, red*, "one owner", red near[5] mini)'


@dataclass(frozen=True, slots=True)
class Choice:
    """An operator that may be chosen; `takes` is none, one, two, many, words, path, or as `computed_rows` has it."""

    operator: str
    label: str
    takes: str

    def as_json(self) -> dict[str, str]:
        return {"operator": self.operator, "label": self.label, "takes": self.takes}


def choices(domain: Domain, multiple: bool) -> list[Choice]:
    """The operators that a domain allows, in people's words."""
    words = _WORDS[domain.kind]
    wordy = domain.kind.wordy
    ordered = [operator for operator in ("=", "!=") if domain.allows(operator)]
    order = ("<=", "<", ">=", ">") if domain.kind is Kind.HIERARCHICAL else _ORDER
    compared = [operator for operator in order if domain.allows(operator)]
    if domain.kind is Kind.HIERARCHICAL:
        ordered = compared[:1] + ordered + compared[1:]
    else:
        ordered += compared
    made = [Choice(operator, words[operator], "one") for operator in ordered]
    if domain.allows("="):
        made += [Choice("in", "is one of", "many"), Choice("not in", "is none of", "many")]
    if domain.allows("<=") and domain.allows(">=") and domain.kind is not Kind.HIERARCHICAL:
        made += [Choice("between", "from … to", "two"), Choice("not between", "not from … to", "two")]
    if ordered and domain.kind is not Kind.TEXT:
        made.append(Choice("compares", "compared with an attribute", "compares"))
    if ordered and domain.kind is Kind.TIME:
        made.append(Choice("now", "compared with now", "now"))
    for operator, label in (("near", "is near"), ("inside", "is inside a box")):
        if domain.kind is Kind.PLACE and domain.allows(operator):
            negation = label.replace("is ", "is not ", 1)
            made += [Choice(operator, label, operator), Choice(f"not {operator}", negation, operator)]
    if domain.allows("xpath"):
        made += [
            Choice("xpath", "has a node at the path", "path"),
            Choice("not xpath", "has no node at the path", "path"),
        ]
    for operator, (label, negation) in _STRINGS.items():
        if domain.allows(operator):
            made += [Choice(operator, label, "one"), Choice(f"not {operator}", negation, "one")]
    if wordy and domain.allows("contains"):
        made += [
            Choice("contains all", "has all the words", "words"),
            Choice("contains any", "has any of the words", "words"),
            Choice("not contains all", "does not have all the words", "words"),
            Choice("not contains any", "has none of the words", "words"),
            Choice("contains pattern", f"fits the word pattern {_PATTERN}", "words"),
            Choice("not contains pattern", f"does not fit the word pattern {_PATTERN}", "words"),
        ]
    if domain.allows("~"):
        made += [
            Choice("similar", "is similar to", "similar"),
            Choice("not similar", "is not similar to", "similar"),
        ]
    if not wordy and multiple and domain.kind not in (Kind.PLACE, Kind.DOCUMENT):
        made += [
            Choice("contains", "has among its values", "one"),
            Choice("not contains", "does not have among its values", "one"),
        ]
    return [*made, Choice("exists", "is given", "none"), Choice("not exists", "is not given", "none")]


def grouped(catalog: Catalog) -> list[tuple[str, tuple[str, ...]]]:
    """The same by event type: what several types have first, each type's own, and at the end what every event has."""
    uses: dict[str, list[str]] = {}
    for event_type in catalog.event_types:
        for use in event_type.attributes:
            uses.setdefault(use.name, []).append(event_type.name)
    shared = tuple(one.name for one in catalog.attributes if len(uses.get(one.name, ())) > 1)
    own = [
        (one.name, tuple(use.name for use in one.attributes if len(uses[use.name]) == 1)) for one in catalog.event_types
    ]
    groups = [("Several types", shared), *own, ("Every event", RESERVED)]
    return [(name, names) for name, names in groups if names]


def offered(catalog: Catalog) -> tuple[str, ...]:
    """The attributes that rows may be about: those of event types, in the order of the schema; then the envelope's."""
    return (*(one.name for one in catalog.attributes if catalog.is_used(one.name)), *RESERVED)


def values_like(domain: Domain, text: str) -> list[str]:
    """Values that begin with the text, then those that contain it; of a hierarchy by name, then by path."""
    sought = text.casefold()
    names = domain.hierarchy.names or domain.vocabulary  # of a node its own name comes first, then its path
    pairs = zip(domain.vocabulary, names, strict=True)
    first = [value for value, name in pairs if name.casefold().startswith(sought)][:_MOST_FOUND]
    if len(first) < _MOST_FOUND:
        first += [value for value in domain.vocabulary if sought in value.casefold() and value not in first]
    return first[:_MOST_FOUND]
