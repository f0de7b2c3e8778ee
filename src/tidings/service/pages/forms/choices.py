"""What the builder of filters offers: the attributes, and for each the operators that its domain allows."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.schema import Domain
from tidings.schema.catalog import RESERVED, Catalog
from tidings.schema.domain import Kind

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
    Kind.PLACE: {},  # `near` and `inside` are written as text
}


@dataclass(frozen=True, slots=True)
class Choice:
    """An operator that may be chosen; `takes` is none, one, two, many or words."""

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
    if wordy and domain.allows("contains"):
        made += [
            Choice("contains all", "has all the words", "words"),
            Choice("contains any", "has any of the words", "words"),
            Choice("not contains all", "lacks any of the words", "words"),
            Choice("not contains any", "has none of the words", "words"),
        ]
    elif not wordy and multiple and domain.kind is not Kind.PLACE:
        made += [
            Choice("contains", "has among its values", "one"),
            Choice("not contains", "has not among its values", "one"),
        ]
    return [*made, Choice("exists", "is given", "none"), Choice("not exists", "is not given", "none")]


def offered(catalog: Catalog) -> tuple[str, ...]:
    """The attributes that rows may be about: those of event types, in the order of the schema; then the envelope's."""
    return (*(one.name for one in catalog.attributes if catalog.is_used(one.name)), *RESERVED)
