"""First steps: a schema, two filters, a few events, and who hears of them."""

from pathlib import Path

import tidings

schema = tidings.Schema.read(Path(__file__).parents[1] / "schema.json")
print(schema)

matcher = tidings.Matcher(schema)
matcher.add("cheap", "price < 1000 and category under vehicle")
matcher.add("old mini", "brand = mini and year < 1980")
print(matcher.subscriptions)

offers = [
    {"id": "mini", "event_type": ["auction", "car"], "title": "Mini", "price": 900, "category": "convertible",
     "ends": "2026-05-03T12:00:00Z", "brand": "mini", "year": 1971},
    {"id": "bike", "event_type": "auction", "title": "Racing bicycle", "price": 120, "category": "bicycle",
     "ends": "2026-05-04T12:00:00Z"},
    {"id": "desk", "event_type": "auction", "title": "Oak desk", "price": 150, "category": "desk",
     "ends": "2026-05-05T12:00:00Z"},
]  # fmt: skip
for match in matcher.match(offers):
    print(f"{match.event} is for {match.subscription}")

found = matcher.match(offers)
assert found.by_event() == {"mini": ["cheap", "old mini"], "bike": ["cheap"]}

matcher.remove("cheap")
assert matcher.match_one(offers[0]) == ["old mini"]
matcher.add("old mini", "brand = mini and year < 1970", replace=True)
assert matcher.match_one(offers[0]) == []
