"""A price alert in one process: no server, no files, no Spark.

Three people leave filters standing; then a week of made-up prices comes by. Each wandering price is an event, and the
matcher says whom it concerns.
"""

import random
from typing import Any

import tidings
from tidings.schema import json_form

SCHEMA = json_form.read(
    {
        "domains": [
            {"name": "money", "kind": "numeric"},
            {"name": "metal", "kind": "enumerated", "values": ["gold", "silver", "copper"]},
        ],
        "attributes": [
            {"name": "metal", "domain": "metal"},
            {"name": "price", "domain": "money"},
            {"name": "yesterday", "domain": "money"},
        ],
        "event_types": [{"name": "quote", "attributes": [{"name": n} for n in ("metal", "price", "yesterday")]}],
    }
)
ALERTS = {
    "ann": "metal = gold and price < 2015",
    "bob": "metal in (silver, copper) and price > yesterday",
    "cleo": "price between 23 and 24 or price > 2050",
}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def quotes(seed: int) -> list[dict[str, Any]]:
    """Prices that wander by a few percent a day."""
    chance, price, made = random.Random(seed), {"gold": 2000.0, "silver": 24.0, "copper": 3.8}, []
    for day in DAYS:
        for metal, yesterday in price.items():
            price[metal] = round(yesterday * chance.uniform(0.97, 1.03), 2)
            attributes = {"metal": metal, "price": price[metal], "yesterday": yesterday}
            made.append({"id": f"{day} {metal}", "event_type": "quote", "attributes": attributes})
    return made


def main() -> None:
    matcher = tidings.make_matcher("default", SCHEMA)
    for owner, text in ALERTS.items():
        matcher.add(tidings.Subscription(owner, tidings.Filter.parse(text, SCHEMA)))
        print(f"{owner:5} wants {text}")
    print()
    week = tidings.EventBatch.of([tidings.validate(quote, SCHEMA) for quote in quotes(seed=8)], SCHEMA)
    matches = matcher.match(week)
    for place, quote in enumerate(week):
        told = sorted(matcher.id(number) for number in matches.of(place))
        if told:
            print(f"{quote.id:16} {quote.bindings()['price'][0]:8.2f}   tell {', '.join(told)}")
    print(f"\n{len(matches)} alerts from {len(week)} quotes")


if __name__ == "__main__":
    main()
