"""Binding: the parsed composite against a catalog. Filters are bound as ever; conditions and `by` are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from tidings.language.composites.conditions import EXPECTED
from tidings.language.composites.correlation import can_bind, refuse_unbound
from tidings.language.composites.errors import NotInWhere, NotOfTimeEvents, UnknownPart
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Condition,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Part,
    Root,
    TimeLeaf,
    Times,
    Unless,
    Without,
    leaves,
)
from tidings.language.errors import UnexpectedToken
from tidings.language.filter import Filter
from tidings.language.predicates import kind_of
from tidings.language.scope import Scope
from tidings.language.tree import (
    AttributeComparison,
    Comparison,
    LinearComparison,
    Name,
    Node,
    NowComparison,
    Word,
)
from tidings.schema.catalog import ENVELOPE, Catalog


class Binding:
    """One composite while it is bound: the catalog, the text for errors' pictures, and the filters made so far. If it
    is `known`, it was accepted before and is not checked again."""

    def __init__(self, composite: Composite, text: str, catalog: Catalog, known: bool = False) -> None:
        self.known = known
        self.scope = Scope(text, catalog)
        self.parts: Mapping[str, Leaf | TimeLeaf] = {leaf.name: leaf for leaf in leaves(composite.tree) if leaf.name}
        self.filters: dict[Node, Filter] = {}
        self.compared: dict[tuple[str, str], None] = {}  # parts with the attributes that conditions ask of them
        self.composite = composite

    def bound(self) -> Composite:
        """The composite with every name looked up; raises LanguageError."""
        tree = self.root(self.composite.tree)
        if self.known:
            return replace(self.composite, tree=tree)
        by, places = self.composite.by, self.composite.by_at
        for attribute, at in zip(by, places or [0] * len(by), strict=True):
            self.scope.domain(attribute, at)
            refuse_unbound(attribute, tree, self.filters, self.scope)
        return replace(self.composite, tree=tree)

    def warnings(self, bound: Composite) -> list[str]:
        """Of the filters, and of conditions that can never hold."""
        found = [f"[{filter.text[:60]}]: {warning}" for filter in self.filters.values() for warning in filter.warnings]
        named = {leaf.name: leaf for leaf in leaves(bound.tree) if isinstance(leaf, Leaf)}
        for part, attribute in self.compared:
            leaf = named.get(part)
            if leaf is not None and not can_bind(self.filters[leaf.filter], attribute, self.scope.catalog):
                found.append(f"events of the part {part!r} do not have {attribute!r}: no comparison with it can hold")
        return found

    def root(self, node: Root) -> Root:
        return replace(node, term=self.part(node.term)) if isinstance(node, Absent) else self.part(node)

    def part(self, node: Part) -> Part:
        match node:
            case Leaf():
                return self.leaf(node)
            case Every() | EveryDay():
                return node
            case Either(left, right):
                return replace(node, left=self.part(left), right=self.part(right))
            case Both(left, right):
                return replace(node, left=self.part(left), right=self.part(right), where=self.where(node.where))
            case Before(left, right):
                left, right, where = self.part(left), self.part(right), self.where(node.where)
                without = None if node.without is None else self.without(node.without)
                return replace(node, left=left, right=right, where=where, without=without)
            case Unless(term, without):
                return replace(node, term=self.part(term), without=self.without(without), where=self.where(node.where))
            case Nth(term) | Times(term):
                return replace(node, term=self.part(term))
            case _:
                assert_never(node)

    def leaf(self, node: Leaf) -> Leaf:
        read = Filter.known if self.known else Filter.of
        filter = read(node.filter, self.scope.text, self.scope.catalog)
        self.filters.setdefault(filter.tree, filter)
        return replace(node, filter=filter.tree)

    def without(self, without: Without) -> Without:
        return Without(self.part(without.term), self.where(without.where))

    def where(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        return tuple(map(self.condition, conditions))

    def condition(self, condition: Condition) -> Condition:
        comparison = condition.comparison
        self.attribute(condition.part, comparison.attribute, condition.at)
        if condition.other_part is None:
            assert isinstance(comparison, Comparison)
            self.constant(comparison)
            bound = kind_of(comparison).bind(comparison, self.scope)
            if isinstance(bound, NowComparison):
                raise NotInWhere(self.scope.text, condition.at, "'now'")
        else:
            assert not isinstance(comparison, Comparison)
            assert isinstance(comparison.other, str)
            self.attribute(condition.other_part, comparison.other, condition.other_at)
            bound = self.related(comparison, Name(comparison.other, condition.other_at))
        assert isinstance(bound, Comparison | AttributeComparison | LinearComparison)
        return replace(condition, comparison=bound)

    def attribute(self, part: str, attribute: str, at: int) -> None:
        self.scope.domain(attribute, at)
        self.compared[part, attribute] = None
        if isinstance(self.parts[part], Every | EveryDay) and attribute not in ENVELOPE:
            raise NotOfTimeEvents(self.scope.text, at, attribute)

    def related(self, comparison: AttributeComparison | LinearComparison, other: Name) -> Node:
        """As in a filter, where both would be attributes of one event."""
        if isinstance(comparison, LinearComparison):
            return kind_of(comparison).bind(replace(comparison, other=other), self.scope)
        plain = Comparison(comparison.attribute, comparison.operator, other, comparison.at)
        return kind_of(plain).bind(plain, self.scope)

    def constant(self, comparison: Comparison) -> None:
        """Refuses what would be an attribute in a filter: here it needs the part that it is of."""
        value = comparison.value
        if not isinstance(value, Word | Name):
            return
        domain = self.scope.domain(comparison.attribute, comparison.at)
        if domain.names(value.name) and isinstance(value, Word):
            return
        part, dot, _ = value.name.partition(".")
        if dot and isinstance(value, Word) and self.scope.catalog.domain_of(value.name) is None:
            raise UnknownPart(self.scope.text, value.at, part, tuple(self.parts))
        if isinstance(value, Name) or self.scope.catalog.domain_of(value.name) is not None:
            expected = f"{EXPECTED}, or a value in single quotes"
            raise UnexpectedToken(self.scope.text, value.at, repr(value.name), expected)
