"""A price alert in one process: no server, no files, no Spark.

Three people leave filters standing; then a week of made-up prices comes by. Each wandering price is an event, and the
matcher says whom it concerns.
"""

import random
from typing import Any

import tidings

SCHEMA = tidings.Schema.from_dict(
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
            made.append({"id": f"{day} {metal}", "metal": metal, "price": price[metal], "yesterday": yesterday})
    return made


def main() -> None:
    matcher = tidings.Matcher(SCHEMA)
    for owner, text in ALERTS.items():
        matcher.add(owner, text)
        print(f"{owner:5} wants {text}")
    print()
    week = quotes(seed=8)
    matches = matcher.match(week)
    told = matches.by_event()
    for quote in week:
        if quote["id"] in told:
            print(f"{quote['id']:16} {quote['price']:8.2f}   tell {', '.join(told[quote['id']])}")
    print(f"\n{len(matches)} alerts from {len(week)} quotes")


if __name__ == "__main__":
    main()
