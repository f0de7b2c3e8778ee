"""What a conjunction demands, gathered by attribute: the summary that satisfiability and covering read."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidings.language.normal_form import Conjunction
from tidings.language.ranges import Ranges, intersect_all, ranges_of, space_of
from tidings.language.tree import (
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Not,
)
from tidings.schema.catalog import ALWAYS_BOUND, Catalog
from tidings.schema.domain import Kind
from tidings.schema.values import Value

# How two values may stand to each other, as bits; in a hierarchy they may be unrelated.
LESS, SAME, GREATER, UNRELATED = 1, 2, 4, 8
RELATIONS = {
    "<": LESS,
    "<=": LESS | SAME,
    "=": SAME,
    "!=": LESS | GREATER | UNRELATED,
    ">=": GREATER | SAME,
    ">": GREATER,
}
ANY_RELATION = LESS | SAME | GREATER | UNRELATED
_MIRRORED = {bits: bits & ~5 | (bits & 1) << 2 | (bits & 4) >> 2 for bits in range(16)}


@dataclass(slots=True)
class Constraints:
    """All demands of one conjunction."""

    ranges: dict[str, Ranges] = field(default_factory=dict)  # of the chosen value
    bound: set[str] = field(default_factory=set)
    unbound: set[str] = field(default_factory=set)
    members: set[tuple[str, Value]] = field(default_factory=set)
    strangers: set[tuple[str, Value]] = field(default_factory=set)  # must not be among the bound ones
    words: list[ContainsWords] = field(default_factory=list)
    absent_words: list[ContainsWords] = field(default_factory=list)
    relations: dict[tuple[str, str], int] = field(default_factory=dict)  # by names in order

    def relate(self, left: str, right: str, bits: int, total: bool) -> None:
        if total:
            bits &= ~UNRELATED
        if left > right:
            left, right, bits = right, left, _MIRRORED[bits]
        if left == right:
            bits &= SAME
        self.relations[left, right] = self.relations.get((left, right), ANY_RELATION) & bits

    def binds(self, attribute: str) -> bool:
        return attribute in self.bound or attribute in ALWAYS_BOUND


def constraints_of(conjunction: Conjunction, catalog: Catalog) -> Constraints:
    """The demands of a bound conjunction."""
    gathered = Constraints()
    ranges: dict[str, list[Ranges]] = {}
    for literal in conjunction:
        negated = type(literal) is Not
        predicate = literal.term if isinstance(literal, Not) else literal
        match predicate:
            case Comparison(attribute) | Between(attribute) | In(attribute):
                domain = catalog.domain_of(attribute)
                assert domain is not None
                ranges.setdefault(attribute, []).append(ranges_of(literal, space_of(domain)))  # type: ignore[arg-type]
                gathered.bound.add(attribute)
            case AttributeComparison(attribute, operator, other):
                domain = catalog.domain_of(attribute)
                assert domain is not None
                bits = RELATIONS[operator]
                total = domain.kind is not Kind.HIERARCHICAL
                gathered.relate(attribute, other, ANY_RELATION & ~bits if negated else bits, total)
                gathered.bound |= {attribute, other}
            case Contains(attribute, value):
                (gathered.strangers if negated else gathered.members).add((attribute, value))  # type: ignore[arg-type]
                gathered.bound.add(attribute)
            case ContainsWords(attribute):
                (gathered.absent_words if negated else gathered.words).append(predicate)
                gathered.bound.add(attribute)
            case Exists(attribute):
                (gathered.unbound if negated else gathered.bound).add(attribute)
    gathered.ranges = {attribute: intersect_all(parts) for attribute, parts in ranges.items()}
    return gathered
