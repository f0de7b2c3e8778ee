"""`tidings.spark` on DataFrames: matches are naive's, refused events stop nothing, queries select valid events."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import tidings.spark
from tests.pipeline.tables import event_table
from tests.strategies.filters import RICH, events, filter_texts
from tidings.events import Event
from tidings.events.files.chunk import WrongHeader
from tidings.language import Filter, Subscription
from tidings.language.subscription_file import WrongSubscriptions
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive import matches
from tidings.matching.plan.folder import PlanExists, UnusablePlan, save_plan
from tidings.matching.spans import DuplicateSubscription
from tidings.pipeline.batch.batch_plan import ForeignPlan, PlanOutOfReach, PlanReplaced, plan_of
from tidings.schema import Catalog
from tidings.schema.files import read_catalog

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP, _ = read_catalog(EXAMPLES / "schema.json")
FILTERS = {
    "cheap": "price < 10",
    "red": "paint contains 'red'",
    "words": "body contains any 'mini blue'",
    "both": "prices > 10 and prices < 20",
    "a's": "event.source = 'a'",
    "alike": "body ~ 'red mini' at least 0.9",  # only under the statistics of the schema
}
HAPPENED = [
    Event("e1", ("offer",), (("price", (5,)),)),
    Event("e2", ("offer",), (("paint", ("blue", "red")), ("price", (12,)))),
    Event("e3", ("antique", "offer"), (("body", ("a red mini",)), ("prices", (5, 25))), "a"),
    Event("e4", ("offer",), (("prices", (5, 15)),)),
]
MATCHES = {
    ("e1", "", "cheap"),
    ("e2", "", "red"),
    ("e3", "a", "words"),
    ("e3", "a", "a's"),
    ("e3", "a", "alike"),
    ("e4", "", "both"),
}


def subscriptions(filters: dict[str, str] = FILTERS, catalog: Catalog = RICH) -> list[Subscription]:
    return [Subscription(id, Filter.parse(text, catalog)) for id, text in filters.items()]


def found(frame: DataFrame) -> set[tuple[str, str, str]]:
    rows = [tuple(row) for row in frame.collect()]
    assert len(set(rows)) == len(rows)
    return set(rows)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(
    happened=st.lists(events(RICH), min_size=10, max_size=30),
    texts=st.lists(filter_texts(RICH), min_size=10, max_size=30, unique=True),
)
def test_matches_and_queries_are_those_of_the_naive_matcher(
    spark: SparkSession, happened: list[Event], texts: list[str]
) -> None:
    happened = [Event(f"e{n}", *_rest(event)) for n, event in enumerate(happened)]
    filters = {f"s{n}": Filter.parse(text, RICH) for n, text in enumerate(texts)}
    frame = spark.createDataFrame(event_table(happened, RICH))
    expected = {
        (event.id, event.source, id)
        for event in happened
        for id, filter in filters.items()
        if matches(filter.tree, event.bindings(), RICH)
    }
    assert found(tidings.spark.match(frame, [Subscription(*one) for one in filters.items()], RICH)) == expected
    for id in list(filters)[:2]:
        rows = tidings.spark.query(frame, filters[id], RICH).collect()
        assert {row.id for row in rows} == {event for event, _, subscription in expected if subscription == id}


def _rest(event: Event) -> tuple[Any, ...]:
    return event.event_types, event.attributes, event.source, event.time, event.contact


def forms(spark: SparkSession, folder: Path) -> Iterable[Any]:
    """The same subscriptions in every form."""
    file = folder / "subscriptions.jsonl"
    file.write_text("".join(json.dumps({"id": id, "filter": text}) + "\n" for id, text in FILTERS.items()))
    matcher = BoxMatcher(RICH)
    for subscription in [*subscriptions(), Subscription("gone", Filter.parse("price exists", RICH))]:
        matcher.add(subscription, at=10)
    matcher.withdraw("gone", at=20)
    save_plan(matcher, folder / "plan")
    yield from (subscriptions(), iter(subscriptions()), file, str(file), folder / "plan", str(folder / "plan"))
    yield spark.createDataFrame(list(FILTERS.items()), "id string, filter string")


def test_subscriptions_in_every_form(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(event_table(HAPPENED, RICH))
    for given_form in forms(spark, tmp_path):
        made = tidings.spark.match(frame, given_form, RICH)
        assert [(field.name, field.dataType.simpleString()) for field in made.schema] == [
            ("event", "string"),
            ("source", "string"),
            ("subscription", "string"),
        ]
        assert found(made) == MATCHES


def test_a_schema_may_be_a_file_and_the_plan_may_stay(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"id": ["e1"], "event_type": ["car"], "brand": ["mini"], "year": [1971], "paint": ["red"]})
    frame = spark.createDataFrame(table)
    schema, plan = EXAMPLES / "schema.json", tmp_path / "plan"
    minis = [Subscription("minis", Filter.parse("brand = 'mini' and year < 1980", SHOP))]
    assert found(tidings.spark.match(frame, minis, schema, folder=plan)) == {("e1", "", "minis")}
    assert found(tidings.spark.match(frame, plan, str(schema))) == {("e1", "", "minis")}
    with pytest.raises(PlanExists):
        tidings.spark.match(frame, minis, schema, folder=plan)


def test_no_subscriptions_and_no_events(spark: SparkSession) -> None:
    frame = spark.createDataFrame(event_table(HAPPENED, RICH))
    assert found(tidings.spark.match(frame, [], RICH)) == set()
    assert found(tidings.spark.match(frame.where("false"), subscriptions(), RICH)) == set()
    assert tidings.spark.query(frame.where("false"), "price < 5", RICH).collect() == []


def test_many_batches(spark: SparkSession) -> None:
    """More rows than one Arrow batch has, in several partitions."""
    many = [Event(f"e{n}", ("offer",), (("price", (n % 100,)),)) for n in range(25_000)]
    frame = spark.createDataFrame(event_table(many, RICH))
    made = tidings.spark.match(frame, subscriptions({"s1": "price = 7", "s2": "price in (7, 8)"}), RICH)
    assert found(made) == {
        (f"e{n}", "", id) for n in range(25_000) for id, values in (("s1", (7,)), ("s2", (7, 8))) if n % 100 in values
    }


WRONG = pa.table(
    {
        "id": ["good", "", None, "e4", "e5", "e6"],
        "source": ["a", "b", "c", "d", None, "f"],
        "event_type": ["car", "car", "car", "auction", "lorry", "car"],
        "brand": ["mini", "mini", "mimi", None, None, "mini"],
        "year": pa.array([Decimal("1971.0")] * 4 + [None] * 2),
        "paint": pa.array([["red"], ["red"], ["red"], None, None, []], pa.list_(pa.string())),
    }
)


def test_refused_events_match_nothing_and_are_told(spark: SparkSession) -> None:
    frame = spark.createDataFrame(WRONG)
    everything = [Subscription("all", Filter.parse("brand exists or year exists", SHOP))]
    assert found(tidings.spark.match(frame, everything, SHOP)) == {("good", "a", "all")}
    rows = {row.source: row for row in tidings.spark.refused(frame, SHOP).collect()}
    assert set(rows) == {"b", "c", "d", None, "f"}
    assert {source: [(error.rule, error.attribute) for error in row.errors] for source, row in rows.items()} == {
        "b": [("id", "id")],
        "c": [("id", "id"), ("domain", "brand")],
        "d": [("view", "year"), *(("mandatory", name) for name in ("category", "ends", "price", "title"))],
        None: [("type", "event_type")],
        "f": [("empty", "paint"), ("mandatory", "year")],
    }
    assert (rows["f"].event, rows["f"].errors[0].value) == ("e6", "[]")
    assert rows["c"].errors[1].value == '"mimi"'
    assert "did you mean 'mini'?" in rows["c"].errors[1].message


@pytest.mark.parametrize("filter", ["brand = 'mini'", "brand = 'mini' and not (title contains 'x')", "year < 1980"])
def test_a_query_selects_valid_events_only(spark: SparkSession, filter: str) -> None:
    frame = spark.createDataFrame(WRONG)
    chosen = tidings.spark.query(frame, filter, SHOP)
    assert chosen.schema == frame.schema
    rows = chosen.collect()
    assert rows == ([] if "title" in filter else frame.where("id = 'good'").collect())


def test_a_query_by_words(spark: SparkSession) -> None:
    frame = spark.createDataFrame(event_table(HAPPENED, RICH))
    rows = tidings.spark.query(frame, "body contains 'mini' and (prices = 25 or price = 1)", RICH).collect()
    assert [row.id for row in rows] == ["e3"]


def test_what_a_query_can_say_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(event_table(HAPPENED, RICH), tmp_path / "events.parquet")
    frame = spark.read.parquet(str(tmp_path / "events.parquet"))
    plan = tidings.spark.query(frame, "price < 10 and body contains 'x'", RICH)._jdf.queryExecution().toString()
    assert "LessThan(price,10.0)" in plan.partition("PushedFilters:")[2]


@pytest.mark.parametrize("job", ["match", "refused", "query"])
def test_unknown_columns_are_named(spark: SparkSession, job: str) -> None:
    frame = spark.createDataFrame([("e", "offer", 1.0, 2.0)], "id string, event_type string, prise double, x double")
    arguments: dict[str, tuple[Any, ...]] = {
        "match": (subscriptions(), RICH),
        "refused": (RICH,),
        "query": ("price < 1", RICH),
    }
    with pytest.raises(WrongHeader, match=r"no attribute 'prise'; did you mean 'price'.*; no attribute 'x'"):
        getattr(tidings.spark, job)(frame, *arguments[job])
    with pytest.raises(WrongHeader, match="the column 'event_type' is missing"):
        getattr(tidings.spark, job)(frame.select("id"), *arguments[job])


def test_wrong_subscriptions(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(event_table(HAPPENED, RICH))
    rows = [("s1", "price < 5"), ("s1", "price < 6"), (None, "price < 5"), ("s2", "prise < 5")]
    with pytest.raises(WrongSubscriptions) as wrong:
        tidings.spark.match(frame, spark.createDataFrame(rows, "id string, filter string"), RICH)
    assert [line for line, _ in wrong.value.problems] == [2, 3, 4]
    with pytest.raises(WrongHeader, match="the DataFrame of subscriptions: the column 'filter' is missing"):
        tidings.spark.match(frame, spark.createDataFrame([("s1",)], "id string"), RICH)
    with pytest.raises(DuplicateSubscription):
        tidings.spark.match(frame, subscriptions() * 2, RICH)
    with pytest.raises(FileNotFoundError):
        tidings.spark.match(frame, tmp_path / "none.jsonl", RICH)
    with pytest.raises(UnusablePlan):
        tidings.spark.match(frame, tmp_path, RICH)


def test_a_plan_of_another_schema(tmp_path: Path) -> None:
    plan_of(subscriptions(), RICH, "local[2]", tmp_path / "plan")
    with pytest.raises(ForeignPlan, match="another schema"):
        plan_of(tmp_path / "plan", SHOP, "local[2]")


def test_a_name_is_one_plan(tmp_path: Path) -> None:
    plan = plan_of(subscriptions(), RICH, "local[2]", tmp_path / "plan")
    assert plan_of(plan, RICH, "local[2]") == plan
    shutil.rmtree(plan)
    with pytest.raises(PlanReplaced, match="another name"):
        plan_of([], RICH, "local[2]", plan)


def test_workers_elsewhere_need_a_folder(tmp_path: Path) -> None:
    with pytest.raises(PlanOutOfReach, match="spark://host:7077"):
        plan_of(subscriptions(), RICH, "spark://host:7077")
    assert plan_of(subscriptions(), RICH, "spark://host:7077", tmp_path / "plan") == tmp_path / "plan"


def test_a_temporary_plan_goes_with_its_process() -> None:
    program = (
        "from tidings.pipeline.batch.batch_plan import plan_of; from tidings.schema import Catalog;"
        "plan = plan_of([], Catalog(), 'local'); print(plan, (plan / 'manifest.json').is_file())"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert said[1] == "True"
    assert not Path(said[0]).parent.exists()


def test_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    table = event_table([*HAPPENED, Event("", ("offer",))], RICH)
    pq.write_table(table.slice(0, 2), tmp_path / "in" / "1.parquet")
    pq.write_table(table.slice(2), tmp_path / "in" / "2.parquet")
    schema = spark.read.parquet(str(tmp_path / "in" / "1.parquet")).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    jobs = {
        "match": tidings.spark.match(stream, subscriptions(), RICH),
        "query": tidings.spark.query(stream, "prices < 6 and body contains 'red'", RICH),
        "refused": tidings.spark.refused(stream, RICH),
    }
    for name, job in jobs.items():
        writer = job.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / f"{name}-checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / name)).awaitTermination()
    done = {name: spark.read.parquet(str(tmp_path / name)) for name in jobs}
    assert found(done["match"]) == MATCHES
    assert [row.id for row in done["query"].collect()] == ["e3"]
    assert [row.errors[0].rule for row in done["refused"].collect()] == ["id"]
