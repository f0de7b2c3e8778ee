"""Several values, categories and words: what filters can say beyond one number and one text."""

import tidings

schema = tidings.Schema.from_dict(
    {
        "domains": [
            {"name": "money", "kind": "numeric"},
            {"name": "text", "kind": "string"},
            {"name": "category", "kind": "hierarchical",
             "tree": {"furniture": {"table": {"dining table": {}, "desk": {}}, "chair": {}}, "vehicle": {"car": {}}}},
        ],
        "attributes": [
            {"name": "bids", "domain": "money"},
            {"name": "category", "domain": "category"},
            {"name": "paint", "domain": "text"},
            {"name": "title", "domain": "text"},
        ],
        "event_types": [
            {"name": "auction", "attributes": [
                {"name": "title"}, {"name": "category", "unique": False},
                {"name": "bids", "mandatory": False, "unique": False},
                {"name": "paint", "mandatory": False, "unique": False}]},
        ],
    }
)  # fmt: skip
matcher = tidings.Matcher(schema)
matcher.add_many(
    {
        "any furniture": "category under furniture",
        "a table, but no desk": "category under table and not (category contains desk)",
        "two-tone": "paint contains 'red' and paint contains 'white'",
        "a bid between": "bids between 10 and 20",
        "no bid yet": "not (bids exists)",
        "the word oak": "title contains 'oak'",
    }
)
lots = [
    {"id": "desk", "title": "Oak desk", "category": "desk", "bids": [5, 25]},
    {"id": "suite", "title": "Dining suite", "category": ["dining table", "chair"], "paint": {"white", "red"}},
    {"id": "car", "title": "Car", "category": "car", "paint": "red", "bids": (5, 15)},
]
for event, subscriptions in matcher.match(lots).by_event().items():
    print(f"{event}: {', '.join(subscriptions)}")
assert matcher.match(lots).by_event() == {
    "desk": ["any furniture", "the word oak"],  # no single bid lies between 10 and 20
    "suite": ["any furniture", "a table, but no desk", "two-tone", "no bid yet"],
    "car": ["a bid between"],
}
