"""Used cars as they stand in real files, with 2 % of each fault that such files have, and how often each was planted.

Run: python -m tests.feeds.dirty_cars cars.csv [rows]      (or cars.json, as JSON Lines)
"""

from __future__ import annotations

import csv
import io
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROWS = 200_000
SHARE = 0.02  # of each fault
SEED = 17
COLUMNS = ("no", "brand", "model", "price", "km", "days", "registered", "seen", "category", "damaged", "seller")
MODELS = {
    "audi": ("a3", "a4", "andere"),
    "peugeot": ("206", "307", "andere"),
    "vw": ("golf", "polo", "andere"),
}
CATEGORIES = (
    "Vehicles > Cars > Parts > Brakes",
    "Vehicles > Cars > Parts > Tyres",
    "Vehicles > Motorcycles > Parts > Brakes",
    "Vehicles > Motorcycles > Parts > Tyres",
)
UNKNOWN_CATEGORIES = ("Vehicles > Boats > Parts > Brakes", "Vehicles > Boats")

# How a mapping reads them.
FIELDS: dict[str, Any] = {
    "make": {"from": "brand", "kind": "enumerated", "open": True},
    "model": {"from": "model", "kind": "hierarchical", "parent": "brand", "grow": True},
    "price": {"from": "price", "kind": "numeric", "unit": "$", "mandatory": True},
    "km": {"from": "km", "kind": "numeric", "unit": "km"},
    "days": {"from": "days", "kind": "numeric"},
    "registered": {"from": "registered", "kind": "time", "time_format": "%d.%m.%Y"},
    "seen": {"from": "seen", "kind": "time"},
    "category": {"from": "category", "kind": "hierarchical", "path": " > "},
    "damaged": {"from": "damaged", "kind": "enumerated"},
    "seller": {"from": "seller", "kind": "string"},
}

# Each fault, and the name under which a feed counts it; no name: it must be taken as it is.
FAULTS: dict[str, str] = {
    "a number inside a sentence": "price: not a number",
    "instalments": "price: not a number",
    "another currency": "price: another unit",
    "words around a number": "days: not a number",
    "junk behind a date": "registered: not a time",
    "a list of objects": "seller: nested value",
    "an unknown category": "category: domain",
    "a brand not seen before": "",
    "nothing said of damage": "",
}
ONLY_JSON = ("a list of objects",)
REFUSED = ("a number inside a sentence", "instalments", "another currency", "an unknown category")


@dataclass
class DirtyCars:
    """`faults` has the fault of each row that has one, by the row's number from 0; `models` counts cars by path."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[int, str] = field(default_factory=dict)
    models: Counter[str] = field(default_factory=Counter)

    @property
    def planted(self) -> Counter[str]:
        return Counter(self.faults.values())

    def csv(self) -> bytes:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue().encode()

    def json_lines(self) -> bytes:
        return "".join(json.dumps(row) + "\n" for row in self.rows).encode()


def dirty_cars(rows: int = ROWS, *, as_json: bool = False, share: float = SHARE, seed: int = SEED) -> DirtyCars:
    """Each row has one fault at most."""
    draw = random.Random(seed)
    faults = [fault for fault in FAULTS if as_json or fault not in ONLY_JSON]
    each = int(rows * share)
    dirty = iter(draw.sample(range(rows), each * len(faults)))
    made = DirtyCars(faults={next(dirty): fault for fault in faults for _ in range(each)})
    for number in range(rows):
        row = _clean(number, draw)
        if number in made.faults:
            _plant(made.faults[number], row, draw)
        made.models[f"{row['brand']} > {row['model']}"] += 1
        made.rows.append(row)
    return made


def _clean(number: int, draw: random.Random) -> dict[str, Any]:
    brand = draw.choice(tuple(MODELS))
    return {
        "no": f"c{number}",
        "brand": brand,
        "model": draw.choice(MODELS[brand]),
        "price": f"${draw.randrange(100, 30_000):,}",
        "km": f"{draw.randrange(200_000)} km",
        "days": str(draw.randrange(1, 60)),
        "registered": f"{draw.randrange(1, 29):02}.{draw.randrange(1, 13):02}.{draw.randrange(1970, 2016)}",
        "seen": f"2016-03-{draw.randrange(1, 29):02} {draw.randrange(24):02}:00:00",
        "category": draw.choice(CATEGORIES),
        "damaged": draw.choice(("ja", "nein")),
        "seller": draw.choice(("ann", "bob", "")),
    }


def _plant(fault: str, row: dict[str, Any], draw: random.Random) -> None:
    match fault:
        case "a number inside a sentence":
            row["price"] = f"nicht unter {draw.randrange(1_000, 9_000)}"
        case "instalments":
            row["price"] = f"{draw.randrange(6, 48)} Raten"
        case "another currency":
            row["price"] = f"EUR {draw.randrange(100, 9_000)}"
        case "words around a number":
            row["days"] = f"{draw.randrange(1, 10)} day auction"
        case "junk behind a date":
            row["registered"] += " (neu!)"
        case "a list of objects":
            row["seller"] = [{"name": "ann", "stars": 3}]
        case "an unknown category":
            row["category"] = draw.choice(UNKNOWN_CATEGORIES)
        case "a brand not seen before":
            row["brand"], row["model"] = "tesla", "model s"
        case "nothing said of damage":
            row["damaged"] = None if draw.random() < 0.5 else ""
        case _:
            raise AssertionError(fault)


def main(path: Path, rows: int) -> None:
    as_json = path.suffix != ".csv"
    made = dirty_cars(rows, as_json=as_json)
    path.write_bytes(made.json_lines() if as_json else made.csv())
    for fault, count in made.planted.items():
        print(f"{count:,} × {fault}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROWS)
