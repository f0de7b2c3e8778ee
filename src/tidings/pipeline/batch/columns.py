"""A filter as an expression over the columns of a DataFrame, so that Spark selects by itself, down to the files it
reads.

What one value must satisfy are ranges (`language.ranges`), the same that the matchers' index is made of. Where an
attribute has several values in an array, one of them must satisfy all comparisons of the conjunction together: a
quantifier over the array stands around just those terms that speak of it. A missing value makes a predicate null,
negated or not, which selects as false does.

What no expression says (words, columns of odd types, very long lists) is left out, which selects too much, never
too little; then `exact` is false, and a matcher must look at what was selected. Rows that are no valid events may
be selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never

from pyspark.sql import functions

from tidings.language import Filter
from tidings.language.analysis.constraints import demand_of
from tidings.language.normal_form import Literal, push_negation
from tidings.language.predicates import attributes_of, chosen_attributes
from tidings.language.predicates.kind import (
    AheadIn,
    EndIn,
    Fits,
    HasMember,
    HasPath,
    HasPattern,
    HasWords,
    IsBound,
    IsSimilar,
    Relates,
    RelatesLinearly,
    ValueIn,
    Verified,
    WithinRegion,
)
from tidings.language.ranges import attribute_space
from tidings.language.tree import And, Node, Not, Or
from tidings.pipeline.batch.column_values import AttributeColumn, Opaque, Place, both, either, parquet_place
from tidings.schema import Catalog

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

MOST_PREDICATES = 2000  # beyond it Spark's planner takes longer than a matcher

_UNSAID = (
    EndIn,
    Fits,
    HasWords,
    HasPattern,
    HasPath,
    IsSimilar,
    RelatesLinearly,
    AheadIn,
    WithinRegion,
    Verified,
)  # by expressions
_Chosen = dict[str, Any]  # by attribute the value that a quantifier stands for


class Condition(NamedTuple):
    column: Column
    exact: bool  # whether it says all that the filter says


def condition(filter: Filter, catalog: Catalog, schema: StructType, place: Place = parquet_place) -> Condition:
    """For DataFrames of this schema; `place` says in which column a name's values are."""
    tree = push_negation(filter.tree, catalog)
    lowered = {name.lower() for name in schema.names}  # Spark does not tell names apart by their case
    if len(lowered) < len(schema.names) or _size(tree) > MOST_PREDICATES:
        return Condition(functions.lit(True), False)
    compiler = _Compiler(catalog, schema, place)
    return Condition(compiler.holds(tree, {}), compiler.exact)


class _Compiler:
    def __init__(self, catalog: Catalog, schema: StructType, place: Place) -> None:
        self._catalog = catalog
        self._schema = schema
        self._place = place
        self.exact = True

    def holds(self, node: Node, chosen: _Chosen) -> Any:
        """The node, where these attributes have a value chosen already."""
        match node:
            case Or(terms):
                return either([self.holds(term, chosen) for term in terms])
            case And(terms):
                return both([self._together(part, chosen) for part in self._parts(terms, chosen)])
            case _:
                try:
                    return self._said(node, chosen)
                except Opaque:
                    self.exact = False
                    return functions.lit(True)

    def _parts(self, terms: Sequence[Node], chosen: _Chosen) -> list[list[Node]]:
        """The terms, those together that must choose a value together."""
        parts: list[tuple[set[str], list[Node]]] = []
        for term in terms:
            names, members = self._to_choose(term, chosen), [term]
            apart = []
            for part in parts:
                if names.isdisjoint(part[0]):
                    apart.append(part)
                else:
                    names, members = names | part[0], part[1] + members
            parts = [*apart, (names, members)]
        return [members for _, members in parts]

    def _to_choose(self, node: Node, chosen: _Chosen) -> set[str]:
        """The attributes of which the node compares one value out of several."""
        match node:
            case And(terms) | Or(terms):
                return set().union(*(self._to_choose(term, chosen) for term in terms))
            case Not(term):
                return self._to_choose(term, chosen)
            case _:
                return {name for name in chosen_attributes(node) if name not in chosen and self._is_several(name)}

    def _together(self, terms: list[Node], chosen: _Chosen) -> Any:
        """A value is chosen for the attribute that most of the terms name, until each term can choose by itself."""
        if len(terms) == 1:
            return self.holds(terms[0], chosen)
        names = [name for term in terms for name in sorted(self._to_choose(term, chosen))]
        name = max(names, key=names.count)
        attribute = self._column(name)
        assert attribute is not None
        # Where it is not bound, alternatives that do not speak of it still count: one missing value stands for none.
        nothing = functions.array(functions.lit(None).cast(attribute.element))
        return functions.exists(
            functions.coalesce(attribute.column, nothing),
            lambda one: self.holds(And(tuple(terms)), {**chosen, name: one}),
        )

    def _said(self, literal: Literal, chosen: _Chosen) -> Any:
        demand = demand_of(literal, lambda name: attribute_space(name, self._catalog))
        if isinstance(demand, _UNSAID):
            raise Opaque
        columns = [self._column(name) for name in attributes_of(literal)]
        first, second = columns[0], columns[-1]
        if isinstance(demand, IsBound):
            bound = functions.lit(False) if first is None else first.column.isNotNull()
            return ~bound if demand.negated else bound
        if first is None or second is None:
            return functions.lit(False)
        match demand:
            case HasMember(name, value, negated):
                has = _some(first, name, {}, lambda one: first.within(one, first.space.point(value)))
                return ~has if negated else has
            case Relates(name, other, bits):
                related = first.relation(second, bits)
                if name == other:
                    return _some(first, name, chosen, lambda one: related(one, one))
                return _some(
                    first, name, chosen,
                    lambda one: _some(second, other, chosen, lambda two: related(one, two)),
                )  # fmt: skip
            case ValueIn(name, ranges):
                return _some(first, name, chosen, lambda one: first.within(one, ranges))
            case _:
                assert_never(demand)

    def _column(self, name: str) -> AttributeColumn | None:
        return AttributeColumn.of(name, self._catalog, self._schema, self._place)

    def _is_several(self, name: str) -> bool:
        try:
            attribute = self._column(name)
        except Opaque:
            return False
        return attribute is not None and attribute.several


def _some(attribute: AttributeColumn, name: str, chosen: _Chosen, test: Callable[[Any], Any]) -> Any:
    """The test of the chosen value; of any value, where none is chosen."""
    if name in chosen:
        return test(attribute.value(chosen[name]))
    if not attribute.several:
        return test(attribute.value(attribute.column))
    return functions.exists(attribute.column, lambda one: test(attribute.value(one)))


def _size(node: Node) -> int:
    match node:
        case And(terms) | Or(terms):
            return sum(map(_size, terms))
        case _:
            return 1
