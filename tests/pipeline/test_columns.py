"""Spark's selection equals the specification, or selects more and says so."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession, functions

from tests.pipeline.tables import event_table
from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.events import Event
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.pipeline.batch.columns import MOST_PREDICATES, condition
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Instant, Kind


def selections(spark: SparkSession, table: Any, filters: Sequence[Filter], catalog: Catalog) -> list[list[bool]]:
    """By filter which rows it selects, all in one job."""
    frame = spark.createDataFrame(table)
    columns = [condition(filter, catalog, frame.schema).column for filter in filters]
    named = [functions.coalesce(column, functions.lit(False)).alias(f"f{n}") for n, column in enumerate(columns)]
    return [column.to_pylist() for column in frame.select(*named).toArrow().columns]


def exactness(spark: SparkSession, table: Any, filters: Sequence[Filter], catalog: Catalog) -> list[bool]:
    schema = spark.createDataFrame(table.slice(0, 0)).schema
    return [condition(filter, catalog, schema).exact for filter in filters]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Catalog, list[Event], list[Filter], list[str]]:
    catalog = draw(catalogs())
    happened = draw(st.lists(events(catalog), min_size=5, max_size=12))
    texts = draw(st.lists(filter_texts(catalog), min_size=20, max_size=30, unique=True))
    names = [attribute.name for attribute in catalog.attributes]
    bound = {name for event in happened for name, _ in event.attributes}
    left_out = [name for name in names if name not in bound and draw(st.booleans())]
    return catalog, happened, [Filter.parse(text, catalog) for text in texts], left_out


@pytest.mark.slow
@settings(max_examples=7, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_selects_as_the_naive_matcher(spark: SparkSession, case: Any) -> None:
    catalog, happened, filters, left_out = case
    table = event_table(happened, catalog, left_out)
    exact = exactness(spark, table, filters, catalog)
    for filter, rows, says_all in zip(filters, selections(spark, table, filters, catalog), exact, strict=True):
        expected = [matches(filter.tree, event.bindings(), catalog) for event in happened]
        if says_all:
            assert rows == expected, filter.text
        else:  # too much perhaps, never too little
            assert all(row for row, wanted in zip(rows, expected, strict=True) if wanted), filter.text


def an_event(**attributes: Any) -> Event:
    values = {name: value if isinstance(value, tuple) else (value,) for name, value in attributes.items()}
    source = str(values.pop("source", ("",))[0])
    return Event("e", ("offer",), tuple(sorted(values.items())), source)


DAY = Instant.parse("2026-05-02T10:00:00.5Z")
HAPPENED = [
    an_event(price=5),
    an_event(prices=(5, 25)),
    an_event(prices=(12, 15), budget=14),
    an_event(paint=("red", "blue"), price=5),
    an_event(title="b\0", names=("", "日本"), source="a"),
    an_event(title="\U0001f600", names=("￿",)),  # by code point the second is less, by UTF-16 the first
    an_event(size="M", fits=("S", "XL")),
    an_event(category="desk", kinds=("table", "toy")),
    an_event(made=DAY, sold=(DAY, Instant(DAY + 1))),
    an_event(price=-0.0, budget=0),
    an_event(body=("a red mini", "blue")),
]
# Each with which of the events above it selects.
EXAMPLES = [
    ("prices > 10 and prices < 20", {2}),  # one value for both
    ("prices > 10 and (prices < 6 or prices >= 25)", {1}),
    ("prices > budget and prices < 20", {2}),
    ("paint contains 'red' and paint contains 'blue'", {3}),
    ("paint = 'red' and paint = 'blue'", set()),
    ("not (paint = 'red')", {3}),
    ("not (paint contains 'red')", set()),
    # A multiple attribute that is not bound leaves the alternatives which do not name it.
    ("(paint = 'red' or price > 4) and (paint = 'blue' or price < 6)", {0, 3}),
    ("(paint = 'green' or price > 4) and (paint = 'green' or price < 6)", {0, 3}),
    ("not (paint exists) and price exists", {0, 9}),
    ("title > 'b' and title < 'c'", {4}),
    ("title <= 'b\0'", {4}),
    ("title > '￿'", {5}),
    ("names > '日' and names < '本'", {4}),
    ("names = ''", {4}),
    ("event.source = ''", set(range(len(HAPPENED))) - {4}),
    ("event.source != ''", {4}),
    ("event.time exists", set()),
    ("not (event.time exists) and price = 5", {0, 3}),
    ("size < 'L'", {6}),
    ("size between 'S' and 'M' and fits > size", {6}),
    ("size >= fits and fits != 'XL'", {6}),
    ("category under 'table'", {7}),
    ("category < kinds", {7}),
    ("kinds > category", {7}),
    ("kinds >= category and not (kinds under 'toy')", {7}),
    ("not (category < kinds)", {7}),  # desk is not below toy
    ("not (kinds under 'furniture')", {7}),
    ("made = '2026-05-02T10:00:00.5Z' and sold > made", {8}),
    ("sold > '2026-05-02T10:00:00.500001Z'", set()),
    ("sold not between '2026-05-02T10:00:00.5Z' and '2026-05-02T10:00:00.5Z'", {8}),
    ("price = 0 and price = budget", {9}),
    (f"price in ({', '.join(map(str, range(20)))})", {0, 3, 9}),
    (f"price not in ({', '.join(map(str, range(1, 20)))})", {9}),
    ("event_type = 'offer' and event_type != 'car' and prices <= 5", {1}),
    ("event_type contains 'car'", set()),
    ("unused exists or not (unused < 3)", set()),
]


def test_examples(spark: SparkSession) -> None:
    filters = [Filter.parse(text, RICH) for text, _ in EXAMPLES]
    table = event_table(HAPPENED, RICH)
    assert all(exactness(spark, table, filters, RICH))
    found = selections(spark, table, filters, RICH)
    for (text, expected), filter, rows in zip(EXAMPLES, filters, found, strict=True):
        assert {place for place, row in enumerate(rows) if row} == expected, text
        assert [matches(filter.tree, event.bindings(), RICH) for event in HAPPENED] == rows, text


def test_words_are_left_to_the_matcher(spark: SparkSession) -> None:
    table = event_table(HAPPENED, RICH)
    filters = [
        Filter.parse(f"{text} and price exists", RICH) for text in ("body contains 'red'", "not body contains 'a'")
    ]
    assert exactness(spark, table, filters, RICH) == [False, False]
    assert all(
        rows == [True, False, False, True, *[False] * 5, True, False]
        for rows in selections(spark, table, filters, RICH)
    )


@pytest.mark.parametrize(
    ("values", "kind", "text", "exact", "expected"),
    [
        (pa.array([1, 2, 3], pa.int8()), Kind.NUMERIC, "a > 1.5", True, [False, True, True]),
        (pa.array([1, 2**53, 3], pa.int64()), Kind.NUMERIC, f"a = {2**53}", True, [False, True, False]),
        (pa.array([0.1, 0.5, 3], pa.float32()), Kind.NUMERIC, "a > 0.1", True, [True, True, True]),
        (pa.array([Decimal("0.10"), Decimal("3.25"), None]), Kind.NUMERIC, "a < 1", False, [True] * 3),
        (pa.array(["1", "2", None]), Kind.NUMERIC, "a < 1", False, [True] * 3),
        (pa.array([True, False, None]), Kind.NUMERIC, "a < 1", False, [True] * 3),
        (pa.array([datetime(2026, 5, 1), datetime(1, 1, 1), None], pa.timestamp("us")), Kind.TIME,
         "a <= '2026-05-01T00:00:00Z'", True, [True, True, False]),
        (pa.array([date(2026, 5, 1), None], pa.date32()), Kind.TIME, "a <= '2026-05-01'", False, [True] * 2),
        (pa.array(["2026-05-01", None]), Kind.TIME, "a <= '2026-05-01'", False, [True] * 2),
        (pa.nulls(2), Kind.STRING, "a = 'x'", False, [True] * 2),
    ],
)  # fmt: skip
def test_types_of_columns(
    spark: SparkSession, values: Any, kind: Kind, text: str, exact: bool, expected: list[bool]
) -> None:
    catalog = Catalog((Domain("d", kind),), (Attribute("a", "d"),), (EventType("t", (AttributeUse("a"),)),))
    table = pa.table({"id": ["e"] * len(values), "event_type": ["t"] * len(values), "a": values})
    filter = Filter.parse(text, catalog)
    assert exactness(spark, table, [filter], catalog) == [exact]
    assert selections(spark, table, [filter], catalog) == [expected]


@pytest.mark.parametrize("type_", ["timestamp_ntz", "timestamp"])
def test_the_zone_of_the_session_changes_nothing(spark: SparkSession, type_: str) -> None:
    catalog = Catalog((Domain("d", Kind.TIME),), (Attribute("a", "d"),), (EventType("t", (AttributeUse("a"),)),))
    filters = [Filter.parse(f"a {operator} '2026-05-01T10:00:00Z'", catalog) for operator in ("<", "=", ">")]
    zone = "" if type_ == "timestamp_ntz" else "Z"  # without one it means UTC
    rows = [f"select 'e' id, 't' event_type, {type_}'2026-05-01T{hour}:00:00{zone}' a" for hour in ("09", "10", "11")]
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.sql(" union all ".join(rows))
        for n, filter in enumerate(filters):
            known = condition(filter, catalog, frame.schema)
            assert known.exact
            assert [row.id for row in frame.where(known.column).collect()] == ["e"]
            chosen = frame.where(known.column).select(functions.date_format("a", "HH")).first()
            assert chosen is not None
            hour = int(chosen[0])
            assert hour == n + 9 - (0 if zone == "" else 4)  # as New York shows it
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_what_is_too_long_for_an_expression_is_left_out(spark: SparkSession) -> None:
    tree = {"all": {f"n{n}": {} for n in range(3000)}}
    catalog = Catalog(
        (Domain("d", Kind.NUMERIC), Domain("h", Kind.HIERARCHICAL, hierarchy=Hierarchy.from_tree(tree))),
        (Attribute("a", "d"), Attribute("c", "h"), Attribute("b", "h"), Attribute("A", "d")),
        (EventType("t", (AttributeUse("a"),)),),
    )
    table = pa.table({"id": ["e"], "event_type": ["t"], "a": [1.0], "b": ["n1"], "c": ["n2"]})
    texts = {
        "c under 'all'": True,  # all names but none
        "c = 'n5'": True,
        f"c in ({', '.join(f'n{n}' for n in range(1500))})": False,
        "c <= b": False,
        f"a in ({', '.join(map(str, range(0, 4000, 2)))})": False,
        " or ".join(f"a = {n}" for n in range(1, 301)): True,
        "(" + " and ".join(f"a != {n}" for n in range(2, MOST_PREDICATES + 3)) + ")": False,
    }
    filters = [Filter.parse(text, catalog) for text in texts]
    assert exactness(spark, table, filters, catalog) == list(texts.values())
    assert selections(spark, table, filters, catalog) == [[True], [False], [True], [True], [True], [True], [True]]
    both_cases = table.append_column("A", pa.array([2.0]))
    assert exactness(spark, both_cases, filters[1:2], catalog) == [False]
