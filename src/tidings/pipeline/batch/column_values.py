"""The values of one attribute in a column of a DataFrame: which types Spark compares as we do, and how it says
where a value lies or how two stand to each other. Only `columns` uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import functions
from pyspark.sql import types as spark

from tidings.events.files.chunk import ENVELOPE_COLUMNS
from tidings.language.ranges import Ranges, Space, complement, space_of
from tidings.language.relations import ANY_RELATION, RELATIONS
from tidings.schema import Catalog, Domain, Instant, Kind
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE

MOST_NAMES = 1000  # literals of one predicate; each is a call into the JVM
_OPERATORS = {bits: operator for operator, bits in RELATIONS.items()}
_NUMBERS = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType, spark.FloatType, spark.DoubleType)


Place = Callable[[str], str | None]  # of a name that filters test, the name of its column


class Opaque(Exception):
    """No expression says this."""


@dataclass(frozen=True, eq=False)
class AttributeColumn:
    """`column` is an array where `several`; `element` is the type of a value."""

    domain: Domain
    column: Any
    element: Any
    several: bool

    @classmethod
    def of(cls, name: str, catalog: Catalog, schema: Any, place: Place) -> AttributeColumn | None:
        """None where the DataFrame has no such column; raises Opaque where its type is one that Spark compares
        otherwise than we do, or not at all."""
        domain, found = catalog.domain_of(name), place(name)
        assert domain is not None
        if found is None or found not in schema.names:
            return cls(domain, functions.lit(""), spark.StringType(), False) if name == "event.source" else None
        type_ = schema[found].dataType
        column = functions.col(f"`{found.replace('`', '``')}`")
        if name == "event.source":
            column = functions.coalesce(column, functions.lit(""))
        several = isinstance(type_, spark.ArrayType)
        element = type_.elementType if several else type_
        if not _is_known(domain.kind, element):
            raise Opaque
        return cls(domain, column, element, several)

    def value(self, element: Any) -> Any:
        """As it is compared."""
        if self.domain.kind is Kind.NUMERIC and not isinstance(self.element, spark.DoubleType):
            return element.cast(spark.DoubleType())
        return element

    @property
    def space(self) -> Space:
        return space_of(self.domain)

    def within(self, value: Any, ranges: Ranges) -> Any:
        """Whether the value lies in one of the ranges."""
        space = self.space
        if self.domain.listed:
            return self._among(value, ranges, complement(ranges, space))
        if len(ranges) > MOST_NAMES:
            raise Opaque
        points = [low for low, high in ranges if space.successor(low) == high]
        tests = [self._bounded(value, low, high, space) for low, high in ranges if space.successor(low) != high]
        if 0 in points:  # a hashed set of numbers would miss -0.0
            points.remove(0)
            tests.append(value == self._literal(0))
        tests += [value.isin([self._literal(point) for point in points])] if points else []
        return either(tests)

    def relation(self, other: AttributeColumn, bits: int) -> Callable[[Any, Any], Any]:
        """How a value of this attribute must stand to one of the other."""
        if self.domain.kind is Kind.TIME and type(self.element) is not type(other.element):
            raise Opaque
        negated = bits not in _OPERATORS
        operator = _OPERATORS[ANY_RELATION & ~bits if negated else bits]
        hierarchical = self.domain.kind is Kind.HIERARCHICAL
        if not self.domain.listed or (operator in ("=", "!=") and not hierarchical):
            return lambda one, two: _compared(one, operator, two)
        if len(self._spellings) > MOST_NAMES:
            raise Opaque
        if not hierarchical or operator in ("=", "!="):
            return lambda one, two: _compared(self._ordinal(one), operator, self._ordinal(two))
        upward, strictly = operator.startswith(">"), not operator.endswith("=")

        def related(one: Any, two: Any) -> Any:
            below, above = (two, one) if upward else (one, two)
            inside = self._below(self._ordinal(below), self._ordinal(above), strictly)
            return ~inside if negated else inside

        return related

    def _bounded(self, value: Any, low: Any, high: Any, space: Space) -> Any:
        bounds = [value >= self._literal(low)] if low != space.bottom else []
        bounds += [value < self._literal(high)] if high != space.top else []
        return both(bounds) if bounds else value.isNotNull()

    def _among(self, value: Any, inside: Ranges, outside: Ranges) -> Any:
        """A listed value by name, or by the names that it must not have where these are fewer."""
        few = min(inside, outside, key=_count)
        if _count(few) > MOST_NAMES:
            raise Opaque
        names = [
            functions.lit(name) for low, high in few for number in range(low, high) for name in self._names(number)
        ]
        if few is inside:
            return value.isin(names) if names else functions.lit(False)
        return ~value.isin(names) if names else value.isNotNull()

    def _names(self, number: int) -> Sequence[str]:
        """What may be written for a listed value."""
        if self.domain.kind is Kind.HIERARCHICAL:
            return self.domain.hierarchy.spellings(number)
        return (self.domain.values[number],)

    @property
    def _spellings(self) -> list[tuple[str, int]]:
        """What may be written for each listed value, and its place in the domain, counted from 1."""
        places = range(len(self.domain.vocabulary))
        return [(name, place + 1) for place in places for name in self._names(place)]

    def _ordinal(self, value: Any) -> Any:
        """Its place in the domain, counted from 1; null where it has none."""
        names, places = zip(*self._spellings, strict=True)
        found = functions.array_position(_array(names), value).cast(spark.IntegerType())
        return functions.get(_array(places), found - 1)

    def _below(self, below: Any, above: Any, strictly: bool) -> Any:
        """In the subtree, which is an interval of ordinals."""
        end = functions.get(_array(self.domain.hierarchy.ends), above - 1)
        return (below > above if strictly else below >= above) & (below <= end)

    def _literal(self, key: Any) -> Any:
        if self.domain.kind is Kind.NUMERIC:
            return functions.lit(float(key))
        if self.domain.kind is not Kind.TIME:
            return functions.lit(key)
        if isinstance(self.element, spark.TimestampType):
            return functions.timestamp_micros(functions.lit(int(key)))
        return functions.to_timestamp_ntz(functions.lit(str(Instant(key)).removesuffix("Z")))


def parquet_place(name: str) -> str | None:
    """In the form of our Parquet files. There an attribute named like a part of the envelope has no column."""
    if name in ENVELOPE:
        return name.removeprefix("event.")
    return None if name in ENVELOPE_COLUMNS and name != EVENT_TYPE else name


def both(tests: Sequence[Any]) -> Any:
    return _balanced(tests, lambda one, other: one & other) if tests else functions.lit(True)


def either(tests: Sequence[Any]) -> Any:
    return _balanced(tests, lambda one, other: one | other) if tests else functions.lit(False)


def _balanced(tests: Sequence[Any], join: Callable[[Any, Any], Any]) -> Any:
    """In pairs: a chain of a thousand would be a thousand deep, and Spark's planner is recursive."""
    while len(tests) > 1:
        pairs = [join(one, other) for one, other in zip(tests[::2], tests[1::2], strict=False)]
        tests = [*pairs, *tests[len(pairs) * 2 :]]
    return tests[0]


def _is_known(kind: Kind, element: Any) -> bool:
    """Decimals become floats by another rounding than ours, and dates and texts become times by the session's zone;
    a string may have an order of its own."""
    if kind is Kind.NUMERIC:
        return isinstance(element, _NUMBERS)
    if kind is Kind.TIME:
        return isinstance(element, (spark.TimestampType, spark.TimestampNTZType))
    return kind not in (Kind.PLACE, Kind.DOCUMENT) and bool(element == spark.StringType())


def _array(values: Sequence[Any]) -> Any:
    return functions.array(*[functions.lit(value) for value in values])


def _count(ranges: Ranges) -> int:
    return sum(high - low for low, high in ranges)


def _compared(one: Any, operator: str, two: Any) -> Any:
    match operator:
        case "=":
            return one == two
        case "!=":
            return one != two
        case "<":
            return one < two
        case "<=":
            return one <= two
        case ">":
            return one > two
        case _:
            return one >= two
