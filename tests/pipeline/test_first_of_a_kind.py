"""Somebody waits for the first Tesla: a value that no event had when the subscription was made, from a file to the
notification."""

import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.client.conftest import ann, settings, url  # noqa: F401  # fixtures
from tests.service.conftest import Service, service  # noqa: F401  # a fixture
from tidings.client import Client
from tidings.feeds import Feed, infer
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.mapping.mapping import Layout, Mapping, Origin
from tidings.feeds.sources.content import Content
from tidings.pipeline.pipeline import Pipeline, PipelineSettings

CARS = "id,make,price\n" + "".join(f"c{n},{('audi', 'vw')[n % 2]},{1_000 + n}\n" for n in range(40))


@pytest.fixture
def mapping(ann: Client, tmp_path: Path) -> Mapping:  # noqa: F811
    """Of a file of cars, as inferred, and known to the server."""
    file = tmp_path / "cars.csv"
    found = infer(Content("cars.csv", CARS.encode()), Layout("csv"), Origin(file=file), "used_car", ["make"])
    for change in changes(found.catalog, ann.schema()):
        ann.grow(change)
    return found.mapping


def fed(mapping: Mapping, client: Client, text: str) -> int:
    assert mapping.origin.file is not None
    mapping.origin.file.write_text(text)
    return Feed(mapping, client).once().published


def matched(folder: Path, spark: SparkSession) -> None:
    with Pipeline(PipelineSettings(folder)) as pipeline:
        pipeline.run(threading.Event(), once=True, spark=spark)


def test_the_first_tesla_is_heard_of(mapping: Mapping, ann: Client, tmp_path: Path, spark: SparkSession) -> None:  # noqa: F811
    assert fed(mapping, ann, CARS) == 40
    waiting = ann.subscribe("make = 'tesla' and price < 50000")
    assert waiting.warnings == ("'make' has no value 'tesla' yet",)
    misspelt = ann.subscribe("make in ('audy', 'vw')")
    assert misspelt.warnings == ("'make' has no value 'audy' yet; did you mean 'audi'?",)
    others = ann.subscribe("make != 'tesla'")

    teslas = "c50,tesla,90000\nc51,tesla,40000\nc52,audi,2000\nc53,tesla,30000\n"
    assert fed(mapping, ann, CARS + teslas) == 4
    matched(tmp_path, spark)
    assert misspelt.id not in {one.subscription for one in ann.notifications().items}
    heard = [(one.subscription, one.event["id"]) for one in ann.notifications().items if one.event]
    assert [id for subscription, id in heard if subscription == waiting.id] == ["c51", "c53"], (
        "and none of what was there before"
    )
    assert [one for one in heard if one[0] != waiting.id] == [(others.id, "c52")]
    assert ann.subscribe("make = 'tesla'").warnings == ("'make' has no value 'tesla' yet",), "no values are added"
    assert [one.event["id"] for one in ann.query("make = 'tesla'")] == ["c50", "c51", "c53"]
