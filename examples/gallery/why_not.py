"""Why did it match, and why not? `explain` shows every predicate with the values that it met.

A red Mini is on offer and five people were waiting for one. Two of them hear of it; the others ask why not.
"""

import warnings
from pathlib import Path

import tidings

SCHEMA = tidings.Schema.read(Path(__file__).parents[1] / "schema.json")
MINI = {
    "id": "red mini",
    "event_type": ["auction", "car"],
    "attributes": {
        "title": "Red Mini, one owner",
        "price": 1400,
        "estimate": 1300,
        "category": "convertible",
        "brand": "mini",
        "year": 1971,
        "paint": ["red", "white"],
        "ends": "2026-05-08T18:00:00Z",
    },
}
FILTERS = {
    "ann": "brand = mini and year < 1980",
    "bob": "category under vehicle and not (paint contains 'blue')",
    "cleo": "price < estimate and paint contains 'red'",
    "dan": "not (condition = worn) and brand = mini",
    "eve": "paint = 'red' and paint = 'white'",
}


def main() -> None:
    matcher = tidings.Matcher(SCHEMA)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        matcher.add_many(FILTERS)
    matched = matcher.match_one(MINI)
    for owner in FILTERS:
        print(f"{owner} {'gets it' if owner in matched else 'does not get it'}:", matcher.explain(owner, MINI))
    print()
    for warning in warned:
        print(f"warning for {warning.message}")


if __name__ == "__main__":
    main()
