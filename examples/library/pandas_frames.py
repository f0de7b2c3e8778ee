"""pandas in, pandas out: a schema inferred from a frame, matches joined with the rows they belong to."""

import pandas as pd

import tidings

flights = pd.DataFrame(
    {
        "id": ["B6 1", "UA 7", "AA 3", "DL 9"],
        "carrier": pd.Categorical(["B6", "UA", "AA", "DL"]),
        "late": [35, None, 190, 12.5],
        "departs": pd.to_datetime(["2026-05-01 08:00", "2026-05-01 09:30", "2026-05-01 22:15", None]).tz_localize(
            "America/New_York"
        ),
        "stops": [["BOS"], [], ["ORD", "SFO"], None],
    }
)
wishes = {
    "late": "late > 30",
    "on time, or unknown": "not (late exists) or late <= 15",
    "united": "carrier = UA",
    "by night": "departs >= '2026-05-02T02:00:00Z'",
    "over Chicago": "stops contains 'ORD'",
}

schema = tidings.Schema.infer(flights, event_type="flight")
print(schema)

matcher = tidings.Matcher(schema)
matcher.add_many(wishes)
found = matcher.match(flights)
print(found.to_pandas())
print(flights.iloc[found.rows].assign(wish=found.to_pandas().subscription.tolist())[["id", "late", "wish"]])
assert found.by_event() == {
    "B6 1": ["late"],
    "UA 7": ["on time, or unknown", "united"],
    "AA 3": ["late", "by night", "over Chicago"],
    "DL 9": ["on time, or unknown"],
}

# In one line, where a schema is of no further use; a row of a frame is an event, too.
assert len(tidings.match(flights, wishes)) == len(found)
assert matcher.match_one(flights.iloc[0]) == ["late"]
