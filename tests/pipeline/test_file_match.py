"""A file matched on Spark: what `tests/cli/test_spark_engine.py` cannot see."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidings.language import Filter, Subscription
from tidings.pipeline.batch.batch_plan import PlanOutOfReach, plan_of
from tidings.pipeline.batch.file_match import match_file, match_on_spark
from tidings.pipeline.spark.job_failed import JobFailed, last_words
from tidings.schema.files import read_catalog

EXAMPLES = Path(__file__).parents[2] / "examples"
CATALOG, _ = read_catalog(EXAMPLES / "schema.json")
EVENTS = EXAMPLES / "events.jsonl"


def test_a_worker_that_fails_says_why(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=r"UnusablePlan.*manifest.json is missing"):
        list(match_file(spark, EVENTS, CATALOG, tmp_path / "none", None))


def test_last_words() -> None:
    trace = (
        'Job aborted.\n  File "worker.py", line 3\ntidings.store.errors.StoreLocked: the store x is locked\n'
        " SQLSTATE: 38000\n\tat org.apache.spark.X.y(Z.scala:1)\nDriver stacktrace:\n"
    )
    assert last_words(trace) == "tidings.store.errors.StoreLocked: the store x is locked"
    assert last_words("Java heap space") == "Java heap space"
    assert last_words("") == "it did not say why"


def test_one_answer_a_block(spark: SparkSession, tmp_path: Path) -> None:
    plan = plan_of([Subscription("all", Filter.parse("price exists", CATALOG))], CATALOG, "local[2]", tmp_path / "plan")
    (answer,) = match_file(spark, EVENTS, CATALOG, plan, None)
    assert answer.lines == b"".join(b'{"event": "e%d", "subscription": "all"}\n' % n for n in (1, 2, 3))
    assert (answer.events, answer.matches, answer.duplicates, [one.line for one in answer.refused]) == (3, 3, 0, [4])


def test_the_plan_lies_in_the_shared_folder_for_as_long_as_it_takes(spark: SparkSession, tmp_path: Path) -> None:
    answers = match_on_spark([], EVENTS, CATALOG, None, "local[2]", tmp_path)
    next(answers)
    (folder,) = tmp_path.iterdir()
    assert (folder / "plan" / "manifest.json").is_file()
    assert list(answers) == []
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(PlanOutOfReach):
        next(match_on_spark([], EVENTS, CATALOG, None, "spark://host:7077"))
