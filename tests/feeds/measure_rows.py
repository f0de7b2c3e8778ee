"""How many rows a second of processor time a feed turns into events, without a server, in one pass of CSV and JSON.

Run: python -m tests.feeds.measure_rows [rows]
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from tests.feeds.dirty_cars import FIELDS as DIRTY_FIELDS
from tests.feeds.dirty_cars import dirty_cars
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.memory.known import Known
from tidings.feeds.records.records import Content, read_records
from tidings.schema import Catalog

FIELDS = {
    "title": {"from": "title", "kind": "text"},
    "price": {"from": "price", "kind": "numeric"},
    "km": {"from": "km", "kind": "numeric"},
    "brand": {"from": "brand", "kind": "enumerated"},
    "fuel": {"from": "fuel", "kind": "enumerated"},
    "year": {"from": "year", "kind": "numeric"},
    "seen": {"from": "seen", "kind": "time"},
    "postal": "postal",
}


def cars(rows: int) -> list[dict[str, object]]:
    draw = random.Random(7)
    return [
        {
            "id": f"c{n}",
            "title": f"car number {n}, one owner",
            "price": f"${draw.randrange(100, 30_000):,}",
            "km": draw.randrange(200_000),
            "brand": draw.choice(("audi", "vw", "bmw", "opel")),
            "fuel": draw.choice(("petrol", "diesel")),
            "year": draw.randrange(1970, 2017),
            "seen": f"2016-03-{draw.randrange(1, 29):02} {draw.randrange(24):02}:00:00",
            "postal": f"{draw.randrange(100_000):05}",
        }
        for n in range(rows)
    ]


def main(rows: int) -> None:
    made = cars(rows)
    names = list(made[0])
    lines = [",".join(names), *(",".join(f'"{one[name]}"' for name in names) for one in made)]
    measure("CSV", "csv", "\n".join(lines).encode(), FIELDS, "id")
    measure("JSON Lines", "json", "\n".join(json.dumps(one) for one in made).encode(), FIELDS, "id")
    measure("JSON", "json", json.dumps(made).encode(), FIELDS, "id")
    measure("dirty CSV", "csv", dirty_cars(rows).csv(), DIRTY_FIELDS, "no")
    measure("dirty JSON Lines", "json", dirty_cars(rows, as_json=True).json_lines(), DIRTY_FIELDS, "no")


def measure(name: str, form: str, body: bytes, fields: dict[str, Any], id: str) -> None:
    mapping = mapping_of(
        {"file": "x", "format": form, "event_type": "car", "id": id, "fields": fields}, "cars.toml", Path()
    )
    start = time.process_time()
    maker, known = EventMaker(mapping, Catalog()), Known(100_000)
    rows = refused = left_out = 0
    for record in read_records(Content("x", body), mapping.layout, mapping.paths):
        rows += 1
        event = maker.make(record)
        refused += bool(event.errors)
        left_out += len(event.left_out)
        if known.mark(event) is None:
            known.publish(event)
    seconds = time.process_time() - start
    counts = f"{rows:,} rows, {len(body) >> 20} MiB, {refused:,} refused, {left_out:,} values left out"
    print(f"{name}: {rows / seconds:,.0f} rows/s ({counts})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
