"""`tidings bench spark`: it measures, and what it measures is checked."""

import json

import pytest
from typer.testing import CliRunner

from tidings.bench.agreement import naive_answers
from tidings.bench.spark_batch import Rates, SparkPlan, SparkResult, selective
from tidings.cli.main import app
from tidings.workloads.flights import ATTRIBUTES, Flights

SMALL = ("--subscriptions", "300", "--events", "700", "--rounds", "2")


@pytest.mark.slow
def test_measures_and_compares() -> None:
    done = CliRunner().invoke(app, ["bench", "spark", *SMALL, "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    workload = Flights()
    expected = naive_answers(selective(workload, 300), workload.events(700)).counts.sum()
    assert (said["cores"], said["matches_per_event"]) == (2, round(int(expected) / 700, 2))
    for name in ("local_matching", "local_reading_and_matching", "spark"):
        assert len(said[name]["rounds"]) == 2
        assert said[name]["events_per_s"] > 0
    assert set(said["share_of"]) == {"local_matching", "local_reading_and_matching"}
    shown = CliRunner().invoke(app, ["bench", "spark", *SMALL])
    assert "flights: 300 subscriptions, 700 events" in shown.stdout
    assert "Spark, local[2]" in shown.stdout


def test_shares_are_of_as_many_threads_as_there_are_cores() -> None:
    local, spark = Rates((100.0, 50.0, 100.0), (10.0, 10.0, 20.0)), Rates((120.0, 80.0, 10.0), (20.0, 12.5, 40.0))
    result = SparkResult(SparkPlan(), 2, 5, local, local, spark)
    assert result.share(local) == pytest.approx(0.6)
    assert result.processor_share(local) == pytest.approx(0.5)


def test_selective_filters_ask_for_a_plane_or_a_flight() -> None:
    table = selective(Flights(), 1_000)
    assert len(table) == 1_000
    for number in range(0, 1_000, 97):
        asked = {ATTRIBUTES[place] for place in table.attribute[table.offsets[number] : table.offsets[number + 1]]}
        assert asked & {"tailnum", "flight"}
        assert "distance" not in asked
