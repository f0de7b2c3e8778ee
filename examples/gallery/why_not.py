"""Why did it match, and why not? `explain` shows every predicate with the values that it met.

A red Mini is on offer and five people were waiting for one. Two of them hear of it; the others ask why not.
"""

from pathlib import Path

import tidings

SCHEMA, _ = tidings.read_schema(Path(__file__).parents[1] / "schema.json")
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
    event = tidings.validate(MINI, SCHEMA)
    for owner, text in FILTERS.items():
        filter = tidings.Filter.parse(text, SCHEMA)
        explanation = tidings.explain(filter, event, SCHEMA)
        print(f"{owner}: {'told' if explanation.matches else 'not told'}   {filter}")
        for alternative in explanation.alternatives:
            for finding in alternative.findings:
                print(f"    {'✓' if finding.holds else '✗'} {finding.predicate}   {finding.seen}")
            if alternative.note:
                print(f"    ✗ {alternative.note}")
        for warning in filter.warnings:
            print(f"    ! {warning}")


if __name__ == "__main__":
    main()
