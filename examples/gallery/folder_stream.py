"""Spark, streaming: files fall into a folder, and each is matched as it comes.

Weather stations drop a file of readings every hour. The same `tidings.spark.match` as in a batch job takes the
streaming DataFrame, and whatever Spark writes streams to can take the matches.
"""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame

import tidings.spark
from tidings.pipeline.spark.session import spark_session
from tidings.schema import json_form

TREE: dict[str, Any] = {"coast": {"Brest": {}, "Nice": {}}, "alps": {"Gap": {}}}
NUMBERS = ("temperature", "wind", "rain")
SCHEMA = json_form.read(
    {
        "domains": [{"name": "number", "kind": "numeric"}, {"name": "place", "kind": "hierarchical", "tree": TREE}],
        "attributes": [{"name": "place", "domain": "place"}, *({"name": n, "domain": "number"} for n in NUMBERS)],
        "event_types": [{"name": "reading", "attributes": [{"name": n} for n in ("place", *NUMBERS)]}],
    }
)
COLUMNS = "id string, event_type string, place string, temperature double, wind double, rain double"
WARNINGS = {
    "sailors": "place under coast and wind > 60",
    "road menders": "temperature < 2 and rain > 0",
    "gardeners": "temperature < 2 or temperature > 30",
}


def drop_file(folder: Path, hour: int, chance: random.Random) -> None:
    """Written under a hidden name and then renamed, so that it is never read half."""
    with (folder / ".new").open("w", encoding="utf-8") as file:
        for place, usual in (("Brest", 12), ("Nice", 26), ("Gap", 1)):
            temperature, wind = round(chance.gauss(usual, 4), 1), round(chance.expovariate(1 / 40))
            reading = {"place": place, "temperature": temperature, "wind": wind, "rain": chance.choice((0, 0, 4))}
            print(f"  {reading}")
            file.write(json.dumps({"id": f"{place} at {hour}", "event_type": "reading", **reading}) + "\n")
    (folder / ".new").rename(folder / f"{hour}.json")


def tell(found: DataFrame, batch: int) -> None:
    for row in sorted(found.collect()):
        print(f"  → tell {row.subscription}: {row.event}")


def main() -> None:
    chance = random.Random(30)
    warnings = [tidings.Subscription(name, tidings.Filter.parse(text, SCHEMA)) for name, text in WARNINGS.items()]
    session = spark_session()
    with TemporaryDirectory() as folder:
        readings = session.readStream.schema(COLUMNS).json(folder)
        query = tidings.spark.match(readings, warnings, SCHEMA).writeStream.foreachBatch(tell).start()
        for hour in (8, 9, 10):
            print(f"{hour}.json")
            drop_file(Path(folder), hour, chance)
            query.processAllAvailable()
        query.stop()
    session.stop()


if __name__ == "__main__":
    main()
